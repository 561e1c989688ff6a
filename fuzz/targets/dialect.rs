//! Calls that models write as text: the same pieces however the text is cut, in time that grows with its length.

use callboard_core::dialect::{TextEnd, TextPiece, TextReader};

use super::fields::{fields, joined, options, text, text_pieces};
use super::golden_seeds::GoldenParts;

pub(crate) const TOKENS: &[&str] = &[
    "<tool_call>",
    "</tool_call>",
    "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}",
    "<function=get_weather>",
    "<parameter=city>",
    "</parameter>",
    "</function>",
    "<think>",
    "</think>",
    "[TOOL_CALLS]",
    "[ARGS]",
    "<|tool_call_begin|>",
    "<|tool_call_argument_begin|>",
    "<|tool_call_end|>",
    "<|tool_calls_section_begin|>",
    "<|channel|>commentary to=functions.get_weather",
    "<|message|>",
    "<|call|>",
    "<|python_tag|>",
    "```json\n",
    "```",
    "<｜tool▁call▁begin｜>",
    "<｜tool▁sep｜>",
    "<｜tool▁call▁end｜>",
    "<｜DSML｜invoke name=\"get_weather\">",
    "<arg_key>city</arg_key>",
    "<arg_value>",
    "call:get_weather{city:<escape>x<escape>}",
    "<start_function_call>",
    "[get_weather(city=\"x\")]",
    "<invoke name=\"get_weather\">",
    "<parameter name=\"city\">",
    "</invoke>",
    "get_weather\n{",
];

const TOOLS: [&str; 4] = ["get_weather", "find_play", "play", "write_file"];
const ENDS: [TextEnd; 3] = [TextEnd::Complete, TextEnd::CutByLimit, TextEnd::CallsBeside];
/// The size to which a text is repeated: work that grows with its square takes seconds.
const LONG: usize = 64 << 10;

pub(crate) fn seeds(golden: &GoldenParts) -> Vec<Vec<u8>> {
    golden.texts.iter().map(|text| joined(&[b"\x0c", b"\x05", text.as_bytes()])).collect()
}

/// Options: the two lowest bits choose the end, the next three how many tools are on offer, 32 repeats the text.
pub(crate) fn run(data: &[u8]) {
    let [chosen, lengths, written] = fields(data);
    let chosen = options(chosen);
    let tools = TOOLS.get(..usize::from(chosen >> 2 & 7).min(TOOLS.len())).unwrap_or_default();
    let end = ENDS.get(usize::from(chosen & 3)).copied().unwrap_or(TextEnd::Complete);
    let written = text(written);
    if chosen & 32 != 0 && !written.is_empty() {
        let long = written.repeat(LONG / written.len());
        read(tools, &text_pieces(&long, lengths), end);
        return;
    }
    let whole = read(tools, &[&written], end);
    assert_eq!(read(tools, &text_pieces(&written, lengths), end), whole, "cut in other places");
    assert_eq!(read(tools, &text_pieces(&written, &[]), end), whole, "in single characters");
}

/// The pieces of a text, with adjacent text joined.
fn read(tools: &[&str], parts: &[&str], end: TextEnd) -> Vec<TextPiece> {
    let (mut reader, mut joined, mut out) = (TextReader::new(tools), Vec::new(), Vec::new());
    for part in parts {
        reader.feed(part, &mut out);
        out.drain(..).for_each(|piece| join(&mut joined, piece));
    }
    reader.finish(end, &mut out);
    out.drain(..).for_each(|piece| join(&mut joined, piece));
    joined
}

fn join(pieces: &mut Vec<TextPiece>, piece: TextPiece) {
    match (pieces.last_mut(), piece) {
        (Some(TextPiece::Text(last)), TextPiece::Text(more))
        | (Some(TextPiece::Reasoning(last)), TextPiece::Reasoning(more)) => last.push_str(&more),
        (_, piece) => pieces.push(piece),
    }
}
