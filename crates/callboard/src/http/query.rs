//! The part of a URL behind its `?`: pairs of names and values.

use callboard_core::model::BadRequest;

use crate::percent;

/// The pairs in their order, decoded.
pub(super) fn pairs(query: &str) -> Result<Vec<(String, String)>, BadRequest> {
    let decoded = |text: &str| percent::decoded(&text.replace('+', " "));
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            decoded(name).zip(decoded(value)).ok_or_else(|| {
                BadRequest::invalid("query", format!("{pair:?} in the URL is badly written; write letters as %XX"))
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_decoded() {
        let read = pairs("a=1&b=x+y%2B&&c&d==").unwrap();
        let expected = [("a", "1"), ("b", "x y+"), ("c", ""), ("d", "=")];
        assert_eq!(read, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(pairs("a=%x").unwrap_err().param.as_deref(), Some("query"));
    }
}
