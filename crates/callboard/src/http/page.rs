//! The page at `/`: its files, and the headers that keep it to itself. They hold no data, so they are served without a key.

use axum::Router;
use axum::body::Body;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::get;
use callboard_core::wire::ApiError;
use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, ETAG, IF_NONE_MATCH, REFERRER_POLICY,
    VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use super::page_files::PageFile;
use super::reply;
use super::router::Shared;

const FOLDER: &str = "/page/";
/// Scripts, styles and data come from here alone. Nothing inline, and no text becomes markup.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
);
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

pub(super) fn routes() -> Router<Shared> {
    Router::new().route("/", get(index)).route("/page/{*path}", get(file))
}

/// Whether a path is the page's own.
pub(super) fn is_page(path: &str) -> bool {
    path == "/" || path.starts_with(FOLDER)
}

async fn index(headers: HeaderMap) -> Response {
    serve("index.html", &headers)
}

async fn file(Path(path): Path<String>, headers: HeaderMap) -> Response {
    serve(&path, &headers)
}

fn serve(path: &str, headers: &HeaderMap) -> Response {
    match PageFile::find(path) {
        Some(file) => with_headers(file, headers),
        None => reply::error(&ApiError::new(404, "not_found", format!("the page has no file {path:?}"))),
    }
}

fn with_headers(file: &'static PageFile, asked: &HeaderMap) -> Response {
    let is_known = contains(asked, &IF_NONE_MATCH, file.etag());
    let compresses = contains(asked, &ACCEPT_ENCODING, "gzip");
    let body = match (is_known, compresses) {
        (true, _) => &[],
        (false, true) => file.compressed(),
        (false, false) => file.bytes,
    };
    let mut response = reply::with_type(Body::from(body), HeaderValue::from_static(file.media_type()));
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    if compresses && !is_known {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    headers.insert(ETAG, HeaderValue::from_static(file.etag()));
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    // Asked for each time, answered with 304: a new version of the program shows its new page at once.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(OPENER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

/// Whether a list in a header has this entry, perhaps with parameters behind it.
fn contains(headers: &HeaderMap, name: &HeaderName, wanted: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    let mut entries = values.flat_map(|value| value.split(','));
    entries.any(|entry| {
        let (entry, parameters) = entry.split_once(';').unwrap_or((entry, ""));
        entry.trim().trim_start_matches("W/") == wanted && parameters.trim() != "q=0"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_lists_are_found() {
        for (value, expected) in [
            ("gzip", true),
            ("deflate, gzip;q=0.8, br", true),
            ("W/gzip", true),
            ("gzip;q=0", false),
            ("gzipped", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, value.parse().unwrap())]);
            assert_eq!(contains(&headers, &ACCEPT_ENCODING, "gzip"), expected, "{value}");
        }
    }
}
