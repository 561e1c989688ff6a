//! Base URLs of model servers and collectors, in the one form that the rest of the program sees.
//!
//! Paths such as `/chat/completions` are appended, so there is no query or fragment; keys come from
//! `key_env`, so there is no user either.

use http::Uri;

use super::settings::PORT;

/// The URL without slashes at its end, and with `/v1` where it had no path; `None` when it is not a
/// base URL.
pub(super) fn with_path(text: &str) -> Option<String> {
    let url = plain(text)?;
    let has_path = url.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
    Some(if has_path { url } else { format!("{url}/v1") })
}

/// The same for a URL whose port may be written as [`PORT`], before it is known.
pub(super) fn at_port(text: &str) -> Option<String> {
    const ANY: &str = "65535";
    match text.split_once(PORT) {
        Some((before, after)) if before.ends_with(':') => {
            let url = with_path(&format!("{before}{ANY}{after}"))?;
            Some(url.replacen(ANY, PORT, 1))
        }
        Some(_) => None,
        None => with_path(text),
    }
}

/// The URL without slashes at its end; `None` when it is not a base URL.
pub(super) fn plain(text: &str) -> Option<String> {
    let uri: Uri = text.parse().ok().filter(|_| !text.contains(['#', '?']))?;
    let scheme = uri.scheme_str().filter(|scheme| ["http", "https"].contains(scheme))?;
    let authority = uri.authority()?;
    let server = match authority.port_u16() {
        Some(port) => format!("{}:{port}", authority.host()),
        None => authority.host().to_owned(),
    };
    // What is left over is a user, or a port that is no number.
    if authority.host().is_empty() || server != authority.as_str() {
        return None;
    }
    let path = uri.path().trim_end_matches('/');
    Some(format!("{scheme}://{authority}{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_brought_into_one_form() {
        for (text, expected) in [
            ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"),
            ("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1"),
            ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1"),
            ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/v1"),
            ("http://[::1]:8000", "http://[::1]:8000/v1"),
            ("http://[::1]", "http://[::1]/v1"),
            ("HTTPS://api.openai.com", "https://api.openai.com/v1"),
            ("https://example.org/openai//", "https://example.org/openai"),
            ("https://example.org/openai/v1", "https://example.org/openai/v1"),
        ] {
            assert_eq!(with_path(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_port_may_be_left_open() {
        for (text, expected) in [
            ("http://127.0.0.1:{port}", Some("http://127.0.0.1:{port}/v1")),
            ("http://127.0.0.1:{port}/api/", Some("http://127.0.0.1:{port}/api")),
            ("http://127.0.0.1:8000", Some("http://127.0.0.1:8000/v1")),
            ("http://127.0.0.1/{port}", None),
            ("http://127.0.0.1:{port}{port}", None),
        ] {
            assert_eq!(at_port(text).as_deref(), expected, "{text}");
        }
        assert_eq!(with_path("http://127.0.0.1:{port}"), None);
    }

    #[test]
    fn what_is_no_base_url_is_refused() {
        for text in [
            "",
            "/v1",
            "localhost:8000",
            "127.0.0.1:8000",
            "ftp://host/v1",
            "unix:///socket",
            "http://",
            "http:///v1",
            "http://:80",
            "http://host:",
            "http://host:65536",
            "http://host:x",
            "http://me:pw@host/v1",
            "http://me@host",
            "http://@host",
            "http://host/v1?key=1",
            "http://host/v1#part",
            "http://ho st/",
            "http://host/v1 ",
        ] {
            assert_eq!(with_path(text), None, "{text}");
        }
    }
}
