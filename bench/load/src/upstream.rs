//! The scripted model server: keeps connections open, reads each request and answers with prebuilt
//! bytes. It reads three fields of a request and checks nothing else.

use std::io::{ErrorKind, Result, Write, stdout};
use std::net::Ipv4Addr;
use std::sync::Arc;

use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinSet, yield_now};
use tokio::time::{MissedTickBehavior, interval};

use crate::Outcome;
use crate::connection::{Connection, Framing};
use crate::upstream_reply::{Reply, with_length};
use crate::scenario::Scenario;

/// Serves on loopback until the process is ended; port 0 picks a free one.
pub(crate) async fn serve(port: u16) -> Outcome<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    writeln!(stdout(), "listening on http://{}", listener.local_addr()?)?;
    let script = Arc::new(Script::new());
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await?;
        let script = Arc::clone(&script);
        // A broken connection is the gateway's fault; the client counts errors.
        connections.spawn(async move { script.answer_all(stream).await.is_ok() });
        while connections.try_join_next().is_some() {}
    }
}

struct Script {
    replies: Vec<(Scenario, Reply)>,
    models: Vec<u8>,
    refusal: Vec<u8>,
}

impl Script {
    fn new() -> Self {
        let models =
            Scenario::ALL.map(|scenario| json!({ "id": scenario.name(), "object": "model", "owned_by": "bench" }));
        let refusal = json!({ "error": { "message": "not a request of the bench", "type": "invalid_request_error",
            "param": null, "code": null } });
        Self {
            replies: Scenario::ALL.map(|scenario| (scenario, Reply::to(scenario))).into(),
            models: with_length("200 OK", &json!({ "object": "list", "data": models })),
            refusal: with_length("400 Bad Request", &refusal),
        }
    }

    async fn answer_all(&self, stream: TcpStream) -> Result<()> {
        let mut connection = Connection::new(stream)?;
        let mut body = Vec::new();
        while let Some(head) = connection.read_head().await? {
            let Framing::Length(_) = head.framing else {
                return Err(ErrorKind::Unsupported.into());
            };
            body.clear();
            connection.read_body(head.framing, &mut body).await?;
            if head.start_line.starts_with("GET ") {
                connection.write(&self.models).await?;
            } else {
                self.answer(&mut connection, &body).await?;
            }
        }
        Ok(())
    }

    async fn answer(&self, connection: &mut Connection, body: &[u8]) -> Result<()> {
        let asked = |(scenario, _): &&(Scenario, Reply)| is_set(body, "model", &format!("\"{}\"", scenario.name()));
        let Some((mut scenario, mut reply)) =
            self.replies.iter().find(asked).map(|(scenario, reply)| (*scenario, reply))
        else {
            return connection.write(&self.refusal).await;
        };
        if scenario == Scenario::CallThenText && last_role(body) == b"tool" {
            scenario = Scenario::ShortText;
            reply = self.replies.iter().find(|(other, _)| *other == scenario).map_or(reply, |(_, reply)| reply);
        }
        if !is_set(body, "stream", "true") {
            return connection.write(reply.whole()).await;
        }
        send_events(connection, scenario, reply.stream(is_set(body, "include_usage", "true"))).await
    }
}

async fn send_events(connection: &mut Connection, scenario: Scenario, events: &[Vec<u8>]) -> Result<()> {
    let mut pauses = scenario.pause().map(interval);
    if let Some(pauses) = &mut pauses {
        pauses.set_missed_tick_behavior(MissedTickBehavior::Delay);
    }
    for event in events {
        match &mut pauses {
            Some(pauses) => drop(pauses.tick().await),
            None => yield_now().await,
        }
        connection.write(event).await?;
    }
    Ok(())
}

/// The role of the last message.
fn last_role(body: &[u8]) -> &[u8] {
    const ROLE: &[u8] = b"\"role\":\"";
    let last = body.windows(ROLE.len()).rposition(|window| window == ROLE);
    let rest = last.and_then(|place| body.get(place + ROLE.len()..)).unwrap_or_default();
    rest.split(|byte| *byte == b'"').next().unwrap_or_default()
}

/// Whether `body` has a field `name` with this value. Quotes inside JSON strings are escaped, so a
/// quoted name before a colon can only be a key; the bench's requests have each of these keys once.
fn is_set(body: &[u8], name: &str, value: &str) -> bool {
    let key = format!("\"{name}\"");
    let key_at = |place: &usize| body.get(*place..).is_some_and(|rest| rest.starts_with(key.as_bytes()));
    let fields = body.iter().enumerate().filter(|(_, byte)| **byte == b'"').map(|(place, _)| place).filter(key_at);
    fields
        .filter_map(|place| body.get(place + key.len()..)?.trim_ascii_start().strip_prefix(b":"))
        .any(|rest| rest.trim_ascii_start().starts_with(value.as_bytes()))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn fields_are_found_however_they_are_written() {
        let cases: [(&str, bool); 5] = [
            (r#"{"stream":true}"#, true),
            (r#"{"a":"x", "stream" : true}"#, true),
            (r#"{"stream":false}"#, false),
            (r#"{"text":"\"stream\":true"}"#, false),
            (r#"{"x":"stream","true":1}"#, false),
        ];
        for (body, expected) in cases {
            assert_eq!(is_set(body.as_bytes(), "stream", "true"), expected, "{body}");
        }
    }

    #[test]
    fn the_requests_of_the_bench_name_their_reply() {
        for scenario in Scenario::ALL {
            let request = scenario.request().expect("request.json is valid");
            let value: Value = serde_json::from_str(&request).expect("valid JSON");
            assert!(is_set(request.as_bytes(), "model", &format!("\"{}\"", scenario.name())));
            assert_eq!(is_set(request.as_bytes(), "stream", "true"), value["stream"] == true);
        }
    }
}
