//! Frames from a hostile worker process: the same messages and the same error, however the bytes arrive.

use callboard_python::read_worker_frames;

use super::fields::{fields, joined, pieces};
use super::golden_seeds::GoldenParts;

pub(crate) const TOKENS: &[&str] = &[
    "\"number\":",
    "\"took\":18446744073709551615",
    "\"text\":\"",
    "\"state\":{",
    "\"tools\":[{\"name\":\"a\",\"description\":\"b\",\"parameters\":{},\"timeout_ms\":1e400}]",
    "\"timeout_ms\":-1",
    "\"names\":{",
    "\"error\":{\"raised\":{\"exception\":\"E\",\"message\":\"m\",\"traceback\":\"t\"}}",
    "\"error\":{\"unknown_tool\":{\"name\":\"a\"}}",
    "\"exit_reason\":\"",
    "{\"hello\":{\"pid\":1,\"version\":2}}",
    "{\"loaded\":{\"manifest\":{",
    "{\"invalid\":{\"problems\":[",
    "{\"exited\":{\"pid\":1,\"status\":9}}",
    "{\"fork_failed\":{\"error\":\"a\"}}",
];

const MESSAGES: [&str; 6] = [
    r#"{"number":1,"took":12,"text":"done","state":{"a":1}}"#,
    r#"{"number":2,"took":12,"error":{"raised":{"exception":"ValueError","message":"m","traceback":"t"}}}"#,
    r#"{"number":3,"took":0,"tools":[{"name":"a","description":"b","parameters":{"type":"object"},"timeout_ms":100}]}"#,
    r#"{"hello":{"pid":12,"version":2}}"#,
    r#"{"loaded":{"source":"x","manifest":{"name":"A","voice":null,"instructions":{},"metadata":null,"tools":[],"model":null,"limits":{"tools":10,"properties":10,"enum":50,"description":1024},"reply":"tools_only","requires_call":false,"undo":true,"view":null,"keeps_state":true,"has_turn_context":false,"has_get_tools":false,"has_get_names":false,"warnings":[],"timeouts":{"default_ms":5000,"by_tool":{"a":1}}}}}"#,
    r#"{"invalid":{"problems":[{"line":3,"what":"w","remedy":"r","kind":"import_error"}]}}"#,
];

pub(crate) fn seeds(_: &GoldenParts) -> Vec<Vec<u8>> {
    let alone = MESSAGES.iter().map(|message| joined(&[b"\x05", &frame(message)]));
    alone.chain([joined(&[b"\x03", &MESSAGES.map(frame).concat()])]).collect()
}

fn frame(message: &str) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap_or_default();
    [&length.to_le_bytes(), message.as_bytes()].concat()
}

pub(crate) fn run(data: &[u8]) {
    let [lengths, bytes] = fields(data);
    let whole = read_worker_frames(&[bytes]);
    assert_eq!(read_worker_frames(&pieces(bytes, lengths)), whole, "cut in other places");
}
