//! The known name that is nearest to an unknown one, for "did you mean …?".

use strsim::damerau_levenshtein;

/// The known name that was most likely meant.
pub(crate) fn nearest<'known>(unknown: &str, known: impl Iterator<Item = &'known str>) -> Option<&'known str> {
    known
        .filter_map(|name| closeness(unknown, name).map(|distance| (distance, name)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// The distance of two names that may be the same: at most one letter in three differs, or the front is missing.
fn closeness(unknown: &str, name: &str) -> Option<usize> {
    let (unknown, name) = (unknown.to_lowercase().replace('-', "_"), name.to_lowercase());
    if name.ends_with(&format!("_{unknown}")) {
        return Some(0);
    }
    let distance = damerau_levenshtein(&unknown, &name);
    let tolerated = unknown.chars().count().max(name.chars().count()) / 3;
    (distance <= tolerated).then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likely_names_are_found() {
        let known = ["listen", "threads", "api_keys", "log", "LIMITS_BODY_BYTES", "UPSTREAM"];
        for (unknown, expected) in [
            ("lisen", Some("listen")),
            ("Listen", Some("listen")),
            ("thread", Some("threads")),
            ("api-key", Some("api_keys")),
            ("lgo", Some("log")),
            ("BODY_BYTES", Some("LIMITS_BODY_BYTES")),
            ("UPSTREAM_URL", Some("UPSTREAM")),
            ("colour", None),
            ("", None),
            ("é", None),
        ] {
            assert_eq!(nearest(unknown, known.into_iter()), expected, "{unknown}");
        }
    }
}
