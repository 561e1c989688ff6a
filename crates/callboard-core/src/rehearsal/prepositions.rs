//! Which prepositions introduce which parameters: "to" a destination, "from" an origin, "by" an author.

use super::catalogue::Field;
use super::stem::stem;
use std::sync::LazyLock;

const CUES: &[(&str, &str)] = &[
    (
        "to into onto toward towards",
        "destination recipient receiver target new to arrival contact goal end translate add friend output",
    ),
    ("from", "source origin old from sender departure start previous input pickup"),
    (
        "in at near around inside",
        "location city place venue room where address country region town area restaurant state",
    ),
    ("on against", "target device on platform victim enemy"),
    ("with", "attendee participant guest person with instrument controlling holding friend invitee people"),
    ("via", "method with instrument means mode"),
    ("by", "author artist composer singer by band maker mode method"),
    ("for", "purpose recipient for query product item location city keyword term person reservation symbol"),
    ("about regarding", "topic subject query about question"),
    ("called named titled labeled labelled as", "name title label event playlist list"),
    ("because", "reason cause why"),
    ("versus vs", "opponent rival"),
];

static STEMMED: LazyLock<Vec<(Vec<&'static str>, Vec<String>)>> = LazyLock::new(|| {
    CUES.iter()
        .map(|(prepositions, words)| (prepositions.split(' ').collect(), words.split(' ').map(stem).collect()))
        .collect()
});

/// How well a preposition fits a parameter: 2 by its name, less by its description, negative if it fits another role.
pub(super) fn leads_to(preposition: &str, field: &Field) -> f32 {
    if field.title.iter().any(|own| own == preposition) {
        return 2.2;
    }
    let Some((_, words)) = STEMMED.iter().find(|(prepositions, _)| prepositions.contains(&preposition)) else {
        return 0.0;
    };
    if field.title.iter().any(|own| words.contains(own)) {
        return 2.0;
    }
    let described = field.summary.iter().filter(|own| words.contains(own)).count();
    if described > 0 { 0.6 } else { 0.0 }
}
