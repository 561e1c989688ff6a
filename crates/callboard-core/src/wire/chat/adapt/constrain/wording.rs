//! What a model reads when its answer is constrained.

use serde_json::Value;

use super::plan::{ToolQuestion, name_of};

/// A description longer than this is cut where all tools are listed.
const MAX_DESCRIPTION: usize = 400;

/// What the answer is where no tool is to be called: no name of a tool.
pub(super) fn decline_word(names: &[String]) -> &'static str {
    let is_free = |word: &&str| !names.iter().any(|name| name == word);
    ["none", "none_of_them"].into_iter().find(is_free).unwrap_or("none_of_these_tools")
}

/// The tools with what they do, and the question which of them is called.
pub(super) fn which_tool(tools: &[&Value], question: &ToolQuestion) -> String {
    let list: Vec<String> = tools.iter().map(|tool| listed(tool)).collect();
    let which = "Which of these tools does the last message ask for? Answer with the name of the tool as JSON";
    let words = match question.may_decline {
        true => {
            let decline = decline_word(&question.names);
            format!("{which}, or with \"{decline}\" if the message can be answered without a tool.")
        }
        false => format!("{which}."),
    };
    format!("# Tools\n\n{}\n\n{words}", list.join("\n"))
}

/// The tool, and that its arguments are wanted.
pub(super) fn arguments_of(tool: &Value) -> String {
    let name = name_of(tool).unwrap_or_default();
    let parameters = function(tool).get("parameters").map(Value::to_string).unwrap_or_else(|| "{}".to_owned());
    format!(
        "Call the tool {name}: {}\nParameters as JSON Schema: {parameters}\n\
         Answer with the arguments as one JSON object. Take their values from the conversation; leave out what it does not say.",
        description(tool)
    )
}

fn listed(tool: &Value) -> String {
    let parameters = function(tool).get("parameters").and_then(|schema| schema.get("properties"));
    let names: Vec<&str> =
        parameters.and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let text = description(tool);
    let text = text.get(..text.floor_char_boundary(MAX_DESCRIPTION)).unwrap_or_default();
    format!("- {}({}): {text}", name_of(tool).unwrap_or_default(), names.join(", "))
}

fn description(tool: &Value) -> &str {
    function(tool).get("description").and_then(Value::as_str).unwrap_or_default()
}

fn function(tool: &Value) -> &Value {
    tool.get("function").unwrap_or(tool)
}
