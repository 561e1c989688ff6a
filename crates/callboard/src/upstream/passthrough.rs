//! Requests that are passed through: neither they nor their replies are read.

use bytes::Bytes;
use http::header::{
    CONNECTION, CONTENT_LENGTH, DATE, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, SERVER, SET_COOKIE, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use http_body_util::Full;

use super::client::{head, refused};
use super::{Client, Failure, ReplyBody, Upstream};

/// Headers of one connection, and those that would speak for Callboard.
const OWN_HEADERS: [HeaderName; 11] = [
    CONNECTION,
    DATE,
    HeaderName::from_static("keep-alive"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    SERVER,
    SET_COOKIE,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];
/// The prefix of headers that allow web pages of other hosts to read a reply.
const CORS: &str = "access-control-";

/// A request as the client sent it.
#[derive(Debug, Clone)]
pub struct RawRequest {
    /// The path, with the query.
    pub path: String,
    /// The headers to pass on.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// The head of a reply as the server sent it, without the headers of the connection.
#[derive(Debug)]
pub struct RawHead {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
}

/// A reply as the server sent it.
pub enum RawReply {
    /// One whose status is a success.
    Success(RawHead, ReplyBody),
    /// One whose status is an error, and what that means.
    Refused(RawHead, Bytes, Failure),
}

impl Client {
    /// Passes a request on. Every status is a reply, except for a redirection.
    pub async fn pass_on(
        &self,
        upstream: &Upstream,
        authorization: Option<&HeaderValue>,
        request: &RawRequest,
    ) -> Result<RawReply, Failure> {
        let base = upstream.ready_url().await?;
        let mut built = head(Method::POST, url(&base, &request.path), upstream, authorization)
            .body(Full::new(request.body.clone()))
            .map_err(|error| Failure::unreachable(&error.to_string()))?;
        built.headers_mut().extend(request.headers.clone());
        let sent = self.send_any(built).await.map_err(|failure| failure.at(&upstream.url))?;
        let mut head = RawHead { status: sent.response.status(), headers: end_to_end(sent.response.headers()) };
        if head.status.is_success() {
            let body = ReplyBody::Network { incoming: sent.response.into_body(), may_be_stale: sent.was_reused };
            return Ok(RawReply::Success(head, body));
        }
        let (failure, body) = refused(sent.response).await;
        if head.status.is_redirection() {
            return Err(failure);
        }
        // It may have been cut.
        head.headers.remove(CONTENT_LENGTH);
        Ok(RawReply::Refused(head, body, failure))
    }
}

/// The address of a path. Paths outside of `/v1` are at the root of a server whose base URL ends with it.
fn url(base: &str, path: &str) -> String {
    match path.strip_prefix("/v1/") {
        Some(rest) => format!("{base}/{rest}"),
        None => format!("{}{path}", base.strip_suffix("/v1").unwrap_or(base)),
    }
}

fn end_to_end(headers: &HeaderMap) -> HeaderMap {
    let stays = |name: &&HeaderName| !OWN_HEADERS.contains(*name) && !name.as_str().starts_with(CORS);
    let kept = headers.iter().filter(|(name, _)| stays(name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_below_the_base_url_or_at_the_root() {
        for (base, path, expected) in [
            ("http://a/v1", "/v1/embeddings?x=1", "http://a/v1/embeddings?x=1"),
            ("http://a/v1", "/tokenize", "http://a/tokenize"),
            ("http://a/openai", "/v1/audio/speech", "http://a/openai/audio/speech"),
            ("http://a/openai", "/tokenize", "http://a/openai/tokenize"),
        ] {
            assert_eq!(url(base, path), expected);
        }
    }

    #[test]
    fn a_server_does_not_speak_for_callboard() {
        let sent = ["content-type", "retry-after", "access-control-allow-origin", "set-cookie", "connection", "x-own"];
        let headers = sent.iter().map(|name| (HeaderName::from_static(name), HeaderValue::from_static("x"))).collect();
        let kept = end_to_end(&headers);
        let names: Vec<&str> = kept.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["content-type", "retry-after", "x-own"]);
    }
}
