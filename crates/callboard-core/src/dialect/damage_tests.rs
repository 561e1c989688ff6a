//! Damaged markup of each family: calls are read or re-asked, and their markup never reaches the user.

use super::table_runner::{TOOLS, complete, cut, unchanged};
use super::{TextEnd, TextPiece, TextReader};

const PARIS: &str = r#"call get_weather {"city":"Paris"}"#;
const SPACED: &str = r#"call get_weather {"city": "Paris"}"#;

#[test]
fn tags() {
    complete(&[
        (
            "<tool_call>\n<function=get_weather>\nParis\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
            &[r#"call get_weather {"days":"3"}"#],
        ),
        ("<tool_call>\n<function=get_weather>\nParis", &["call get_weather {}"]),
        ("<tool_call><parameter=city>Paris</parameter></function></tool_call>", &[r#"call  {"city":"Paris"}"#]),
        ("<function=<function=get_weather><parameter=city>Paris</parameter></function>", &[PARIS]),
        ("<function=get_weather\n<parameter=city>Paris</parameter></function>", &[PARIS]),
        ("<function=get_weather><parameter=city>Paris</parameter></parameter></function></function>", &[PARIS]),
        (
            "<function=get_weather><parameter=city>Paris</parameter><parameter=da",
            &[r#"call get_weather {"city":"Paris","da":"#],
        ),
        ("<tool_call>get_weather<arg_key>city<arg_value>Paris</arg_value></arg_value></tool_call>", &[PARIS]),
        ("<tool_call>get_weather<arg_key>city</arg_key>", &[r#"call get_weather {"city":"#]),
        (
            "<minimax:tool_call><invoke name=><parameter name=\"city\">Paris</parameter></invoke><parameter name=\"a\">b</parameter></invoke></minimax:tool_call>Ok",
            &[r#"call  {"city":"Paris"}"#, r#"call  {"a":"b"}"#, "text Ok"],
        ),
        (
            "<｜DSML｜invoke name=\"get_weather\"><｜DSML｜parameter name=\"days\" string=\"false\">[3]</｜DSML｜parameter></｜DSML｜invoke>",
            &[r#"call get_weather {"days":[3]}"#],
        ),
    ]);
}

#[test]
fn tokens() {
    complete(&[
        (r#"<|tool_call_begin|>get_weather{"city": "Paris"}}<|tool_call_end|>"#, &[SPACED]),
        (r#"functions.get_weather:0<|tool_call_argument_begin|>{"city": "Paris"}<|tool_call_end|>"#, &[SPACED]),
        ("<|tool_call_begin|>functions.", &["call  functions."]),
        (
            r#"So.<|tool_calls_section_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Paris"}<|tool_call_end|>functions.list_files:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>"#,
            &["text So.", SPACED, "call list_files {}"],
        ),
        (r#"<｜tool▁call▁begin｜>functionget_weather{"city": "Paris"}<｜tool▁call▁end｜>"#, &[SPACED]),
        (r#"<|tool_call>get_weather{city:<|"|>Paris<|"|>}<tool_call|>"#, &[PARIS]),
        (r#"<|tool_call>call:get_weathercity:3}<tool_call|>"#, &["call get_weather call:get_weathercity:3}"]),
        (r#"<|channel|>commentary to=functions.get_weather json{"city": "Paris"}<|call|>"#, &[SPACED]),
        (
            r#"<|channel|>commentary <|constrain|>json<|message|>{"city": "Paris"}<|call|>"#,
            &[r#"call  {"city": "Paris"}"#],
        ),
    ]);
    cut(&[
        (r#"<|tool_call_begin|>get_weather{"city": "Paris"}<|tool_call_e"#, &[SPACED]),
        (r#"<|tool_call>call:get_weather{city:<|"|>Paris<|"|>}<too"#, &[PARIS]),
        ("So. <|tool_calls_section_begin|><", &["text So."]),
        (r#"<|tool_call_start|>[get_weather(city="Paris"), get_wea"#, &[SPACED]),
    ]);
}

#[test]
fn brackets() {
    complete(&[
        (r#"[TOOL_CALLS][TOOL_CALLS]get_weather[ARGS][ARGS]{"city": "Paris"}}"#, &[SPACED]),
        (r#"[TOOL_CALLS][ARGS]{"city": "Paris"}"#, &[r#"call  {"city": "Paris"}"#]),
        (r#"[TOOL_CALLS]get_weather[ARGS]"city": 3}"#, &[r#"call get_weather "city": 3}"#]),
        (r#"[TOOL_CALLS]"name": "get_weather"}"#, &[r#"call get_weather "name": "get_weather"}"#]),
        (
            r#"<|tool_call_start|>[[get_weather(city="Paris")), list_files(]<|tool_call_end|>Ok"#,
            &[SPACED, "call list_files {}", "text Ok"],
        ),
        (r#"<|tool_call_start|>[other(a=1)]<|tool_call_end|>"#, &[r#"call other {"a": 1}"#]),
        (r#"<|tool_call_start|>[get_weather("Paris")]<|tool_call_end|>"#, &[r#"call get_weather ("Paris")"#]),
        (r#"<|python_tag|>get_weather.call(city="Paris")"#, &[SPACED]),
        ("<|tool_call|>[{name: get_weather, arguments: {}}]", &["call get_weather {}"]),
    ]);
}

#[test]
fn words_around_marks_are_not_lost() {
    unchanged(&[
        "The tokens <|tool_call_begin|> and <|start|>assistant, or <|channel|> too, are tokens.",
        "Start with <function=get_weather> and go on.\n<function=get_weather> is a tag.",
        "Behind [TOOL_CALLS] a name, [ARGS] and the rest.",
        "get_weather takes a city.\nlist_files takes nothing.\nfunctions.get_weather is its full name.",
        "<parameter=city> is a tag, <arg_key> as well.",
        "The name functions. is short; function\nis a word.",
    ]);
}

#[test]
fn cut_calls_are_reported() {
    for (text, reported) in [
        ("<tool_call>{\"name\": \"get_wea", true),
        ("<function=get_weather>\n<par", true),
        ("So. [TOOL_CALLS]get_weather", true),
        ("So. <tool_c", true),
        ("<|tool_call_beg", true),
        ("<|tool_call_start|>[get_weather(", true),
        ("<|channel|>commentary to=functions.get_weather", true),
        ("{\"name\": \"get_weather\", \"arguments\": {", true),
        ("<|im_e", false),
        ("<think>Hm", false),
        ("Hello", false),
        ("<tool_call>{\"name\": \"list_files\"}</tool_c", false),
    ] {
        let (mut reader, mut pieces) = (TextReader::new(&TOOLS), Vec::new());
        reader.feed(text, &mut pieces);
        reader.finish(TextEnd::CutByLimit, &mut pieces);
        assert_eq!(pieces.contains(&TextPiece::CutOffCall), reported, "{text}: {pieces:?}");
    }
}
