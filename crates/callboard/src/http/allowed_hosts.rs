//! Which hosts and web pages a request may name while no API key is required.
//!
//! Browsers let every page send requests to this machine, and a page can give its own DNS name a loopback address. So the request must
//! name this machine, come from no foreign page, and have a body of a type that browsers do not send across origins without asking first.

use std::net::IpAddr;
use std::sync::Arc;

use callboard_core::wire::ApiError;
use http::header::{CONTENT_TYPE, HOST, ORIGIN};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};

use super::passthrough_paths::is_passed_through;

/// Files come in forms. A page of another host is refused by its `Origin`, which browsers send with every post.
const FORM: &str = "multipart/form-data";
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The names from the setting `hosts`; loopback addresses and `localhost` are always allowed.
#[derive(Clone)]
pub(super) struct AllowedHosts {
    names: Arc<[String]>,
    /// The paths that take forms, beside those that always do.
    form_paths: Arc<[String]>,
}

impl AllowedHosts {
    pub(super) fn new(names: &[String], form_paths: &[String]) -> Self {
        Self { names: names.into(), form_paths: form_paths.into() }
    }

    /// Refuses a request that a web page may have sent against its user's will. Pages from `cors_origins` are allowed.
    pub(super) fn check<B>(&self, request: &Request<B>, is_allowed_page: bool) -> Result<(), ApiError> {
        self.check_host(request.uri(), request.headers())?;
        if !is_allowed_page {
            self.check_page(request.headers())?;
        }
        let takes_forms = || is_passed_through(request.uri().path(), &self.form_paths);
        check_type(request.method(), request.headers(), takes_forms)
    }

    fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
        let written = headers.get_all(HOST).iter().map(text_of).chain(uri.authority().map(|host| host.as_str()));
        let mut foreign = written.filter(|host| !self.allows(host));
        foreign.next().map_or(Ok(()), |host| Err(ApiError::host_not_allowed(host)))
    }

    fn check_page(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let pages = || headers.get_all(ORIGIN).iter().map(|origin| host_of_origin(text_of(origin)));
        if !pages().all(|host| host.is_some_and(|host| self.allows(host))) {
            return Err(ApiError::foreign_page());
        }
        let is_cross_site = headers.get_all(FETCH_SITE).iter().any(|site| site == "cross-site");
        let is_configured = pages().flatten().any(|host| self.names(name_of(host)));
        if is_cross_site && !is_configured { Err(ApiError::foreign_page()) } else { Ok(()) }
    }

    /// Whether a page may open a WebSocket, which browsers let it read without asking: only one of this very address, or of a name
    /// from the setting.
    pub(super) fn check_socket(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
        let page = host_of_origin(text_of(origin)).unwrap_or_default();
        let is_own = headers.get(HOST).is_some_and(|host| page.eq_ignore_ascii_case(text_of(host)));
        if is_own || self.names(name_of(page)) { Ok(()) } else { Err(ApiError::foreign_page()) }
    }

    /// Whether `HOST` or `HOST:PORT` is this machine.
    fn allows(&self, host: &str) -> bool {
        let name = name_of(host);
        let address = name.parse::<IpAddr>().ok();
        let is_loopback = address.is_some_and(|address| address.to_canonical().is_loopback());
        is_loopback || name.eq_ignore_ascii_case("localhost") || self.names(name)
    }

    fn names(&self, name: &str) -> bool {
        self.names.iter().any(|allowed| allowed.eq_ignore_ascii_case(name))
    }
}

/// Browsers post forms and plain text across origins without asking, but not JSON. They send `Origin` with all of these, so other
/// clients may leave the type out.
fn check_type(method: &Method, headers: &HeaderMap, takes_forms: impl Fn() -> bool) -> Result<(), ApiError> {
    let may_have_body = matches!(*method, Method::POST | Method::PUT | Method::PATCH);
    let mut types = headers.get_all(CONTENT_TYPE).iter().map(text_of).peekable();
    let is_page = headers.contains_key(ORIGIN) || headers.contains_key(FETCH_SITE);
    if !may_have_body || types.peek().is_none() && !is_page {
        return Ok(());
    }
    let wrong = match types.peek() {
        None => Some(""),
        Some(_) => types.find(|kind| !(is_type(kind, "application/json") || is_type(kind, FORM) && takes_forms())),
    };
    wrong.map_or(Ok(()), |kind| Err(ApiError::body_not_json(kind)))
}

fn is_type(kind: &str, expected: &str) -> bool {
    let essence = kind.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case(expected)
}

/// A header that is not readable names nothing that is allowed.
fn text_of(value: &HeaderValue) -> &str {
    value.to_str().unwrap_or("?")
}

fn host_of_origin(origin: &str) -> Option<&str> {
    origin.split_once("://").map(|(_, host)| host)
}

