//! Recorded turns as a golden page: what the client sent and what the model servers answered, so that a test reproduces them.
//!
//! The page holds the inputs only; `UPDATE=1` writes what is expected of them. The format is described in `tests/golden/README.md`.

use http::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value};
use thiserror::Error;

use super::sse_lines::sse_lines;

/// Requests up to this length are written on one line.
const SHORT_BYTES: usize = 110;
/// The longest part of a page's name that comes from the model.
const NAME_CHARS: usize = 40;

/// What a page needs of a trace.
#[derive(Debug, Deserialize)]
pub struct RecordedTurn {
    character: Option<String>,
    model: String,
    id: String,
    endpoint: String,
    response: Option<String>,
    conversation: Option<String>,
    input: RecordedInput,
    #[serde(default)]
    bad_calls: Vec<BadCall>,
    upstream_requests: Vec<UpstreamRequest>,
}

#[derive(Debug, Deserialize)]
struct RecordedInput {
    request: Option<Map<String, Value>>,
    named_conversation: Option<String>,
}

#[derive(Debug, Deserialize)]
struct BadCall {
    outcome: String,
    violations: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct UpstreamRequest {
    outcome: String,
    status: Option<u16>,
    retry_after_seconds: Option<u64>,
    /// Set once the head of a successful reply had come.
    first_byte_ms: Option<f64>,
    #[serde(default)]
    reply_broken: bool,
    reply_bytes: Option<usize>,
    reply: Option<String>,
}

/// A character, as its file defines it.
#[derive(Debug, Clone, Copy)]
pub struct CharacterFile<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its code.
    pub code: &'a str,
}

/// A page and its name.
#[derive(Debug, PartialEq, Eq)]
pub struct GoldenPage {
    /// The name of its file. It contains the model's name, which the page's model gets, too.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Why there is no page of a turn.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum NotReproducible {
    /// The trace holds no request.
    #[error(
        "the content of the turn {0} was not recorded; set trace.content = true, or CALLBOARD_TRACE_CONTENT=true, and repeat it"
    )]
    NotRecorded(String),
    /// A reply was too long.
    #[error("a reply in the turn {0} has {1} bytes, of which only the beginning was recorded")]
    Cut(String, usize),
    /// It was no chat completion and no response.
    #[error("turns of the endpoint {0:?} cannot be written as golden pages")]
    Endpoint(String),
}

/// The page of a turn. One of a character's turns comes with all turns of its conversation before it, oldest first, as its state depends on
/// them.
pub fn golden_page(
    turns: &[RecordedTurn],
    character: Option<CharacterFile<'_>>,
) -> Result<GoldenPage, NotReproducible> {
    let Some(last) = turns.last() else { return Err(NotReproducible::NotRecorded(String::new())) };
    let is_scenario = character.is_none() && last.endpoint == "chat";
    let mut sections = vec![last.title()];
    sections
        .extend(character.map(|file| format!("## Character {}\n\n```python\n{}\n```", file.id, file.code.trim_end())));
    let mut replies = 0;
    for (number, turn) in turns.iter().enumerate() {
        sections.push(turn.request(if is_scenario { None } else { Some(number + 1) })?);
        for reply in turn.upstream_requests.iter().filter(|request| request.was_answered()) {
            replies += 1;
            sections.push(reply.section(replies, &turn.id)?);
        }
    }
    let text = with_stable_ids(sections.join("\n\n") + "\n", turns);
    Ok(GoldenPage { name: last.name(), text })
}

impl RecordedTurn {
    /// The conversation that it belongs to.
    pub fn conversation(&self) -> Option<&str> {
        self.conversation.as_deref()
    }

    /// The character, if it is one's turn.
    pub fn character(&self) -> Option<&str> {
        self.character.as_deref()
    }

    fn title(&self) -> String {
        let what = self.bad_calls.first().map_or_else(
            || "A recorded turn".to_owned(),
            |call| format!("A call {}: {}", call.outcome, call.violations.join(", ")),
        );
        format!("# {what}\n\nRecorded from {}, turn {}.", self.model, self.id)
    }

