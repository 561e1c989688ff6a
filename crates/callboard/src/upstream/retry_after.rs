//! Reads `retry-after`: seconds, milliseconds, or a date.

use std::time::SystemTime;

use http::HeaderMap;
use http::header::RETRY_AFTER;

const MILLISECONDS: &str = "retry-after-ms";

/// Whole seconds from now, rounded up; none where the header is missing or unreadable.
pub(super) fn read(headers: &HeaderMap, now: SystemTime) -> Option<u64> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let milliseconds = text(MILLISECONDS).and_then(|text| text.parse::<u64>().ok());
    milliseconds.map(|milliseconds| milliseconds.div_ceil(1000)).or_else(|| {
        let text = text(RETRY_AFTER.as_str())?;
        seconds(text).or_else(|| until(text, now))
    })
}

/// `2`, or `1.5` as some write.
fn seconds(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let whole: u64 = whole.parse().ok()?;
    let fraction: u64 = fraction.parse().ok()?;
    Some(whole.saturating_add(u64::from(fraction > 0)))
}

fn until(date: &str, now: SystemTime) -> Option<u64> {
    let then = httpdate::parse_http_date(date).ok()?;
    let wait = then.duration_since(now).unwrap_or_default();
    Some(wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn times_are_read_in_every_notation() {
        // 784111777 is Sun, 06 Nov 1994 08:49:37 GMT.
        let now = UNIX_EPOCH + Duration::from_millis(784_111_770_500);
        for (name, value, expected) in [
            ("retry-after", "2", Some(2)),
            ("retry-after", " 0 ", Some(0)),
            ("retry-after", "1.5", Some(2)),
            ("retry-after", "3.0", Some(3)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", Some(7)),
            ("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("retry-after", "-1", None),
            ("retry-after", "soon", None),
            ("retry-after", "99999999999999999999", None),
            ("retry-after-ms", "1200", Some(2)),
        ] {
            let headers = HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())]);
            assert_eq!(read(&headers, now), expected, "{name}: {value}");
        }
    }
}
