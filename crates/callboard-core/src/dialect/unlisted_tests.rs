//! Calls in forms that are on no list, and texts that look like them.

use serde_json::json;

use super::table_runner::check_with;
use super::{TextEnd, ToolNames};

const PARIS: &str = r#"call get_weather {"city": "Paris"}"#;
const TIGHT: &str = r#"call get_weather {"city":"Paris"}"#;
const ROME: &str = r#"call get_weather {"city": "Rome"}"#;
const OBJECT: &str = r#"{"name": "get_weather", "arguments": {"city": "Paris"}}"#;
const OTHER: &str = r#"{"name": "get_weather", "arguments": {"city": "Rome"}}"#;
const CITY: &str = r#"{"city": "Paris"}"#;

pub(super) fn tools() -> ToolNames {
    let weather = json!({"type": "object", "properties": {"city": {}, "days": {}}, "required": ["city"]});
    let search = json!({"type": "object", "properties": {"query": {}}, "required": ["query"]});
    let note = json!({"type": "object", "properties": {"path": {}, "content": {}}, "required": ["path"]});
    let none = json!({"type": "object", "properties": {}});
    let tools = [("get_weather", &weather), ("search", &search), ("write_note", &note), ("list_files", &none)];
    ToolNames::with_schemas(tools.into_iter())
}

fn complete(rows: &[(&str, &[&str])]) {
    check_with(&tools(), TextEnd::Complete, rows);
}

fn unchanged(texts: &[&str]) {
    for text in texts {
        complete(&[(text, &[&format!("text {text}")])]);
    }
}

#[test]
fn objects_in_unknown_tags_and_tokens() {
    for text in [
        format!("<TOOLCALL>[{OBJECT}]</TOOLCALL>"),
        format!("<tool_use>{OBJECT}</tool_use>"),
        format!("<function_call>\n{OBJECT}\n</function_call>"),
        format!("<functioncall> {OBJECT} </functioncall>"),
        format!("<tool_call id=\"1\">{OBJECT}</tool_call>"),
        format!("<ns:tool_call>{OBJECT}</ns:tool_call>"),
        format!("<TOOL_CALL>{OBJECT}</TOOL_CALL>"),
        format!("<toolCalls>[{OBJECT}]</toolCalls>"),
        format!("<tools>{OBJECT}</tools>"),
        format!("<json>{OBJECT}</json>"),
        format!("<output>\n{OBJECT}\n</output>"),
        format!("<|tool_use|>{OBJECT}<|/tool_use|>"),
        format!("<|plugin|>{OBJECT}<|end_plugin|>"),
        format!("<|action_start|><|plugin|>\n{OBJECT}<|action_end|>"),
        format!("<|function_call|>{OBJECT}<|end_function_call|>"),
        format!("<||tool_call||>{OBJECT}<||/tool_call||>"),
        format!("<｜tool_call｜>{OBJECT}<｜/tool_call｜>"),
        format!("< |tool_call|>{OBJECT}").replace("< ", "<"),
        format!("<action>{OBJECT}</action>"),
        format!("<tool_call>\n```json\n{OBJECT}\n```\n</tool_call>").replace("tool_call", "toolcall"),
    ] {
        complete(&[(&text, &[PARIS])]);
    }
}

