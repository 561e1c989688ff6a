//! A recorded stream of server-sent events, one event per line, as golden pages have them.

use serde_json::Value;

/// The events of a stream. The JSON of an event is written alone; any other event is kept as it was sent, several lines of data in one.
pub(super) fn sse_lines(stream: &str) -> String {
    let stream = stream.replace("\r\n", "\n");
    let events = stream.split("\n\n").map(|event| event.trim_matches('\n')).filter(|event| !event.is_empty());
    events.flat_map(event_lines).collect::<Vec<_>>().join("\n")
}

fn event_lines(event: &str) -> Vec<String> {
    let data: Vec<&str> = event.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim_start).collect();
    let others = event.lines().filter(|line| !line.starts_with("data:"));
    if data.is_empty() || event.lines().any(|line| line.starts_with("event: error")) {
        return event.lines().map(str::to_owned).collect();
    }
    let comments = others.filter(|line| line.starts_with(':')).map(str::to_owned);
    comments.chain([shown(&data.join(" "))]).collect()
}

/// What a page takes for data is written without its field name.
fn shown(data: &str) -> String {
    let is_whole = |value: &Value| value.is_object() && value.get("delta").is_none();
    let is_alone = data == "[DONE]" || serde_json::from_str(data).as_ref().is_ok_and(is_whole);
    if is_alone { data.to_owned() } else { format!("data: {data}") }
}

#[cfg(test)]
mod tests {
    use super::sse_lines;

    #[test]
    fn each_event_is_a_line() {
        for (stream, lines) in [
            ("data: {\"a\":1}\n\ndata: [DONE]\n\n", "{\"a\":1}\n[DONE]"),
            ("data:{\"a\":1}\r\n\r\n", "{\"a\":1}"),
            (": hello\n\ndata: {\"delta\":1}\n\n", ": hello\ndata: {\"delta\":1}"),
            ("event: x\ndata: {\ndata: }\n\n", "{ }"),
            ("data: {\"a\":", "data: {\"a\":"),
            ("error: out of memory\n\n", "error: out of memory"),
            ("", ""),
        ] {
            assert_eq!(sse_lines(stream), lines, "{stream:?}");
        }
    }
}
