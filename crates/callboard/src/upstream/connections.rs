//! Connections to model servers, kept for the next request.
//!
//! A server may close a connection at the very moment at which the next request is sent on it. Nothing of a reply has come
//! then, so the request is sent once more on a new connection. A new connection that dies is the server's failure.

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

const KEPT_FOR: Duration = Duration::from_secs(30);

/// So many addresses are remembered; those that are forgotten are taken for new connections.
const MOST_ADDRESSES: usize = 4096;

type Pool = legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// The pool, and the way around it.
#[derive(Clone)]
pub(super) struct Connections {
    kept: Pool,
    fresh: Pool,
    answered: Arc<Mutex<HashSet<SocketAddr>>>,
}

/// The head of a reply.
pub(super) struct Sent {
    pub(super) response: Response<Incoming>,
    /// True where the connection had served an earlier request.
    pub(super) was_kept: bool,
}

impl Connections {
    pub(super) fn new(tls: &ClientConfig, connect: Duration) -> Self {
        let https = connector(tls, connect);
        let mut builder = legacy::Client::builder(TokioExecutor::new());
        builder.pool_timer(TokioTimer::new()).pool_idle_timeout(KEPT_FOR);
        let kept = builder.build(https.clone());
        let fresh = builder.pool_max_idle_per_host(0).build(https);
        Self { kept, fresh, answered: Arc::default() }
    }

    /// The head of the reply, and whether the connection had served an earlier request.
    pub(super) async fn send(&self, request: Request<Full<Bytes>>) -> Result<Sent, legacy::Error> {
        let again = request.clone();
        match self.kept.request(request).await {
            Ok(response) => {
                let was_kept = self.note_answer(response.extensions());
                Ok(Sent { response, was_kept })
            }
            Err(error) if died_unheard(&error) && self.has_answered(&error) => {
                self.fresh.request(again).await.map(|response| Sent { response, was_kept: false })
            }
            Err(error) => Err(error),
        }
    }

    /// True where the connection had answered before.
    fn note_answer(&self, extensions: &Extensions) -> bool {
        let Some(connection) = extensions.get::<HttpInfo>() else { return false };
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        if answered.len() >= MOST_ADDRESSES {
            answered.clear();
        }
        !answered.insert(connection.local_addr())
    }

    /// True where the connection that failed had served an earlier request.
    fn has_answered(&self, error: &legacy::Error) -> bool {
        let mut extensions = Extensions::new();
        error.connect_info().into_iter().for_each(|connected| connected.get_extras(&mut extensions));
        let connection = extensions.get::<HttpInfo>().map(HttpInfo::local_addr);
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        connection.is_some_and(|address| answered.remove(&address))
    }
}

/// Closed or reset before a reply could be read. What cannot be parsed is a reply, too.
fn died_unheard(error: &legacy::Error) -> bool {
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
