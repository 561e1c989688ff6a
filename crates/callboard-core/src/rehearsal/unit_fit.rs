//! Units of measure and the parameters they belong to: minutes to a duration, dollars to an amount.

use std::sync::LazyLock;

use super::catalogue::Field;
use super::stem::stem;

const UNITS: &[(&str, &str)] = &[
    (
        "second minute hour sec min day night week month year",
        "duration time length minute hour second day night week month year long delay age stay",
    ),
    (
        "dollar euro pound buck usd eur gbp cent yen",
        "amount price money budget cost fee salary balance payment total value deposit sum principal loan",
    ),
    ("percent", "percent percentage level brightness volume rate discount tip intensity interest"),
    ("degree", "temperature degree angle target heat"),
    (
        "inch foot feet meter metre km kilometer kilometre mile centimeter cm mm yard",
        "distance length width height radius range depth size side base diameter",
    ),
    ("kg gram kilogram lb ounce ton liter litre ml cup", "weight mass quantity amount volume"),
    (
        "person guest passenger adult ticket child seat",
        "people party guest passenger size adult ticket person seat count attendee",
    ),
    ("calorie kcal step rep set lap", "calorie step rep set lap count repetition"),
];

static STEMMED: LazyLock<Vec<(Vec<String>, Vec<String>)>> = LazyLock::new(|| {
    let stems = |words: &str| words.split(' ').map(stem).collect();
    UNITS.iter().map(|(units, fields)| (stems(units), stems(fields))).collect()
});

/// Whether the stem is a unit of measure.
pub(super) fn is_unit(stem: &str) -> bool {
    STEMMED.iter().take(6).any(|(units, _)| units.iter().any(|own| own == stem))
}

/// Whether a unit fits a parameter; `None` if it is not a unit.
pub(super) fn unit_fits(unit: &str, field: &Field) -> Option<bool> {
    let mut rows = STEMMED.iter().filter(|(units, _)| units.iter().any(|own| own == unit)).peekable();
    rows.peek()?;
    Some(rows.any(|(units, fields)| {
        field.title.iter().any(|own| fields.contains(own) || units.contains(own))
            || field.summary.iter().any(|own| units.contains(own) && own == unit)
    }))
}
