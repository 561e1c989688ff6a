//! A name for each request, on its reply and on every log line about it.

use crate::{clock, random};
use http::{HeaderMap, HeaderName, HeaderValue};

pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

const LONGEST: usize = 128;

/// The client's own name for the request if it is a harmless one, else a new one. Traces are found by it, so it begins with the time.
pub(super) fn of(headers: &HeaderMap) -> String {
    let given = headers.get(&REQUEST_ID).and_then(|value| value.to_str().ok());
    let harmless = |id: &&str| {
        !id.is_empty() && id.len() <= LONGEST && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(&b))
    };
    given
        .filter(harmless)
        .map_or_else(|| format!("req_{}", random::letters_by_time::<11>(clock::milliseconds())), str::to_owned)
}

/// The name as a header.
pub(super) fn header(id: &str) -> HeaderValue {
    HeaderValue::from_str(id).unwrap_or(HeaderValue::from_static("unknown"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_harmless_name_is_kept() {
        let named = |value: &[u8]| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_bytes(value).unwrap());
            of(&headers)
        };
        assert_eq!(named(b"abc-1.2:3_x"), "abc-1.2:3_x");
        assert!(named(b"a b").starts_with("req_") && named("é".as_bytes()).starts_with("req_"));
        assert_ne!(of(&HeaderMap::new()), of(&HeaderMap::new()));
    }
}
