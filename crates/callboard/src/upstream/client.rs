//! The HTTP client for model servers; one per serving thread.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, LOCATION,
    TRANSFER_ENCODING, USER_AGENT,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, request};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper_rustls::ConfigBuilderExt;
use hyper_util::client::legacy;
use rustls::{ClientConfig, RootCertStore};
use tokio::time::timeout;

use super::connection_pool::{ConnectionPool, ReplyHead};
use super::{ErrorReply, Failure, ReplyBody, Upstream, retry_after};

/// Lists of validation errors repeat much of the request.
const MOST_ERROR_BYTES: usize = 4 << 20;
const AGENT: HeaderValue = HeaderValue::from_static(concat!("callboard/", env!("CARGO_PKG_VERSION")));
pub(super) const AGENT_OF_PROBE: HeaderValue =
    HeaderValue::from_static(concat!("callboard/", env!("CARGO_PKG_VERSION"), " (probe)"));
const UNCOMPRESSED: HeaderValue = HeaderValue::from_static("identity");

/// Certificates to trust, loaded once for all threads, and only where a server is reached over TLS.
#[derive(Clone)]
pub struct Tls(ClientConfig);

impl Tls {
    /// The system's certificates if `needed`, else none.
    pub fn load(needed: bool) -> std::io::Result<Self> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(std::io::Error::other)?;
        let config = if needed {
            builder.with_native_roots()?.with_no_client_auth()
        } else {
            builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth()
        };
        Ok(Self(config))
    }
}

/// An HTTP client with its own connection pool.
#[derive(Clone)]
pub struct Client {
    connections: ConnectionPool,
    first_byte: Duration,
    /// Whether it says that it probes, for the log of the server.
    is_probe: bool,
}

/// A reply whose head was a success.
pub struct Reply {
    /// True when a stream of events follows.
    pub is_stream: bool,
    /// True when only the end of the connection delimits the body.
    pub until_close: bool,
    /// The body.
    pub body: ReplyBody,
}

impl Client {
    /// A client with these timeouts.
    pub fn new(tls: &Tls, connect: Duration, first_byte: Duration) -> Self {
        Self { connections: ConnectionPool::new(&tls.0, connect), first_byte, is_probe: false }
    }

    /// The same client, which says that it probes.
    #[must_use]
    pub fn for_probes(self) -> Self {
        Self { is_probe: true, ..self }
    }

