//! The least that a gateway on Callboard's HTTP stack does: hyper on both sides, a runtime per core, and every byte passed on unread.
//!
//! What it costs is the floor under Callboard's own figures.

use std::io::{Write, stdout};
use std::net::{Ipv4Addr, TcpListener as StdListener};
use std::thread;

use http::Uri;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;
use tokio::runtime::Builder;

use crate::Outcome;

type Pool = Client<HttpConnector, Incoming>;

/// Forwards to `upstream`, an authority, until the process is ended.
pub(crate) fn serve(port: u16, upstream: &str) -> Outcome<()> {
    let listener = StdListener::bind((Ipv4Addr::LOCALHOST, port))?;
    listener.set_nonblocking(true)?;
    writeln!(stdout(), "listening on http://{}", listener.local_addr()?)?;
    let count = thread::available_parallelism()?.get();
    let start = |_| -> Outcome<_> {
        let (listener, upstream) = (listener.try_clone()?, upstream.to_owned());
        Ok(thread::spawn(move || serve_thread(listener, &upstream)))
    };
    let threads = (0..count).map(start).collect::<Outcome<Vec<_>>>()?;
    for thread in threads {
        thread.join().map_err(|_| "a serving thread panicked")??;
    }
    Ok(())
}

fn serve_thread(listener: StdListener, upstream: &str) -> Outcome<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::from_std(listener)?;
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let pool: Pool = Client::builder(TokioExecutor::new()).build(connector);
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let (pool, upstream) = (pool.clone(), upstream.to_owned());
            tokio::spawn(async move {
                let service = service_fn(|request| forward(&pool, &upstream, request));
                // A connection that breaks is the client's affair; the client counts errors.
                http1::Builder::new().serve_connection(TokioIo::new(stream), service).await.is_ok()
            });
        }
    })
}

async fn forward(pool: &Pool, upstream: &str, mut request: Request<Incoming>) -> Result<Response<Incoming>, Error> {
    let mut parts = std::mem::take(request.uri_mut()).into_parts();
    parts.scheme = Some(http::uri::Scheme::HTTP);
    parts.authority = upstream.parse().ok();
    *request.uri_mut() = Uri::from_parts(parts).unwrap_or_default();
    pool.request(request).await
}