#[test]
fn objects_in_brackets_and_behind_keywords() {
    for text in [
        format!("[FUNC_CALL]{OBJECT}[/FUNC_CALL]"),
        format!("[TOOL_REQUEST]\n{OBJECT}\n[END_TOOL_REQUEST]"),
        format!("[TOOL_CALL] {OBJECT}"),
        format!("[tool_calls]\n[{OBJECT}]"),
        format!("functools[{OBJECT}]"),
        format!("functions[{OBJECT}]"),
        format!("tool_call: {OBJECT}"),
        format!("Tool call: {OBJECT}"),
        format!("Function call:\n{OBJECT}"),
        format!("TOOL_CALL: {OBJECT}"),
        format!("Action:\n```json\n{OBJECT}\n```"),
        format!("Action:\n```\n{OBJECT}\n```\n"),
        format!("### TOOL_CALL_START ###\n{OBJECT}\n### TOOL_CALL_END ###"),
        format!("**Tool call:** {OBJECT}"),
        format!("\"tool_calls\": [{OBJECT}]"),
        format!("!function_call:[{OBJECT}]"),
        format!("<functioncall> {{\"name\": \"get_weather\", \"arguments\": '{CITY}'}}"),
        "<TOOLCALL>{\"tool\": \"get_weather\", \"city\": \"Paris\"}</TOOLCALL>".to_owned(),
        "{\"tool\": \"get_weather\", \"city\": \"Paris\"}".to_owned(),
        format!("{{\"tool_uses\": [{{\"recipient_name\": \"functions.get_weather\", \"parameters\": {CITY}}}]}}"),
    ] {
        complete(&[(&text, &[PARIS])]);
    }
}

#[test]
fn a_name_and_then_its_arguments() {
    for text in [
        format!("commentary to=functions.get_weather json{CITY}"),
        format!("to=functions.get_weather {CITY}"),
        format!("assistantcommentary to=functions.get_weather json{CITY}"),
        format!("commentary to=get_weather <|constrain|>json<|message|>{CITY}<|call|>"),
        format!("get_weather {CITY}"),
        format!("get_weather\n{CITY}"),
        format!("get_weather: {CITY}"),
        format!("get_weather({CITY})"),
        format!("functions.get_weather({CITY})"),
        format!("functions.get_weather:0 {CITY}"),
        format!("getWeather {CITY}"),
        format!("get_weather\n```json\n{CITY}\n```"),
        format!("<get_weather>{CITY}</get_weather>"),
        format!("<getWeather>\n{CITY}\n</getWeather>"),
        format!("<function=get_weather>{CITY}</function>"),
        format!("<tool name=\"get_weather\">{CITY}</tool>"),
        format!("<tool_call name='get_weather'>\n{CITY}\n</tool_call>"),
        format!("<tool_call>get_weather({CITY})</tool_call>").replace("tool_call", "call"),
        format!("<function_call:get_weather>{CITY}</function_call>"),
        format!("<|tool_use|>get_weather{CITY}<|end|>"),
        format!("<|tool|>get_weather<|arguments|>{CITY}<|end|>"),
        format!("<|get_weather|>{CITY}"),
        format!("[get_weather {CITY}]"),
        format!("[get_weather]{CITY}[/get_weather]"),
        format!("[Tool: get_weather] {CITY}"),
        format!("[Calling get_weather with {CITY}]"),
        format!("[TOOL_CALL: get_weather({CITY})]"),
        format!("[TOOL_CALL]get_weather[PARAMS]{CITY}[/TOOL_CALL]"),
        format!("Action: get_weather\nAction Input: {CITY}"),
        format!("Action: get_weather\nAction Input: {CITY}\n"),
        format!("Tool: get_weather\nInput: {CITY}"),
        format!("Tool: `get_weather`\nArguments:\n```json\n{CITY}\n```"),
        format!("Calling tool: get_weather\nParameters: {CITY}"),
        format!("Call: get_weather({CITY})"),
        format!(
            "<use_mcp_tool><server_name>a</server_name><tool_name>get_weather</tool_name><arguments>\n{CITY}\n</arguments></use_mcp_tool>"
        ),
        format!("<tool_name>get_weather</tool_name>\n<parameters>{CITY}</parameters>"),
        format!(">>>get_weather\n{CITY}"),
        format!("✿FUNCTION✿: get_weather\n✿ARGS✿: {CITY}"),
        format!("**Tool:** get_weather\n**Arguments:** {CITY}"),
        format!("<tool_call>\nget_weather: {CITY}\n</tool_call>"),
        format!("{{\"tool\": \"get_weather\", \"tool_input\": {CITY}}}"),
        format!("{{\"function\": \"get_weather\", \"args\": {CITY}}}"),
        format!("{{\"action\": \"get_weather\", \"action_input\": {CITY}}}"),
        format!("{{\"thought\": \"I \\\"look\\\".\", \"action\": \"get_weather\", \"action_input\": {CITY}}}"),
        format!("{{\"thoughts\": {{\"text\": \"Hm\"}}, \"command\": {{\"name\": \"get_weather\", \"args\": {CITY}}}}}"),
        format!("{{\"type\": \"tool_use\", \"id\": \"x\", \"name\": \"get_weather\", \"input\": {CITY}}}"),
        format!("{{\"function_call\": {{\"name\": \"get_weather\", \"arguments\": {CITY}}}}}"),
        format!("{{\"get_weather\": {CITY}}}"),
        format!("{{\"toolName\": \"getWeather\", \"toolArgs\": {CITY}}}"),
        format!("```json\n{{\"tool\": \"get_weather\", \"tool_input\": {CITY}}}\n```"),
    ] {
        complete(&[(&text, &[PARIS])]);
    }
}

