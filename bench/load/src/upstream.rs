//! The scripted model server: keeps connections open, reads each request and answers with prebuilt
//! bytes. It reads three fields of a request and checks nothing else.

use std::io::{ErrorKind, Result, Write, stdout};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinSet, yield_now};
use tokio::time::{MissedTickBehavior, interval};

use crate::Outcome;
use crate::connection::{Connection, Framing};
use crate::gateway_process::GatewayProcess;
use crate::scenario::Scenario;
use crate::upstream_reply::{Reply, with_length};

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
    /// With the name of the model.
    replies: Vec<(String, Scenario, Reply)>,
    models: Vec<u8>,
    refusal: Vec<u8>,
    /// The process whose pace streams follow; 0 for none.
    followed: AtomicU32,
}

impl Script {
    fn new() -> Self {
        let models =
            Scenario::ALL.map(|scenario| json!({ "id": scenario.name(), "object": "model", "owned_by": "bench" }));
        let refusal = json!({ "error": { "message": "not a request of the bench", "type": "invalid_request_error",
            "param": null, "code": null } });
        Self {
            replies: Scenario::ALL.map(|scenario| (scenario.name(), scenario, Reply::to(scenario))).into(),
            models: with_length("200 OK", &json!({ "object": "list", "data": models })),
            refusal: with_length("400 Bad Request", &refusal),
            followed: AtomicU32::new(0),
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
            } else if let Some(process) = followed_process(&head.start_line) {
                self.followed.store(process, Ordering::Relaxed);
                connection.write(&self.models).await?;
            } else {
                self.answer(&mut connection, &head.start_line, &body).await?;
            }
        }
        Ok(())
    }

    async fn answer(&self, connection: &mut Connection, start_line: &str, body: &[u8]) -> Result<()> {
        let named = model_of(body).and_then(|name| self.replies.iter().find(|(known, ..)| known.as_bytes() == name));
        let Some((_, scenario, reply)) = named else {
            return connection.write(&self.refusal).await;
        };
        let (mut scenario, mut reply) = (*scenario, reply);
        if scenario == Scenario::CallThenText && last_role(body) == b"tool" {
            scenario = Scenario::ShortText;
            reply = self.replies.iter().find(|(_, other, _)| *other == scenario).map_or(reply, |(.., reply)| reply);
        }
        if !is_set(body, "stream", "true") {
            return connection.write(reply.whole()).await;
        }
        let events = match start_line.contains("/responses ") {
            true => reply.responses(),
            false => reply.stream(is_set(body, "include_usage", "true")),
        };
        match self.followed.load(Ordering::Relaxed) {
            0 => send_events(connection, scenario, events).await,
            process => follow(connection, scenario, events, &GatewayProcess(process)).await,
        }
    }
}

/// The process of `PUT /follow/PROCESS`.
fn followed_process(start_line: &str) -> Option<u32> {
    start_line.strip_prefix("PUT /follow/")?.split(' ').next()?.parse().ok()
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

/// Sends events such that a gateway reads them alike however slow it is: each when the gateway waits for it, or all in one write.
async fn follow(
    connection: &mut Connection,
    scenario: Scenario,
    events: &[Vec<u8>],
    gateway: &GatewayProcess,
) -> Result<()> {
    if scenario.pause().is_none() {
        return connection.write(&events.concat()).await;
    }
    for event in events {
        gateway.idle().await;
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

/// The model that a request names.
fn model_of(body: &[u8]) -> Option<&[u8]> {
    values(body, "model").find_map(|rest| rest.strip_prefix(b"\"")?.split(|byte| *byte == b'"').next())
}

/// Whether `body` has a field `name` with this value.
fn is_set(body: &[u8], name: &str, value: &str) -> bool {
    values(body, name).any(|rest| rest.starts_with(value.as_bytes()))
}

/// What follows the key of each field `name`. Quotes inside JSON strings are escaped, so a quoted name before a colon can only be a
/// key; the bench's requests have each of the keys that are asked for once.
fn values<'a>(body: &'a [u8], name: &str) -> impl Iterator<Item = &'a [u8]> {
    let key = format!("\"{name}\"");
    let places = body.iter().enumerate().filter(|(_, byte)| **byte == b'"').map(|(place, _)| place);
    places.filter_map(move |place| {
        let rest = body.get(place..)?.strip_prefix(key.as_bytes())?;
        Some(rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start())
    })
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
    fn a_process_to_follow_is_named_in_the_path() {
        let rows =
            [("PUT /follow/12 HTTP/1.1", Some(12)), ("PUT /follow/x HTTP/1.1", None), ("POST /v1 HTTP/1.1", None)];
        for (line, expected) in rows {
            assert_eq!(followed_process(line), expected, "{line}");
        }
    }

    #[test]
    fn the_requests_of_the_bench_name_their_reply() {
        for scenario in Scenario::ALL {
            let request = scenario.request().expect("request.json is valid");
            let value: Value = serde_json::from_str(&request).expect("valid JSON");
            assert_eq!(model_of(request.as_bytes()), Some(scenario.name().as_bytes()));
            assert_eq!(is_set(request.as_bytes(), "stream", "true"), value["stream"] == true);
        }
    }
}