    /// Posts a chat request, with these headers besides the usual ones.
    pub async fn chat(
        &self,
        upstream: &Upstream,
        authorization: Option<&HeaderValue>,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Reply, Failure> {
        if let Some(model) = &upstream.local {
            let reply = model.reply(&body).into();
            return Ok(Reply { is_stream: false, until_close: false, body: ReplyBody::Local(Some(reply)) });
        }
        let url = format!("{}/chat/completions", upstream.ready_url().await?);
        let mut request = request(Method::POST, url, upstream, authorization, body)?;
        request.headers_mut().extend(headers);
        let ReplyHead { response, was_reused } =
            self.send(request).await.map_err(|failure| failure.at(&upstream.url))?;
        let (is_stream, until_close) = (is_event_stream(response.headers()), ends_with_connection(response.headers()));
        let body = ReplyBody::Network { incoming: response.into_body(), may_be_stale: was_reused };
        Ok(Reply { is_stream, until_close, body })
    }

    /// Fetches a small JSON document.
    pub async fn get(
        &self,
        upstream: &Upstream,
        path: &str,
        authorization: Option<&HeaderValue>,
        most: usize,
    ) -> Result<Bytes, Failure> {
        let url = format!("{}{path}", upstream.running_url()?);
        let mut request = request(Method::GET, url, upstream, authorization, Vec::new())?;
        if self.is_probe {
            request.headers_mut().insert(USER_AGENT, AGENT_OF_PROBE);
        }
        let sent = self.send(request).await.map_err(|failure| failure.at(&upstream.url))?;
        collect(sent.response.into_body(), most).await
    }

    /// Posts a document to a server that is no model server, such as a collector of traces.
    pub async fn post(&self, url: &str, headers: &HeaderMap, body: Vec<u8>) -> Result<Bytes, Failure> {
        let mut request = Request::builder().method(Method::POST).uri(url).header(USER_AGENT, AGENT);
        if let Some(own) = request.headers_mut() {
            own.extend(headers.clone());
            own.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let request = request.body(Full::new(body.into())).map_err(|error| Failure::unreachable(&error.to_string()))?;
        let sent = self.send(request).await?;
        collect(sent.response.into_body(), MOST_ERROR_BYTES).await
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<ReplyHead, Failure> {
        let sent = self.send_any(request).await?;
        if sent.response.status().is_success() { uncompressed(sent) } else { Err(refused(sent.response).await.0) }
    }

    /// The head of a reply, whatever its status.
    pub(super) async fn send_any(&self, request: Request<Full<Bytes>>) -> Result<ReplyHead, Failure> {
        let late = |_| Failure::Timeout { phase: "waiting for the first byte", seconds: self.first_byte.as_secs_f64() };
        let sent = timeout(self.first_byte, self.connections.send(request)).await.map_err(late)?;
        sent.map_err(|error| connection_failure(&error))
    }
}

/// The failure that a reply with an error status is, and its body.
pub(super) async fn refused(response: Response<Incoming>) -> (Failure, Bytes) {
    let (status, retry_after) = (response.status(), retry_after::read(response.headers(), SystemTime::now()));
    let target = header(response.headers(), &LOCATION).filter(|_| status.is_redirection()).map(str::to_owned);
    let (reply, body) = match target {
        Some(target) => (ErrorReply::redirect(&target), Bytes::new()),
        None => {
            let body = collect(response.into_body(), MOST_ERROR_BYTES).await.unwrap_or_default();
            (ErrorReply::read(&body), body)
        }
    };
    (Failure::Refused { status, reply, retry_after }, body)
}

/// Requests accept no encoding, and none is decoded.
fn uncompressed(sent: ReplyHead) -> Result<ReplyHead, Failure> {
    match header(sent.response.headers(), &CONTENT_ENCODING) {
        None | Some("" | "identity") => Ok(sent),
        Some(encoding) => {
            Err(Failure::Unusable(format!("it is compressed ({encoding}), although no encoding was accepted")))
        }
    }
}

fn connection_failure(error: &legacy::Error) -> Failure {
    let reason = root_cause(error);
    if error.is_connect() { Failure::unreachable(&reason) } else { Failure::Broken(reason) }
}

/// The innermost error, which says what happened; the others say where.
fn root_cause(error: &dyn std::error::Error) -> String {
    let innermost = std::iter::successors(Some(error), |outer| outer.source()).last().unwrap_or(error);
    let words = innermost.to_string();
    words.split(" (os error").next().unwrap_or_default().to_owned()
}

async fn collect(body: Incoming, most: usize) -> Result<Bytes, Failure> {
    let collected = timeout(Duration::from_secs(10), Limited::new(body, most).collect()).await;
    match collected {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) => Err(Failure::Broken(error.to_string())),
        Err(_) => Err(Failure::Timeout { phase: "reading a short reply", seconds: 10.0 }),
    }
}

fn request(
    method: Method,
    url: String,
    upstream: &Upstream,
    authorization: Option<&HeaderValue>,
    body: Vec<u8>,
) -> Result<Request<Full<Bytes>>, Failure> {
    let mut builder = head(method, url, upstream, authorization);
    if !body.is_empty() {
        builder =
            builder.header(CONTENT_TYPE, "application/json").header(ACCEPT, "application/json, text/event-stream");
    }
    builder.body(Full::new(body.into())).map_err(|error| Failure::unreachable(&error.to_string()))
}

/// The head that all requests to a server have.
pub(super) fn head(
    method: Method,
    url: String,
    upstream: &Upstream,
    authorization: Option<&HeaderValue>,
) -> request::Builder {
    let builder = Request::builder().method(method).uri(url);
    let builder = builder.header(USER_AGENT, AGENT).header(ACCEPT_ENCODING, UNCOMPRESSED);
    match upstream.key.as_ref().or(authorization) {
        Some(value) => builder.header(AUTHORIZATION, value),
        None => builder,
    }
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    header(headers, &CONTENT_TYPE).is_some_and(|kind| kind.contains("event-stream"))
}

fn ends_with_connection(headers: &HeaderMap) -> bool {
    !headers.contains_key(CONTENT_LENGTH) && !headers.contains_key(TRANSFER_ENCODING)
}

fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