#[test]
fn elements_attributes_lines_and_keywords() {
    for text in [
        "<get_weather><city>Paris</city></get_weather>",
        "<get_weather>\n<city>Paris</city>\n</get_weather>",
        "<get_weather city=\"Paris\"/>",
        "<get_weather city=\"Paris\"></get_weather>",
        "<tool_call name=\"get_weather\" city=\"Paris\" />",
        "<tools>\n<get_weather>\n<city>Paris</city>\n</get_weather>\n</tools>",
        "<tool name=\"get_weather\"><param name=\"city\">Paris</param></tool>",
        "<tool_use><name>get_weather</name><input><city>Paris</city></input></tool_use>",
        "<｜｜DSML｜｜function_calls>\n<｜｜DSML｜｜invoke name=\"get_weather\">\n<｜｜DSML｜｜parameter name=\"city\" string=\"true\">Paris</｜｜DSML｜｜parameter>\n</｜｜DSML｜｜invoke>\n</｜｜DSML｜｜function_calls>",
        "<|DSML|invoke name=\"get_weather\"><|DSML|parameter name=\"city\">Paris</|DSML|parameter></|DSML|invoke>",
        "<DSML:invoke name=\"get_weather\">\n<DSML:parameter name=\"city\">Paris</DSML:parameter>\n</DSML:invoke>",
        "<ns:function_calls>\n<ns:invoke name=\"get_weather\">\n<ns:parameter name=\"city\">Paris</ns:parameter>\n</ns:invoke>\n</ns:function_calls>",
        "<seed:tool_call><function=get_weather><parameter=city>Paris</parameter></function></seed:tool_call>",
        "<seed:tool_call>\n<function name=\"get_weather\">\n<parameter name=\"city\">Paris</parameter>\n</function>\n</seed:tool_call>",
        "<tool>get_weather\ncity: Paris</tool>",
        "<|open|>tools<|sep|><|open|>call tool=\"get_weather\" index=\"1\"<|sep|><|open|>argument key=\"city\" type=\"string\"<|sep|>Paris<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>",
        "< | DSML | invoke name=\"get_weather\">\n< | DSML | parameter name=\"city\" string=\"true\">Paris< / | DSML | parameter>\n< / | DSML | invoke>",
        "<tool_call><name>get_weather</name><arguments><city>Paris</city></arguments></tool_call>",
        "<toolcall>\nname: get_weather\nargs:\n  city: Paris\n</toolcall>",
        "<toolcall>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</toolcall>",
        "Action: get_weather\ncity: Paris\n",
        "tool: get_weather\ncity: \"Paris\"",
    ] {
        complete(&[(text, &[TIGHT])]);
    }
    for text in [
        "<call>get_weather(city=\"Paris\")</call>",
        "[TOOL_CALL]get_weather(city=\"Paris\")[/TOOL_CALL]",
        "[tool: get_weather(city=\"Paris\")]",
        "get_weather(city=\"Paris\")",
        "<tool_call>\nget_weather(city=\"Paris\")\n</tool_call>",
        "tool_call: get_weather(city=\"Paris\")",
        "```tool_code\nprint(get_weather(city=\"Paris\"))\n```",
        "```tool_code\nprint(default_api.get_weather(city=\"Paris\"))\n```",
        "```tool_call\nget_weather(city=\"Paris\")\n```",
        "```tool_call\nget_weather {\"city\": \"Paris\"}\n```",
        "```get_weather\n{\"city\": \"Paris\"}\n```",
        "<tool_code>\nget_weather(city=\"Paris\")\n</tool_code>",
        "<|python|>get_weather(city=\"Paris\")<|/python|>",
    ] {
        complete(&[(text, &[PARIS])]);
    }
}

