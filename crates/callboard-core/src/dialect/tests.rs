//! Invariants of every family: splits do not change the result, prose passes unchanged, no input panics.

use proptest::prelude::*;

use super::table_runner::{TOOLS, read, read_with, split_everywhere, unchanged};
use super::unlisted_tests::tools as tools_with_schemas;
use super::{TextEnd, TextPiece, TextReader, ToolNames};

/// Fragments of all families, concatenated at random.
const PARTS: [&str; 121] = [
    "<tool_call>",
    "</tool_call>",
    "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}",
    "{\"name\": \"",
    "get_weather",
    "\", \"arguments\": {",
    "}",
    "}}",
    "\"",
    "'",
    "\\",
    "<function=",
    "get_weather>",
    "<parameter=",
    "city>",
    "</parameter>",
    "</function>",
    "<think>",
    "</think>",
    "[TOOL_CALLS]",
    "[ARGS]",
    "[",
    "]",
    "(",
    ")",
    "city=\"x\"",
    "<|",
    "|>",
    "<|tool_call_begin|>",
    "<|tool_call_end|>",
    "<|channel|>",
    "commentary to=functions.f",
    "<|message|>",
    "<|call|>",
    "```",
    "```json\n",
    "`",
    "\n",
    " ",
    "prose. ",
    "<｜tool▁call▁begin｜>",
    "<arg_key>",
    "</arg_value>",
    "é",
    "get_weather\n",
    "call:get_weather",
    "[TOOL_CALLS]",
    "{city:<escape>x<escape>}",
    "<start_function_call>",
    "<end_function_call>",
    "<|tool_call>",
    "</arg_key>",
    "<arg_value>",
    "</s>",
    "<s>",
    "<end_of_turn>",
    "<|im_start|>",
    "assistant",
    "<|start|>",
    "<|constrain|>json",
    "to=functions.get_weather ",
    "<|tool_call_start|>",
    "get_weather(",
    "<function_calls>",
    "<invoke name=\"get_weather\">",
    "<parameter name=\"city\">",
    "<｜DSML｜tool_calls>",
    "<｜DSML｜invoke name=\"get_weather\">",
    "<｜DSML｜parameter name=\"days\" string=\"false\">",
    "</｜DSML｜parameter>",
    "<｜tool▁sep｜>",
    "function",
    "[/INST]",
    ".",
    "<|channel>thought",
    "<channel|>",
    "<|tool_call_argument_begin|>",
    "functions.get_weather:0",
    "<parameter=",
    "<function=",
    "with ",
    "get_weather.call(",
    "\"name\": ",
    "<TOOLCALL>",
    "</TOOLCALL>",
    "<get_weather>",
    "</get_weather>",
    "<city>Paris</city>",
    "<city>",
    "functools",
    "Action: ",
    "Action Input: ",
    "[TOOL_CALL]",
    "[/TOOL_CALL]",
    "<|plugin|>",
    "```tool_code\n",
    "print(",
    "city: Paris\n",
    "<a href=\"get_weather\">",
    "tool_call: ",
    "<seed:tool_call>",
    "</seed:tool_call>",
    "getWeather",
    "<list_files/>",
    "\"get_weather\": ",
    "{\"city\": \"Paris\"}",
    "<|DSML|invoke name=\"get_weather\">",
    ":",
    "=",
    "</",
    "<|open|>",
    "<|close|>",
    "<|sep|>",
    "call tool=\"get_weather\"",
    "### ",
    "#",
    ">>>",
    "✿",
    "< | DSML | invoke name=\"get_weather\">",
    " to=",
    " Done.",
];

const ENDS: [TextEnd; 3] = [TextEnd::Complete, TextEnd::CutByLimit, TextEnd::CallsBeside];

fn in_parts(text: &str, cuts: &[usize]) -> Vec<String> {
    let mut parts = vec![String::new()];
    for (at, character) in text.chars().enumerate() {
        if cuts.contains(&at) {
            parts.push(String::new());
        }
        if let Some(last) = parts.last_mut() {
            last.push(character);
        }
    }
    parts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if std::env::var("MANY").is_ok() { 60000 } else { 2000 }))]

    #[test]
    fn arbitrary_text_never_breaks_the_reader(text in "\\PC*", end in prop::sample::select(&ENDS[..])) {
        prop_assert_eq!(read(&TOOLS, [text.as_str()], end), split_everywhere(&TOOLS, &text, end));
    }

    #[test]
    fn the_cuts_change_nothing(
        parts in prop::collection::vec(prop::sample::select(&PARTS[..]), 0..14),
        cuts in prop::collection::vec(0_usize..120, 0..6),
        end in prop::sample::select(&ENDS[..]),
        tools in prop::sample::select(vec![ToolNames::new(&TOOLS), ToolNames::new(&[]), tools_with_schemas()]),
    ) {
        let text = parts.concat();
        let whole = read_with(&tools, [text.as_str()], end);
        let characters = in_parts(&text, &(0..text.len()).collect::<Vec<_>>());
        prop_assert_eq!(&whole, &read_with(&tools, characters.iter().map(String::as_str), end));
        let parts = in_parts(&text, &cuts);
        prop_assert_eq!(&whole, &read_with(&tools, parts.iter().map(String::as_str), end));
    }

    #[test]
    fn text_without_any_sign_passes_unchanged(text in "[^<\\[{`]+", end in prop::sample::select(&ENDS[..])) {
        prop_assert_eq!(read(&TOOLS, [text.as_str()], end), vec![TextPiece::Text(text)]);
    }
}

