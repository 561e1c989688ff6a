//! The words that tell a model of its tools and of the form of a call.

use serde_json::{Value, json};

use super::Family;
use super::put_tools_in_prompt::name;
use crate::contract::CallRules;

/// The instructions for a conversation without calls so far.
pub(super) fn first(family: Family, tools: &[Value], rules: &CallRules) -> Option<String> {
    let offered: Vec<&Value> = tools.iter().filter(|tool| offers(rules, tool)).collect();
    if offered.is_empty() {
        return None;
    }
    let (list, how) = (list(family, &offered), how(family));
    let rules = sentences(&offered, rules);
    Some(format!("# Tools\n\n{list}\n\n{how}\n\n{rules}"))
}

/// The same behind earlier calls: a model that must not call needs an instruction.
pub(super) fn with_history(family: Family, tools: &[Value], rules: &CallRules) -> Option<String> {
    let none = || rules.forbidden.then(|| "Do not call any function in this reply: answer in plain words.".to_owned());
    first(family, tools, rules).or_else(none)
}

/// Only tools that may be called are shown; those before and after may offer others.
fn offers(rules: &CallRules, tool: &Value) -> bool {
    name(tool).is_some_and(|name| rules.allows(&name))
}

fn list(family: Family, tools: &[&Value]) -> String {
    match family {
        Family::Mistral => format!("[AVAILABLE_TOOLS]{}[/AVAILABLE_TOOLS]", json!(plain(tools))),
        Family::Kimi => format!("These functions can be called:\n{}", json!(plain(tools))),
        Family::DeepSeek => tools.iter().map(|tool| heading(tool)).collect::<Vec<_>>().join("\n\n"),
        Family::Llama => format!("These functions can be called, one JSON object each:\n{}", lines(tools)),
        Family::MiniMax => {
            let tools: Vec<String> = plain(tools).iter().map(|tool| format!("<tool>{tool}</tool>")).collect();
            format!("These functions can be called:\n<tools>\n{}\n</tools>", tools.join("\n"))
        }
        Family::Hermes | Family::QwenCoder | Family::Dsml | Family::Glm => {
            format!("These functions can be called, one JSON object each:\n<tools>\n{}\n</tools>", lines(tools))
        }
    }
}

fn lines(tools: &[&Value]) -> String {
    plain(tools).iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

/// A tool is shown without what is meant for servers.
fn plain(tools: &[&Value]) -> Vec<Value> {
    let without_strict = |tool: &&Value| {
        let mut tool = (*tool).clone();
        if let Some(function) = tool.get_mut("function").and_then(Value::as_object_mut) {
            function.shift_remove("strict");
        }
        tool
    };
    tools.iter().map(without_strict).collect()
}

fn heading(tool: &Value) -> String {
    let function = tool.get("function").unwrap_or(tool);
    let description = function.get("description").and_then(Value::as_str).unwrap_or_default();
    let parameters = function.get("parameters").cloned().unwrap_or_else(|| json!({}));
    format!("### {}\nDescription: {description}\nParameters: {parameters}", name(tool).unwrap_or_default())
}

/// The form of one call.
fn how(family: Family) -> &'static str {
    match family {
        Family::Hermes => {
            "To call a function, write its name and arguments as a JSON object within <tool_call></tool_call>:\n\
             <tool_call>\n{\"name\": <function-name>, \"arguments\": <args-json-object>}\n</tool_call>\n\
             Results come back within <tool_response></tool_response>."
        }
        Family::QwenCoder => {
            "To call a function, write it in this form, each parameter in tags of its own:\n\
             <tool_call>\n<function=example_function>\n<parameter=example_parameter>\nvalue\n</parameter>\n</function>\n\
             </tool_call>\n\
             Results come back within <tool_response></tool_response>."
        }
        Family::Llama => {
            "To call a function, answer with nothing but a JSON object in this form:\n\
             {\"name\": <function-name>, \"parameters\": <args-json-object>}\n\
             Separate several calls by \"; \". Results come back within <tool_response></tool_response>."
        }
        Family::Mistral => {
            "To call functions, write one JSON list in this form, and nothing behind it:\n\
             [TOOL_CALLS][{\"name\": <function-name>, \"arguments\": <args-json-object>}]\n\
             Results come back within [TOOL_RESULTS][/TOOL_RESULTS]."
        }
        Family::DeepSeek => {
            "To call functions, write them in this form:\n\
             <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function-name<｜tool▁sep｜>args-json-object<｜tool▁call▁end｜><｜tool▁calls▁end｜>\n\
             Several calls stand one behind the other, without a space, before <｜tool▁calls▁end｜>."
        }
        Family::Dsml => {
            "To call functions, write them in this form; string is \"true\" for text, \"false\" for other JSON values:\n\
             <｜DSML｜function_calls>\n<｜DSML｜invoke name=\"function-name\">\n\
             <｜DSML｜parameter name=\"parameter-name\" string=\"true|false\">value</｜DSML｜parameter>\n\
             </｜DSML｜invoke>\n</｜DSML｜function_calls>\n\
             Results come back within <function_results></function_results>."
        }
        Family::Kimi => {
            "To call functions, write them in this form, numbered through the conversation from 0:\n\
             <|tool_calls_section_begin|><|tool_call_begin|>functions.name:0<|tool_call_argument_begin|>args-json-object\
             <|tool_call_end|><|tool_calls_section_end|>"
        }
        Family::Glm => {
            "To call a function, write its name and its arguments in this form:\n\
             <tool_call>function-name\n<arg_key>key</arg_key>\n<arg_value>value</arg_value>\n</tool_call>\n\
             Results come back within <tool_response></tool_response>."
        }
        Family::MiniMax => {
            "To call functions, write them in this form:\n\
             <minimax:tool_call>\n<invoke name=\"function-name\">\n\
             <parameter name=\"parameter-name\">value</parameter>\n</invoke>\n</minimax:tool_call>\n\
             Results come back within <response></response>."
        }
    }
}

/// What `tool_choice`, `parallel_tool_calls` and `strict` ask for.
fn sentences(tools: &[&Value], rules: &CallRules) -> String {
    let mut sentences = vec![match (rules.required, tools) {
        (true, [only]) => format!("In this reply you must call the function {}.", name(only).unwrap_or_default()),
        (true, _) => "In this reply you must call a function.".to_owned(),
        (false, _) => "Where no function is needed, answer in plain words.".to_owned(),
    }];
    if !rules.parallel {
        sentences.push("Make at most one call in this reply.".to_owned());
    }
    let strict: Vec<String> = tools.iter().filter(|tool| is_strict(tool)).filter_map(|tool| name(tool)).collect();
    sentences.push(if strict.is_empty() {
        "Arguments must be valid against the function's schema.".to_owned()
    } else {
        let names = strict.join(", ");
        format!("Arguments of {names} must match the schema exactly: every required property, and none that it does not name.")
    });
    sentences.join(" ")
}

fn is_strict(tool: &Value) -> bool {
    tool.get("function").and_then(|function| function.get("strict")) == Some(&Value::Bool(true))
}