#[test]
fn several_calls_and_the_text_around_them() {
    complete(&[
        (&format!("I look.\n<TOOLCALL>[{OBJECT}, {OTHER}]</TOOLCALL>"), &["text I look.", PARIS, ROME]),
        (&format!("I look. <TOOLCALL>[{OBJECT}]</TOOLCALL>"), &["text I look.", PARIS]),
        (&format!("<TOOLCALL>{OBJECT}</TOOLCALL>\n<TOOLCALL>{OTHER}</TOOLCALL>\nDone."), &[PARIS, ROME, "text Done."]),
        (&format!("<get_weather>{CITY}</get_weather><list_files></list_files>"), &[PARIS, "call list_files {}"]),
        ("<list_files/>", &["call list_files {}"]),
        (&format!("<think>Hm.</think>\nfunctools[{OBJECT}]"), &["reasoning Hm.", PARIS]),
        (&format!("Action: get_weather\nAction Input: {CITY}\nObservation: sun"), &[PARIS, "text Observation: sun"]),
        (&format!("Thought: look\nAction: get_weather\nAction Input: {CITY}"), &["text Thought: look", PARIS]),
        ("<search><query>a</query></search>", &[r#"call search {"query":"a"}"#]),
        (&format!("<tool_use>{OBJECT}</tool_use> Let me know."), &[PARIS, "text Let me know."]),
        (
            &format!("commentary to=functions.get_weather code{CITY}commentary to=functions.list_files code{{}}"),
            &[PARIS, "call list_files {}"],
        ),
        (&format!("Hm. to=functions.get_weather json{CITY}"), &["text Hm.", PARIS]),
        ("commentary to=functions.other json{}", &["call other {}"]),
        (r#"<TOOLCALL>[{"name": "other", "arguments": {}}]</TOOLCALL>"#, &["call other {}"]),
    ]);
}

#[test]
fn what_cannot_be_read_is_passed_on_for_a_re_ask() {
    complete(&[
        ("<TOOLCALL>get_weather for Paris</TOOLCALL>", &["call get_weather get_weather for Paris"]),
        (
            "So.\n<function_call>\nget_weather Paris 3\n</function_call>",
            &["text So.", "call get_weather get_weather Paris 3"],
        ),
        (
            r#"<TOOLCALL>[{"name": "get_weather", "arguments": {"city": Paris"}}]</TOOLCALL>"#,
            &[r#"call get_weather {"city": Paris"}}]</TOOLCALL>"#],
        ),
        ("[TOOL_CALL]get_weather(\"Paris\")[/TOOL_CALL]", &["call get_weather (\"Paris\")"]),
        ("<action>get_weather</action>\n<args>Paris</args>", &["call get_weather <args>Paris</args>"]),
        ("Action: get_weather\nAction Input: Paris", &["call get_weather Paris"]),
        ("[tool_call:get_weather city=\"Paris\"]", &["call get_weather city=\"Paris\"]"]),
        ("<write_note path=\"a\">the text</write_note>", &["call write_note <write_note path=\"a\">the text"]),
        (r#"get_weather {"town": "Paris"}"#, &[r#"call get_weather {"town": "Paris"}"#]),
    ]);
}

#[test]
fn what_the_limit_cut_is_not_delivered() {
    let calls = [
        format!("<TOOLCALL>[{OBJECT}]</TOOLCALL>"),
        format!("functools[{OBJECT}]"),
        format!("commentary to=functions.get_weather json{CITY}"),
        "<get_weather><city>Paris</city></get_weather>".to_owned(),
    ];
    for call in calls {
        let begun = call.find("city").unwrap_or(0) + 1;
        for at in begun..call.rfind("Paris").unwrap_or(0) {
            check_with(&tools(), TextEnd::CutByLimit, &[(&call[..at], &[])]);
        }
    }
}

#[test]
fn texts_about_tools_are_text() {
    unchanged(&[
        "You could use get_weather for that.",
        "get_weather is a tool; search is another: it takes a query.",
        "get_weather: gets the weather of a city.\nsearch: finds things.\nwrite_note: keeps a note.",
        "- **get_weather**: needs {city}\n- `search`: needs a query",
        "search (the tool) takes one argument.",
        "search results for Paris:\n\n1. A\n2. B",
        "Tools: get_weather, search and write_note.",
        "Tool: get_weather\nDescription: the weather",
        "Action: I will search the web.\nAction items: {none}",
        "Call me: {\"when\": \"now\"}",
        "Functions: {a, b}",
        "tool_call is a word, and so is tool_call: yes",
        "<TOOLCALL>[{\"name\": \"get_weather\", \"arguments\": {}}]</TOOLCALL> is how Nemotron calls.",
        "Nemotron writes <TOOLCALL>[{\"name\": \"get_weather\", \"arguments\": {}}]</TOOLCALL>, others do not.",
        "Write `<get_weather><city>Paris</city></get_weather>` for it.",
        "```xml\n<get_weather><city>Paris</city></get_weather>\n```\nThat is all.",
        "```python\nget_weather(city=\"Paris\")\n```",
        "Then `get_weather(city=\"Paris\")` gives the weather.",
        "<div>\n<search>\n<form><input name=\"query\"></form>\n</search>\n</div>",
        "<search>Search</search> is an element.",
        "<p>The <b>get_weather</b> tool</p>",
        "<tools>\n<tool name=\"get_weather\"><description>Weather</description></tool>\n</tools>",
        "{\"type\": \"function\", \"function\": {\"name\": \"get_weather\", \"parameters\": {\"type\": \"object\", \"properties\": {\"city\": {\"type\": \"string\"}}}}}",
        "{\"name\": \"get_weather\", \"parameters\": {\"type\": \"object\", \"properties\": {\"city\": {}}}}",
        "{\"search\": {\"hits\": 3}}",
        "{\"tool\": \"get_weather\", \"result\": {\"city\": \"Paris\"}}",
        "{\"action\": \"search\", \"count\": 3}",
        "{\"search\": \"x\", \"input\": {}}",
        "search:\n  query: cats\n  limit: 3\n",
        "[search](http://x) and [get_weather] and [x]",
        "[INFO] search {\"query\": \"x\"} took 3 ms",
        "The type Vec<search> and Map<get_weather, search> are fine; a <b and c> d.",
        "if (search(query) < 3) { write_note({path: 1}); }",
        "search(query) returns a list",
        "Use <get_weather city=\"Paris\"> in the template.",
        "{\"name\": \"get_weather\", \"parameters\": {\"city\": {\"type\": \"string\", \"description\": \"the city\"}}}",
        "[{\"type\": \"function\", \"function\": {\"name\": \"get_weather\", \"parameters\": {\"properties\": {}}}}]",
        "{\"action\": \"search\", \"query\": \"hello\"}",
        "search: {\"query\": \"x\"}",
        "{\"search\": {\"query\": \"x\"}}",
        "Tool: get_weather\ncity: the name of the city (required)\n",
        "Here is the XML:\n\n<search>\n<query>x</query>\n</search>\n\nSave it as search.xml.",
        "> get_weather {\"city\": \"Paris\"}",
        "# Tools\n\n### search\n\nA tool. *search* finds, **search** too, \"search\" as well.\n\n!search\n>>>search\n@search me",
        "The <|dark|> token, <|open|> too, is <|unknown|> to us.",
        "get_weather(\"Paris\") returns the weather",
    ]);
}
