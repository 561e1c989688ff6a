//! Which paths are passed through to model servers: what applications use beside chat, never what administers a server.

/// Always passed through; `*` is the rest of the path.
const PATHS: [&str; 7] =
    ["/v1/embeddings", "/v1/completions", "/v1/audio/*", "/v1/images/*", "/v1/moderations", "/v1/rerank", "/tokenize"];

/// Whether requests for a path are passed through. `more` are the paths of the setting.
pub(super) fn is_passed_through(path: &str, more: &[String]) -> bool {
    PATHS.iter().any(|pattern| fits(pattern, path)) || more.iter().any(|own| own == path)
}

fn fits(pattern: &str, path: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => path.strip_prefix(start).is_some_and(|rest| rest.split('/').all(is_plain)),
        None => path == pattern,
    }
}

/// True for a segment that no server reads as another one: not encoded, and none that leads up.
fn is_plain(segment: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !segment.is_empty() && segment.bytes().all(is_plain) && !segment.bytes().all(|byte| byte == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_listed_paths_are_passed_through() {
        let more = ["/v1/score".to_owned()];
        for (path, expected) in [
            ("/v1/embeddings", true),
            ("/v1/embeddings/", false),
            ("/v1/embeddings/x", false),
            ("/v1/audio/speech", true),
            ("/v1/audio/voices/a.wav", true),
            ("/v1/audio", false),
            ("/v1/audio/", false),
            ("/v1/audio//speech", false),
            ("/v1/audio/../load_lora_adapter", false),
            ("/v1/audio/%2e%2e/load_lora_adapter", false),
            ("/v1/audio/..%2fload_lora_adapter", false),
            ("/v1/audio/speech;x", false),
            ("/v1/score", true),
            ("/v1/scores", false),
            ("/tokenize", true),
            ("/v1/tokenize", false),
            ("/sleep", false),
            ("/api/pull", false),
            ("", false),
        ] {
            assert_eq!(is_passed_through(path, &more), expected, "{path}");
        }
    }
}