/// The name or address in `HOST:PORT`, without the brackets of IPv6 and the dot at the end of a full name.
fn name_of(host: &str) -> &str {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, rest)) if rest.is_empty() || rest.starts_with(':') => address,
        _ => match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
            _ => host,
        },
    };
    name.strip_suffix('.').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(method: &str, headers: &[(&str, &str)]) -> Option<u16> {
        refused_at("/v1/traces", method, headers)
    }

    fn refused_at(path: &str, method: &str, headers: &[(&str, &str)]) -> Option<u16> {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(()).unwrap();
        allowed_hosts().check(&request, false).err().map(|error| error.status)
    }

    fn allowed_hosts() -> AllowedHosts {
        AllowedHosts::new(&["callboard.example".to_owned()], &["/v1/ocr".to_owned()])
    }

    #[test]
    fn only_hosts_of_this_machine_are_allowed() {
        for (host, expected) in [
            ("127.0.0.1:8787", None),
            ("127.9.9.9", None),
            ("localhost:8787", None),
            ("LocalHost.", None),
            ("[::1]:8787", None),
            ("[::ffff:127.0.0.1]:80", None),
            ("Callboard.Example:443", None),
            ("rebound.example:8787", Some(421)),
            ("127.0.0.1.example", Some(421)),
            ("127.0.0.1:80.example", Some(421)),
            ("localhost.example", Some(421)),
            ("0.0.0.0:8787", Some(421)),
            ("192.168.0.7", Some(421)),
            ("[::1].example", Some(421)),
            ("user@127.0.0.1", Some(421)),
            ("", Some(421)),
        ] {
            assert_eq!(refused("GET", &[("host", host)]), expected, "{host}");
        }
        assert_eq!(refused("GET", &[("host", "localhost"), ("host", "rebound.example")]), Some(421));
        assert_eq!(refused("GET", &[]), None, "HTTP/1.0");
    }

    #[test]
    fn pages_of_other_hosts_are_refused() {
        for (headers, expected) in [
            (&[("origin", "http://127.0.0.1:3000")][..], None),
            (&[("origin", "http://localhost")], None),
            (&[("origin", "https://callboard.example"), ("sec-fetch-site", "cross-site")], None),
            (&[("sec-fetch-site", "same-origin")], None),
            (&[("sec-fetch-site", "none")], None),
            (&[("origin", "https://page.example")], Some(403)),
            (&[("origin", "http://127.0.0.1:8787.page.example")], Some(403)),
            (&[("origin", "null")], Some(403)),
            (&[("origin", "")], Some(403)),
            (&[("sec-fetch-site", "cross-site")], Some(403)),
            (&[("origin", "http://localhost"), ("sec-fetch-site", "cross-site")], Some(403)),
            (&[("origin", "http://localhost"), ("origin", "https://page.example")], Some(403)),
        ] {
            assert_eq!(refused("GET", headers), expected, "{headers:?}");
        }
    }

    #[test]
    fn only_json_is_posted() {
        for (method, headers, expected) in [
            ("POST", &[("content-type", "application/json")][..], None),
            ("POST", &[("content-type", "Application/JSON; charset=utf-8")], None),
            ("POST", &[], None),
            ("GET", &[("content-type", "text/plain")], None),
            ("POST", &[("content-type", "text/plain")], Some(415)),
            ("POST", &[("content-type", "application/x-www-form-urlencoded")], Some(415)),
            ("POST", &[("content-type", "multipart/form-data; boundary=application/json")], Some(415)),
            ("POST", &[("content-type", "application/json"), ("content-type", "text/plain")], Some(415)),
            ("POST", &[("origin", "http://localhost")], Some(415)),
            ("POST", &[("sec-fetch-site", "same-site")], Some(415)),
        ] {
            assert_eq!(refused(method, headers), expected, "{method} {headers:?}");
        }
    }

    #[test]
    fn forms_are_posted_where_they_are_passed_through() {
        let form = ("content-type", "multipart/form-data; boundary=x");
        for (path, headers, expected) in [
            ("/v1/audio/transcriptions", &[form][..], None),
            ("/v1/ocr", &[form], None),
            ("/v1/audio/transcriptions", &[form, ("origin", "https://page.example")], Some(403)),
            ("/v1/audio/transcriptions", &[("content-type", "text/plain")], Some(415)),
            ("/v1/chat/completions", &[form], Some(415)),
            ("/v1/audio/../conversations", &[form], Some(415)),
        ] {
            assert_eq!(refused_at(path, "POST", headers), expected, "{path} {headers:?}");
        }
    }

    #[test]
    fn a_page_opens_sockets_to_its_own_address_only() {
        for (origin, expected) in [
            (None, None),
            (Some("http://127.0.0.1:8787"), None),
            (Some("https://callboard.example"), None),
            (Some("http://127.0.0.1"), Some(403)),
            (Some("http://127.0.0.1:8787.example.com"), Some(403)),
            (Some("https://example.com"), Some(403)),
            (Some("null"), Some(403)),
        ] {
            let origin = origin.map(|origin| (ORIGIN, origin.parse().unwrap()));
            let headers: HeaderMap = origin.into_iter().chain([(HOST, "127.0.0.1:8787".parse().unwrap())]).collect();
            let allowed = allowed_hosts().check_socket(&headers);
            assert_eq!(allowed.err().map(|error| error.status), expected, "{headers:?}");
        }
    }
}
