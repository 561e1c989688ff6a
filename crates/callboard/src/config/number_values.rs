//! Numbers in settings: counts, sizes in bytes, times.

use std::time::Duration;

use toml::Value;

use super::raw::Raw;
use super::reading::{Reading, quoted};

/// The longest time that can be set: a day.
pub(super) const MOST_SECONDS: f64 = 86_400.0;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;
const GIB: usize = 1024 * MIB;
const TIB: usize = 1024 * GIB;
const UNITS: [(usize, &str); 4] = [(TIB, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")];

pub(super) fn count(raw: &Raw, least: usize, most: usize) -> Option<Reading<usize>> {
    let value = number(raw).filter(|value| (least..=most).contains(value))?;
    Some((value, value.to_string()))
}

/// A number of bytes, or a size with its unit.
pub(super) fn bytes(raw: &Raw) -> Option<Reading<usize>> {
    let value = match raw.text() {
        Some(text) => size(text)?,
        None => number(raw)?,
    };
    let written = match UNITS.iter().find(|(factor, _)| value.is_multiple_of(*factor)) {
        Some((factor, unit)) => quoted(&format!("{} {unit}", value / factor)),
        None => value.to_string(),
    };
    (1..=TIB).contains(&value).then_some((value, written))
}

fn number(raw: &Raw) -> Option<usize> {
    match raw {
        Raw::Plain(text) => text.parse().ok(),
        Raw::Toml(value) => usize::try_from(value.as_integer()?).ok(),
    }
}

fn size(text: &str) -> Option<usize> {
    let unit_at = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at_checked(unit_at)?;
    let unit = unit.trim_start();
    let factor = match UNITS.iter().find(|(_, name)| name.eq_ignore_ascii_case(unit)) {
        Some((factor, _)) => *factor,
        None if unit.is_empty() || unit.eq_ignore_ascii_case("b") => 1,
        None => return None,
    };
    digits.parse::<usize>().ok()?.checked_mul(factor)
}

pub(super) fn seconds(raw: &Raw, least: f64) -> Option<Reading<Duration>> {
    let number: f64 = match raw {
        Raw::Plain(text) => text.parse().ok()?,
        Raw::Toml(Value::Integer(number)) => i32::try_from(*number).ok()?.into(),
        Raw::Toml(value) => value.as_float()?,
    };
    let allowed = (least..=MOST_SECONDS).contains(&number);
    let value = Duration::try_from_secs_f64(number).ok().filter(|_| allowed)?;
    Some((value, number.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::reading::test_values::{plain, text, toml};

    #[test]
    fn numbers() {
        for (raw, expected) in [
            (plain("5"), Some(5)),
            (toml(1), Some(1)),
            (toml(0), None),
            (toml(-1), None),
            (plain("6"), None),
            (plain(" 5"), None),
            (plain(""), None),
            (text("5"), None),
            (toml(2.0), None),
        ] {
            assert_eq!(count(&raw, 1, 5).map(|(value, _)| value), expected);
        }
    }

    #[test]
    fn sizes() {
        for (raw, expected) in [
            (plain("8 MiB"), Some((8_388_608, "\"8 MiB\""))),
            (text("8mib"), Some((8_388_608, "\"8 MiB\""))),
            (toml(262_144), Some((262_144, "\"256 KiB\""))),
            (plain("1000"), Some((1000, "1000"))),
            (text("7 B"), Some((7, "7"))),
            (text("1 GiB"), Some((1_073_741_824, "\"1 GiB\""))),
            (text("2 TiB"), None),
            (text("0"), None),
            (text("8 MB"), None),
            (text("MiB"), None),
            (text("-1 MiB"), None),
            (text("1.5 MiB"), None),
            (text("99999999999999999999 GiB"), None),
            (text("18446744073709551615 GiB"), None),
            (toml(true), None),
        ] {
            let reading = bytes(&raw);
            assert_eq!(reading, expected.map(|(value, written)| (value, written.to_owned())));
        }
    }

    #[test]
    fn times() {
        for (raw, expected) in [
            (plain("0.25"), Some((250, "0.25"))),
            (toml(1.5), Some((1500, "1.5"))),
            (toml(600), Some((600_000, "600"))),
            (toml(0), None),
            (toml(-1), None),
            (toml(i64::MAX), None),
            (plain("86401"), None),
            (plain("NaN"), None),
            (plain("inf"), None),
            (plain("5s"), None),
            (text("5"), None),
        ] {
            let reading = seconds(&raw, 0.001).map(|(value, written)| (value.as_millis(), written));
            assert_eq!(reading, expected.map(|(value, written)| (value, written.to_owned())));
        }
    }
}