    /// The model's name in it selects the family of formats in which calls are read.
    fn name(&self) -> String {
        let model: String = self.model.chars().take(NAME_CHARS).collect();
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '.';
        let plain = |letter: char| if is_plain(letter) { letter.to_ascii_lowercase() } else { '-' };
        let tail = self.id.get(self.id.len().saturating_sub(8)..).unwrap_or(&self.id);
        format!("{}-{tail}.md", model.chars().map(plain).collect::<String>().trim_matches(['-', '.']))
    }

    /// The section of its request, without what the harness adds.
    fn request(&self, number: Option<usize>) -> Result<String, NotReproducible> {
        let recorded = self.input.request.clone();
        let mut body = recorded.ok_or_else(|| NotReproducible::NotRecorded(self.id.clone()))?;
        for key in ["model", "stream", "type", "stream_id", "client_metadata"] {
            body.shift_remove(key);
        }
        let mut options = match self.endpoint.as_str() {
            "chat" => String::new(),
            "responses" => "- POST: /v1/responses\n".to_owned(),
            other => return Err(NotReproducible::Endpoint(other.to_owned())),
        };
        if let Some(name) = &self.input.named_conversation {
            options += &format!("- header: callboard-conversation: {name}\n");
        }
        let heading = number.map_or_else(|| "Request".to_owned(), |number| format!("Request {number}"));
        let gap = if options.is_empty() { "" } else { "\n" };
        Ok(format!("## {heading}\n\n{options}{gap}```json\n{}\n```", json_text(&body)))
    }
}

impl UpstreamRequest {
    /// Whether a server got it; those that found no server are no part of the page.
    fn was_answered(&self) -> bool {
        self.reply_bytes.is_some() || self.reply_broken || self.status.is_some() || self.outcome == "ok"
    }

    /// What the server did beside its body. A refusal within a stream has the status of its stream.
    fn options(&self) -> String {
        let mut options = String::new();
        if let Some(status) = self.status.filter(|_| self.first_byte_ms.is_none()) {
            let words = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
            options += &format!("- status: {status} {}\n", words.unwrap_or("Error"));
            let seconds = self.retry_after_seconds;
            options += &seconds.map_or_else(String::new, |seconds| format!("- header: Retry-After: {seconds}\n"));
        }
        if self.reply_broken || matches!(self.outcome.as_str(), "left" | "timeout") {
            options += "- break\n";
        }
        options
    }

    fn section(&self, number: usize, turn: &str) -> Result<String, NotReproducible> {
        let reply = self.reply.as_deref().unwrap_or_default();
        let length = self.reply_bytes.unwrap_or_default();
        if length > reply.len() {
            return Err(NotReproducible::Cut(turn.to_owned(), length));
        }
        let (kind, text) = match reply.trim_start().as_bytes().first() {
            Some(b'{' | b'[') => ("json", reply.trim_end().to_owned()),
            _ if is_stream(reply) => ("sse", sse_lines(reply)),
            _ => ("text", reply.trim_end().to_owned()),
        };
        let mut options = self.options();
        if kind == "sse" && reply.contains("\r\n") {
            options += "- line ends: CRLF\n";
        }
        let gap = if options.is_empty() { "" } else { "\n" };
        Ok(format!("## Upstream {number}\n\n{options}{gap}```{kind}\n{text}\n```"))
    }
}

/// Whether a reply that is not JSON is a stream of events. An empty one is, as far as it came.
fn is_stream(reply: &str) -> bool {
    let is_field = |line: &str| ["data:", "event:", "error:", "id:", ":"].iter().any(|field| line.starts_with(field));
    reply.trim().is_empty() || reply.lines().any(is_field)
}

fn json_text(body: &Map<String, Value>) -> String {
    let line = serde_json::to_string(body).unwrap_or_default();
    if line.len() <= SHORT_BYTES { line } else { serde_json::to_string_pretty(body).unwrap_or(line) }
}

