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

/// The pairs of a list whose parameters are Callboard's own: any other name is a slip that would go unnoticed.
pub(super) fn known_pairs(query: &str, known: &[&str]) -> Result<Vec<(String, String)>, BadRequest> {
    let pairs = pairs(query)?;
    match pairs.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        None => Ok(pairs),
        Some((name, _)) => {
            let message = format!("there is no parameter {name:?} in this URL; there are: {}", known.join(", "));
            Err(BadRequest::at(name, "unknown_parameter", message))
        }
    }
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
