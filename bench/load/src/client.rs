//! The load generator: each connection takes one talk after the other, sends its requests, and reads and checks every reply.
//! It stops after a number of talks or a time, whichever is first; replies that have begun by then are read to their end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::Outcome;
use crate::connection::Connection;
use crate::request_script::{Script, following};

const LONGEST_REPLY: Duration = Duration::from_secs(60);

pub(crate) struct Load {
    pub(crate) authority: String,
    pub(crate) path: String,
    pub(crate) key: String,
    pub(crate) script: Script,
    /// The expected content of every reply.
    pub(crate) expected: Vec<String>,
    pub(crate) connections: usize,
    pub(crate) requests: u64,
    pub(crate) limit: Duration,
}

/// The measurements of one connection.
#[derive(Default)]
struct Tally {
    latencies: Vec<Duration>,
    pieces: usize,
    errors: Vec<String>,
}

impl Load {
    /// Runs the load and reports it as one JSON object.
    pub(crate) async fn run(self) -> Outcome<Value> {
        let started = Instant::now();
        let shared = Arc::new((self, AtomicU64::new(0)));
        let mut workers = JoinSet::new();
        for _ in 0..shared.0.connections {
            let shared = Arc::clone(&shared);
            workers.spawn(async move {
                let (load, taken) = &*shared;
                load.work(taken, started + load.limit).await
            });
        }
        let mut total = Tally::default();
        while let Some(tally) = workers.join_next().await {
            total.add(tally?);
        }
        Ok(total.report(started.elapsed()))
    }

    fn request(&self, body: &str) -> Vec<u8> {
        let Self { path, authority, key, .. } = self;
        let length = body.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {authority}\r\nauthorization: Bearer {key}\r\n\
             accept: */*\r\nuser-agent: bench\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n"
        );
        (head + body).into_bytes()
    }

    async fn work(&self, taken: &AtomicU64, end: Instant) -> Tally {
        let mut tally = Tally::default();
        let (mut connection, mut reply) = (None, Vec::new());
        while Instant::now() < end {
            let number = taken.fetch_add(1, Ordering::Relaxed);
            let Some(talk) = self.script.talk(number).filter(|_| number < self.requests) else { break };
            for body in talk {
                let request = self.request(&following(body, &reply));
                let began = Instant::now();
                reply.clear();
                match timeout(LONGEST_REPLY, self.exchange(&mut connection, &request, &mut reply)).await {
                    Ok(Ok(pieces)) => {
                        tally.pieces += pieces;
                        tally.latencies.push(began.elapsed());
                    }
                    Ok(Err(error)) => tally.errors.push(error.to_string()),
                    Err(_) => {
                        connection = None;
                        tally.errors.push("no whole reply in time".to_owned());
                    }
                }
            }
        }
        tally
    }

    /// Sends one request and reads and checks its reply. The connection is kept only after success.
    async fn exchange(&self, kept: &mut Option<Connection>, request: &[u8], body: &mut Vec<u8>) -> Outcome<usize> {
        let mut connection = match kept.take() {
            Some(connection) => connection,
            None => Connection::new(TcpStream::connect(&self.authority).await?)?,
        };
        connection.write(request).await?;
        let head = connection.read_head().await?.ok_or("closed without a reply")?;
        let pieces = connection.read_body(head.framing, body).await?;
        if head.start_line.split(' ').nth(1) != Some("200") {
            return Err(format!("{}: {}", head.start_line, String::from_utf8_lossy(body)).into());
        }
        for expected in &self.expected {
            if !body.windows(expected.len()).any(|window| window == expected.as_bytes()) {
                return Err(format!("{expected} is missing in: {}", String::from_utf8_lossy(body)).into());
            }
        }
        *kept = (!head.closes).then_some(connection);
        Ok(pieces)
    }
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.latencies.extend(other.latencies);
        self.pieces += other.pieces;
        self.errors.extend(other.errors);
    }

    fn report(mut self, elapsed: Duration) -> Value {
        self.latencies.sort_unstable();
        let count = self.latencies.len();
        json!({
            "requests": count,
            "errors": self.errors.len(),
            "first_error": self.errors.first(),
            "seconds": elapsed.as_secs_f64(),
            "requests_per_second": count as f64 / elapsed.as_secs_f64(),
            "p50_ms": self.quantile_ms(0.50),
            "p99_ms": self.quantile_ms(0.99),
            "pieces_per_reply": self.pieces as f64 / count.max(1) as f64,
        })
    }

    /// Of sorted latencies.
    fn quantile_ms(&self, share: f64) -> Option<f64> {
        let place = (self.latencies.len() as f64 * share) as usize;
        self.latencies.get(place).map(|latency| latency.as_secs_f64() * 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_taken_from_the_sorted_latencies() {
        let tally = Tally { latencies: (0..100).rev().map(Duration::from_millis).collect(), ..Tally::default() };
        let report = tally.report(Duration::from_secs(2));
        assert_eq!((&report["p50_ms"], &report["p99_ms"]), (&json!(50.0), &json!(99.0)));
        assert_eq!(report["requests_per_second"], json!(50.0));
    }
}
