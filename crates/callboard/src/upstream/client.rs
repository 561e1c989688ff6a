//! The HTTP client: pooled connections to model servers, one pool per server thread.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::{ClientConfig, RootCertStore};
use tokio::time::timeout;

use super::{Failure, ReplyBody, Upstream};

const MOST_ERROR_BYTES: usize = 64 << 10;
const AGENT: HeaderValue = HeaderValue::from_static(concat!("callboard/", env!("CARGO_PKG_VERSION")));

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

/// A pool of connections.
#[derive(Clone)]
pub struct Client {
    inner: hyper_util::client::legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    first_byte: Duration,
}

/// A reply whose head was a success.
pub struct Reply {
    /// True when a stream of events follows.
    pub is_stream: bool,
    /// The body.
    pub body: ReplyBody,
}

impl Client {
    /// A pool with these time limits.
    pub fn new(tls: &Tls, connect: Duration, first_byte: Duration) -> Self {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_connect_timeout(Some(connect));
        let https = HttpsConnectorBuilder::new()
            .with_tls_config(tls.0.clone())
            .https_or_http()
            .enable_http1()
            .wrap_connector(http);
        let inner = hyper_util::client::legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(Duration::from_secs(30))
            .build(https);
        Self { inner, first_byte }
    }

    /// Posts a chat request.
    pub async fn chat(
        &self,
        upstream: &Upstream,
        authorization: Option<&HeaderValue>,
        body: Vec<u8>,
    ) -> Result<Reply, Failure> {
        if let Some(model) = &upstream.local {
            let reply = model.reply(&body).into();
            return Ok(Reply { is_stream: false, body: ReplyBody::Local(Some(reply)) });
        }
        let request = request(Method::POST, upstream, "/chat/completions", authorization, body)?;
        let response = self.send(request).await?;
        let is_stream = is_event_stream(response.headers());
        Ok(Reply { is_stream, body: ReplyBody::Network(response.into_body()) })
    }

    /// Fetches a small JSON document.
    pub async fn get(
        &self,
        upstream: &Upstream,
        path: &str,
        authorization: Option<&HeaderValue>,
        most: usize,
    ) -> Result<Bytes, Failure> {
        let request = request(Method::GET, upstream, path, authorization, Vec::new())?;
        let response = self.send(request).await?;
        collect(response.into_body(), most).await
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Failure> {
        let late = |_| Failure::Timeout { phase: "waiting for the first byte", seconds: self.first_byte.as_secs_f64() };
        let again = request.clone();
        let mut sent = timeout(self.first_byte, self.inner.request(request)).await.map_err(late)?;
        if sent.as_ref().is_err_and(is_stale) {
            sent = timeout(self.first_byte, self.inner.request(again)).await.map_err(late)?;
        }
        let response = sent.map_err(|error| connection_failure(&error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status();
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let body = collect(response.into_body(), MOST_ERROR_BYTES).await.unwrap_or_default();
        Err(Failure::refused(status, retry_after, &body))
    }
}

/// A connection that was kept and that the server had closed meanwhile: not a byte of a reply came.
fn is_stale(error: &hyper_util::client::legacy::Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<hyper::Error>());
    !error.is_connect() && source.is_some_and(hyper::Error::is_incomplete_message)
}

fn connection_failure(error: &hyper_util::client::legacy::Error) -> Failure {
    let words =
        std::error::Error::source(error).map_or_else(|| error.to_string(), |source| format!("{error}: {source}"));
    if error.is_connect() { Failure::Unreachable(words) } else { Failure::Broken(words) }
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
    upstream: &Upstream,
    path: &str,
    authorization: Option<&HeaderValue>,
    body: Vec<u8>,
) -> Result<Request<Full<Bytes>>, Failure> {
    let mut builder =
        Request::builder().method(method).uri(format!("{}{path}", upstream.url)).header(USER_AGENT, AGENT);
    if !body.is_empty() {
        builder =
            builder.header(CONTENT_TYPE, "application/json").header(ACCEPT, "application/json, text/event-stream");
    }
    if let Some(value) = upstream.key.as_ref().or(authorization) {
        builder = builder.header(AUTHORIZATION, value);
    }
    builder.body(Full::new(body.into())).map_err(|error| Failure::Unreachable(error.to_string()))
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).is_some_and(|kind| kind.contains("event-stream"))
}