#[test]
fn prose_passes_unchanged() {
    unchanged(&[
        "If a < b then use [1, 2] and {x}; in HTML write <b>bold</b> or <table>, never a <- b.",
        "  leading and trailing  \n\n",
        "\n",
        "<",
        "a <",
        "x = {\n  y: [1]\n}\n",
        "Ünïcödé <ü> 漢字 [漢] {字}\n",
        "1 < 2 `code` and ``more`` </b> <t",
    ]);
}

#[test]
fn words_are_not_held_back() {
    let mut reader = TextReader::new(&TOOLS);
    let mut written = String::new();
    for word in ["Let", " me", " see: a", " <b>", " [1]", " and", " {x}", " or `y`."] {
        let mut out = Vec::new();
        reader.feed(word, &mut out);
        written.extend(out.into_iter().map(|piece| match piece {
            TextPiece::Text(text) => text,
            other => format!("{other:?}"),
        }));
        assert!(written.ends_with(word.trim_end()), "{written:?} after {word:?}");
    }
}

#[test]
fn an_answer_in_json_is_not_held_back() {
    let mut reader = TextReader::new(&TOOLS);
    let mut out = Vec::new();
    reader.feed("{\"name\": \"Ada", &mut out);
    assert_eq!(out, [TextPiece::Text("{\"name\": \"Ada".to_owned())]);
}

#[test]
fn without_tools_calls_are_text() {
    let text = "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call> [TOOL_CALLS] ```json\n{}\n```";
    assert_eq!(read(&[], [text], TextEnd::Complete), [TextPiece::Text(text.to_owned())]);
    let reasoning = read(&[], ["<think>Hm.</think>Hi.<|im_end|>"], TextEnd::Complete);
    assert_eq!(reasoning, [TextPiece::Reasoning("Hm.".to_owned()), TextPiece::Text("Hi.".to_owned())]);
}

/// Work must be linear in the length of the text.
#[test]
fn long_arguments_in_small_parts_are_read_once() {
    let long = "x}<y>".repeat(60_000);
    for call in [
        format!("<tool_call>{{\"name\": \"write_file\", \"arguments\": {{\"content\": \"{long}\"}}}}</tool_call>"),
        format!("{{\"name\": \"write_file\", \"arguments\": {{\"content\": \"{long}\"}}}}"),
        format!("<function=write_file><parameter=content>{long}</parameter></function>"),
        format!(
            "<|tool_call_begin|>write_file<|tool_call_argument_begin|>{{\"content\": \"{long}\"}}<|tool_call_end|>"
        ),
    ] {
        let pieces = split_everywhere(&TOOLS, &call, TextEnd::Complete);
        assert!(matches!(pieces.as_slice(), [TextPiece::Call(call)] if call.arguments.len() > long.len()));
    }
}

/// Every opening mark is refused or left open: rereading after each must not become quadratic.
#[test]
fn repeated_openings_are_read_alike_however_cut() {
    for part in [
        "<tool_call>{a \"",
        "<tool_call>{\"",
        "{\"name\":\"get_weather\",\"arguments\":[\n",
        "[list_files(\n",
        "<|start|>",
        "<function=",
        "<function=f><parameter=",
        "<|tool_call_begin|>",
        "```json\n{\"name\": \"",
        "```\n<tool_call>",
        "[TOOL_CALLS]",
        "[TOOL_CALLS]a",
        "<|tool_call>call:",
        "`",
        "<think>",
        "{\n",
        "get_weather\n",
        "\ncall:get_weather{",
        "</parameter>",
        "<function=get_weather>\nx</parameter>",
        "<tool_call><function=get_weather>\nx",
        "<tool_call>get_weather\n<b>",
        "<|channel|>x",
        "<|start|>assistant ",
        "<|tool_call_start|>[f(",
        "</s>",
        "<|im_start|>",
        "a <|im_end|> ",
        "[TOOL_CALLS]get_weather[ARGS]",
        "<|tool_call>call:f{<|\"|>",
        "\n<tool_call>get_weather with",
        "[TOOL_CALLS]\"x",
        "<|tool_call_start|>x",
        "<tool_call><parameter=x>",
        "functions.",
        "<invoke name=",
    ] {
        let text = part.repeat(30_000 / part.len());
        let whole = read(&TOOLS, [text.as_str()], TextEnd::Complete);
        assert!(whole == split_everywhere(&TOOLS, &text, TextEnd::Complete), "{part}");
    }
}
