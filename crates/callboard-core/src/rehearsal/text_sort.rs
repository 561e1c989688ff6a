//! The sort of text a string parameter expects, from its name, description and format.
//!
//! The sort decides which spans can fill it: a place, a person, a moment, a remark, a whole message.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::stem::stem;

/// The sort of text a string parameter expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextSort {
    /// A short name of a thing; the default.
    Name,
    /// A remark on the call itself: a reason, a source, a situation.
    Remark,
    /// Text of any length, to be sent, stored or searched for.
    Message,
    Place,
    Person,
    Day,
    Clock,
    /// A day with a time.
    Moment,
    Email,
    Link,
    File,
    Formula,
    /// A fixed notation such as an ISO date, which needs a clock.
    Notation,
}

const BY_NAME: &[(TextSort, &str)] = &[
    (TextSort::Email, "email mail"),
    (TextSort::Link, "url link uri website"),
    (TextSort::File, "file filename path"),
    (TextSort::Formula, "expression formula equation"),
    (TextSort::Remark, "reason source cause detail context remark comment purpose why description occasion"),
    (TextSort::Moment, "datetime when moment deadline"),
    (TextSort::Day, "date day checkin checkout"),
    (TextSort::Clock, "time hour"),
    (
        TextSort::Message,
        "message text body content note task query question prompt todo term keyword sentence phrase reminder event fact",
    ),
    (
        TextSort::Place,
        "location city place destination origin address country region venue town area room airport station from to departure \
         arrival",
    ),
    (TextSort::Person, "recipient contact person attendee participant guest receiver sender who friend"),
];

static SORTS: LazyLock<HashMap<String, TextSort>> = LazyLock::new(|| {
    let named = |(sort, names): &(TextSort, &str)| names.split(' ').map(|name| (stem(name), *sort)).collect::<Vec<_>>();
    BY_NAME.iter().flat_map(named).collect()
});

impl TextSort {
    /// The sort of a parameter with these stems in its name and description.
    pub(super) fn of(title: &[String], summary: &[String], format: Option<&str>) -> Self {
        match format {
            Some("email") => return Self::Email,
            Some("uri" | "url") => return Self::Link,
            Some("date" | "time" | "date-time" | "duration" | "uuid" | "ipv4" | "ipv6") => return Self::Notation,
            _ => {}
        }
        let sort = title.iter().rev().find_map(|own| SORTS.get(own).copied()).unwrap_or(Self::Name);
        sort.refined(title, summary)
    }

    fn refined(self, title: &[String], summary: &[String]) -> Self {
        let says = |name: &str| summary.contains(&stem(name));
        let titled = |name: &str| title.contains(&stem(name));
        match self {
            Self::Clock if says("date") || says("day") => Self::Moment,
            Self::Email if titled("subject") || titled("body") => Self::Message,
            Self::File if titled("content") => Self::Message,
            Self::Message if titled("id") || titled("name") || titled("type") || titled("title") => Self::Name,
            _ => self,
        }
    }

    /// A day, a time of day, or both.
    pub(super) fn is_moment(self) -> bool {
        matches!(self, Self::Day | Self::Clock | Self::Moment)
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::stems_of;
    use super::*;

    #[test]
    fn names_and_descriptions_tell_the_sort() {
        for (name, description, expected) in [
            ("city", "", TextSort::Place),
            ("recipient", "", TextSort::Person),
            ("start_time", "Date and time", TextSort::Moment),
            ("time", "", TextSort::Clock),
            ("date", "", TextSort::Day),
            ("message", "", TextSort::Message),
            ("reason", "", TextSort::Remark),
            ("unit_name", "", TextSort::Name),
            ("file_path", "", TextSort::File),
            ("song", "", TextSort::Name),
        ] {
            assert_eq!(TextSort::of(&stems_of(name), &stems_of(description), None), expected, "{name}");
        }
    }
}