/// The text with the names that the harness gives to the conversation and to responses.
fn with_stable_ids(mut text: String, turns: &[RecordedTurn]) -> String {
    let is_id = |name: &&str| name.starts_with("conv_");
    if let Some(conversation) = turns.iter().find_map(RecordedTurn::conversation).filter(is_id) {
        text = text.replace(conversation, "conv_1");
    }
    let responses = turns.iter().filter_map(|turn| turn.response.as_deref());
    responses.enumerate().fold(text, |text, (place, id)| text.replace(id, &format!("resp_{}", place + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(trace: &str) -> RecordedTurn {
        serde_json::from_str(trace).unwrap()
    }

    #[test]
    fn a_turn_becomes_a_page_of_its_inputs() {
        let recorded = turn(
            r#"{"character":null,"model":"Qwen/Qwen3-Coder","id":"0192abcdef01","endpoint":"chat",
            "input":{"request":{"model":"Qwen/Qwen3-Coder","stream":true,"messages":[]}},
            "bad_calls":[{"outcome":"repaired","violations":["trailing_comma"]}],
            "upstream_requests":[{"outcome":"unreachable"},
            {"outcome":"refused","status":400,"reply_bytes":15,"reply":"{\"error\":\"no\"}\n"},
            {"outcome":"ok","reply_bytes":28,"reply":"data: {\"a\":1}\n\ndata: [DONE]\n\n"}]}"#,
        );
        let page = golden_page(&[recorded], None).unwrap();
        let expected = "# A call repaired: trailing_comma\n\nRecorded from Qwen/Qwen3-Coder, turn 0192abcdef01.\n\n\
            ## Request\n\n```json\n{\"messages\":[]}\n```\n\n\
            ## Upstream 1\n\n- status: 400 Bad Request\n\n```json\n{\"error\":\"no\"}\n```\n\n\
            ## Upstream 2\n\n```sse\n{\"a\":1}\n[DONE]\n```\n";
        assert_eq!((page.name.as_str(), page.text.as_str()), ("qwen-qwen3-coder-abcdef01.md", expected));
    }

    #[test]
    fn what_was_not_recorded_is_no_page() {
        let head = r#""character":null,"model":"m","id":"7","endpoint":"chat""#;
        let bare = turn(&format!(r#"{{{head},"input":{{}},"upstream_requests":[]}}"#));
        assert_eq!(golden_page(&[bare], None), Err(NotReproducible::NotRecorded("7".to_owned())));
        let cut = turn(&format!(
            r#"{{{head},"input":{{"request":{{}}}},"upstream_requests":[{{"outcome":"ok","reply_bytes":9,"reply":"data"}}]}}"#
        ));
        assert_eq!(golden_page(&[cut], None), Err(NotReproducible::Cut("7".to_owned(), 9)));
    }

    #[test]
    fn a_conversation_keeps_its_ids_apart() {
        let recorded = |response: &str, body: &str| {
            turn(&format!(
                r#"{{"character":"bard","model":"m","id":"7","endpoint":"responses","response":"{response}",
                "conversation":"conv_x","input":{{"request":{body}}},"upstream_requests":[]}}"#
            ))
        };
        let turns = [
            recorded("resp_a", r#"{"model":"bard","input":"Hi","conversation":"conv_x"}"#),
            recorded("resp_b", r#"{"model":"bard","input":"On","previous_response_id":"resp_a"}"#),
        ];
        let text = golden_page(&turns, Some(CharacterFile { id: "bard", code: "X = 1\n" })).unwrap().text;
        let expected = "## Character bard\n\n```python\nX = 1\n```\n\n\
            ## Request 1\n\n- POST: /v1/responses\n\n```json\n{\"input\":\"Hi\",\"conversation\":\"conv_1\"}\n```\n\n\
            ## Request 2\n\n- POST: /v1/responses\n\n```json\n{\"input\":\"On\",\"previous_response_id\":\"resp_1\"}\n```\n";
        assert!(text.ends_with(expected), "{text}");
    }
}
