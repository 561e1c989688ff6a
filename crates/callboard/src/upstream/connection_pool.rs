//! The pool of connections to model servers.
//!
//! A server may close a pooled connection just as a request is sent on it, or a new one while it restarts or sheds load. No reply has
//! begun then, so the request is retried once on a new connection; if that breaks too, it is the server's failure.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{Extensions, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::{HttpConnector, HttpInfo};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;

const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// The most connections that are remembered as used; others are treated as new.
const MOST_ADDRESSES: usize = 4096;

type Pool = legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// A pool, a client that bypasses it, and the connections that have served a request.
#[derive(Clone)]
pub(super) struct ConnectionPool {
    pooled: Pool,
    unpooled: Pool,
    used: Arc<Mutex<HashSet<SocketAddr>>>,
}

/// The head of a reply.
pub(super) struct ReplyHead {
    pub(super) response: Response<Incoming>,
    /// True where the connection had served an earlier request.
    pub(super) was_reused: bool,
}

impl ConnectionPool {
    pub(super) fn new(tls: &ClientConfig, connect: Duration) -> Self {
        let https = connector(tls, connect);
        let mut builder = legacy::Client::builder(TokioExecutor::new());
        builder.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE_TIMEOUT);
        let pooled = builder.build(https.clone());
        let unpooled = builder.pool_max_idle_per_host(0).build(https);
        Self { pooled, unpooled, used: Arc::default() }
    }

    pub(super) async fn send(&self, request: Request<Full<Bytes>>) -> Result<ReplyHead, legacy::Error> {
        let retry = request.clone();
        match self.pooled.request(request).await {
            Ok(response) => {
                let was_reused = self.mark_used(response.extensions());
                Ok(ReplyHead { response, was_reused })
            }
            Err(error) if closed_before_reply(&error) => {
                self.forget(&error);
                self.unpooled.request(retry).await.map(|response| ReplyHead { response, was_reused: false })
            }
            Err(error) => Err(error),
        }
    }

    /// True where the connection had served an earlier request.
    fn mark_used(&self, extensions: &Extensions) -> bool {
        let Some(connection) = extensions.get::<HttpInfo>() else { return false };
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.len() >= MOST_ADDRESSES {
            used.clear();
        }
        !used.insert(connection.local_addr())
    }

    /// Another connection may get the address of the one that failed.
    fn forget(&self, error: &legacy::Error) {
        let mut extensions = Extensions::new();
        error.connect_info().into_iter().for_each(|connected| connected.get_extras(&mut extensions));
        let connection = extensions.get::<HttpInfo>().map(HttpInfo::local_addr);
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(address) = connection {
            used.remove(&address);
        }
    }
}

/// Closed or reset before a reply could be read. What cannot be parsed is a reply, too.
fn closed_before_reply(error: &legacy::Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<hyper::Error>());
    source.is_some_and(|source| !source.is_parse() && !source.is_user())
}

fn connector(tls: &ClientConfig, connect: Duration) -> HttpsConnector<HttpConnector> {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(connect));
    HttpsConnectorBuilder::new().with_tls_config(tls.clone()).https_or_http().enable_http1().wrap_connector(http)
}
