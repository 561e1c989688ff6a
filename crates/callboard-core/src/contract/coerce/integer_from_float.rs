//! Integers written as floats: `5.0`, `5e0`, `1.50e2`.
//!
//! Works on the written digits, so that no number is too long to be exact.

/// More zeros than this are not written out.
const MOST_ZEROS: usize = 400;

/// A number's digits without the zeros at either end, and how many places the point is to their right.
struct Scaled {
    negative: bool,
    digits: String,
    places: i64,
}

impl Scaled {
    /// `None` where the exponent is beyond counting.
    fn of(number: &str) -> Option<Self> {
        let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        let unsigned = mantissa.trim_start_matches('-');
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let written = format!("{whole}{fraction}");
        let digits = written.trim_end_matches('0');
        let shift = i64::try_from(written.len() - digits.len()).ok()?;
        let behind_point = i64::try_from(fraction.len()).ok()?;
        let exponent = exponent.parse::<i32>().ok()?;
        Some(Self {
            negative: mantissa.starts_with('-'),
            digits: digits.trim_start_matches('0').to_owned(),
            places: i64::from(exponent) - behind_point + shift,
        })
    }

    fn is_integer(&self) -> bool {
        self.digits.is_empty() || self.places >= 0
    }
}

/// Whether a JSON number is an integer, or may be one.
pub(super) fn may_be_integer(number: &str) -> bool {
    is_plain(number) || Scaled::of(number).is_none_or(|scaled| scaled.is_integer())
}

/// The plain spelling of an integer that is written as a float.
pub(super) fn plain_integer(number: &str) -> Option<String> {
    if is_plain(number) {
        return None;
    }
    let scaled = Scaled::of(number).filter(Scaled::is_integer)?;
    if scaled.digits.is_empty() {
        return Some("0".to_owned());
    }
    let zeros = usize::try_from(scaled.places).ok().filter(|zeros| *zeros <= MOST_ZEROS)?;
    let sign = if scaled.negative { "-" } else { "" };
    Some(format!("{sign}{}{}", scaled.digits, "0".repeat(zeros)))
}

fn is_plain(number: &str) -> bool {
    !number.contains(['.', 'e', 'E'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_integers_lose_their_float_spelling() {
        for (written, plain) in [
            ("5.0", Some("5")),
            ("-5.00", Some("-5")),
            ("5e0", Some("5")),
            ("1.50e+2", Some("150")),
            ("0.5E1", Some("5")),
            ("1200e-2", Some("12")),
            ("-0.0", Some("0")),
            ("0e999999999999", None),
            ("123456789012345678901234567890.0", Some("123456789012345678901234567890")),
            ("1e401", None),
            ("5", None),
            ("5.5", None),
            ("12e-2", None),
        ] {
            assert_eq!(plain_integer(written).as_deref(), plain, "{written}");
        }
        assert_eq!(plain_integer("1e400").map(|plain| plain.len()), Some(401));
    }

    #[test]
    fn an_uncountable_exponent_counts_as_integer() {
        for (written, expected) in
            [("7", true), ("7.0", true), ("1e401", true), ("1e99999999999", true), ("7.5", false), ("1e-1", false)]
        {
            assert_eq!(may_be_integer(written), expected, "{written}");
        }
    }
}
