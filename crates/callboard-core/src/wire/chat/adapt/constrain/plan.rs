//! Whether a request is sent as it is, or its call is made by constrained decoding.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::contract::CallRules;
use crate::wire::chat::adapt::prompt::rules;
use crate::wire::chat::adapt::{Capabilities, Constraint, Feature, Quirk, Support, ToolsMode};

/// How a request with tools is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// In one request, adapted to the quirks of the server.
    Direct,
    /// The arguments of this tool are asked for.
    Arguments(String),
    /// Which tool is called is asked first.
    Ask(ToolQuestion),
}

/// The question which tool is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolQuestion {
    /// The tools that may be called.
    pub names: Vec<String>,
    /// Whether the model may decide to call none.
    pub may_decline: bool,
}

/// How a request with tools is sent, and what constrains its calls.
#[must_use]
pub fn plan(
    body: &Value,
    mode: ToolsMode,
    known: &Capabilities,
    quirks: &BTreeSet<Quirk>,
) -> (Plan, Option<Constraint>) {
    let Some(constraint) = constraint(mode, known, quirks) else { return (Plan::Direct, None) };
    let forces = |feature| mode == ToolsMode::Native && known.get(feature).is_none_or(|it| it == Support::Honored);
    let rules = rules(body.get("tool_choice"), None);
    let mut names = offered_names(body, &rules);
    let is_named = rules.required && rules.allowed.as_ref().is_some_and(|allowed| allowed.len() == 1);
    let feature = if is_named { Feature::NamedChoice } else { Feature::RequiredChoice };
    let is_direct = rules.required && forces(feature) || !rules.required && mode != ToolsMode::Constrained;
    let plan = match names.len() {
        0 => Plan::Direct,
        _ if is_direct => Plan::Direct,
        1 if rules.required => Plan::Arguments(names.remove(0)),
        _ => Plan::Ask(ToolQuestion { names, may_decline: !rules.required }),
    };
    (plan, Some(constraint))
}

/// What the server is known to honor. Where the mode was set by hand, also what nothing speaks against.
fn constraint(mode: ToolsMode, known: &Capabilities, quirks: &BTreeSet<Quirk>) -> Option<Constraint> {
    let choices = [
        (Constraint::NamedChoice, Feature::NamedChoice, Quirk::ToolChoice),
        (Constraint::ResponseFormat, Feature::ResponseFormat, Quirk::ResponseFormat),
    ];
    let usable = |feature: Feature, quirk: &Quirk| match known.get(feature) {
        _ if quirks.contains(quirk) => false,
        Some(support) => support == Support::Honored,
        None => mode == ToolsMode::Constrained,
    };
    choices.into_iter().find(|(_, feature, quirk)| usable(*feature, quirk)).map(|(constraint, ..)| constraint)
}

/// The tools that may be called, in the order in which they are offered.
fn offered_names(body: &Value, rules: &CallRules) -> Vec<String> {
    let tools = body.get("tools").and_then(Value::as_array);
    tools.into_iter().flatten().filter_map(name_of).filter(|name| rules.allows(name)).map(str::to_owned).collect()
}

/// The name of a tool.
pub(super) fn name_of(tool: &Value) -> Option<&str> {
    tool.get("function")?.get("name")?.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str) -> Value {
        json!({"type": "function", "function": {"name": name}})
    }

    fn known(features: &[(Feature, Support)]) -> Capabilities {
        let mut known = Capabilities::default();
        features.iter().for_each(|(feature, support)| known.set(*feature, *support));
        known
    }

    fn planned(choice: &Value, mode: ToolsMode, features: &[(Feature, Support)]) -> Plan {
        let body = json!({"tools": [tool("a"), tool("b")], "tool_choice": choice});
        plan(&body, mode, &known(features), &BTreeSet::new()).0
    }

    fn ask(may_decline: bool) -> Plan {
        Plan::Ask(ToolQuestion { names: vec!["a".to_owned(), "b".to_owned()], may_decline })
    }

    #[test]
    fn calls_are_constrained_where_the_server_does_not_force_them() {
        use Feature::{NamedChoice, RequiredChoice, ResponseFormat};
        use Support::{Honored, Ignored};
        use ToolsMode::{Constrained, Native, Prompt};
        let named = [(NamedChoice, Honored)];
        let unforced = [(NamedChoice, Honored), (RequiredChoice, Ignored)];
        let format = [(NamedChoice, Ignored), (ResponseFormat, Honored)];
        let only_b = json!({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [tool("b")]}});
        let arguments_of = |name: &str| Plan::Arguments(name.to_owned());
        for (choice, mode, features, expected) in [
            (json!("auto"), Native, &named[..], Plan::Direct),
            (json!("required"), Native, &named, Plan::Direct),
            (json!("required"), Native, &unforced, ask(false)),
            (tool("b"), Native, &unforced, Plan::Direct),
            (tool("b"), Native, &format, arguments_of("b")),
            (json!("auto"), Prompt, &named, Plan::Direct),
            (json!("required"), Prompt, &named, ask(false)),
            (tool("b"), Prompt, &named, arguments_of("b")),
            (json!("auto"), Constrained, &named, ask(true)),
            (Value::Null, Constrained, &named, ask(true)),
            (json!("none"), Constrained, &named, Plan::Direct),
            (only_b, Constrained, &named, arguments_of("b")),
            (json!("auto"), Constrained, &[], ask(true)),
            (json!("required"), Prompt, &[], Plan::Direct),
            (json!("auto"), Constrained, &[(NamedChoice, Ignored), (ResponseFormat, Ignored)], Plan::Direct),
        ] {
            assert_eq!(planned(&choice, mode, features), expected, "{choice} {mode} {features:?}");
        }
    }

    #[test]
    fn a_refused_choice_leaves_the_format() {
        let body = json!({"tools": [tool("a")]});
        for (refused, constraint) in [
            (vec![], Some(Constraint::NamedChoice)),
            (vec![Quirk::ToolChoice], Some(Constraint::ResponseFormat)),
            (vec![Quirk::ToolChoice, Quirk::ResponseFormat], None),
        ] {
            let quirks = refused.into_iter().collect();
            assert_eq!(plan(&body, ToolsMode::Constrained, &Capabilities::default(), &quirks).1, constraint);
        }
    }
}
