//! The other reading of a text: `dynamo-parsers-v2`.

use dynamo_parsers_v2::{
    Tool, UnifiedEvent, UnifiedParserInit, UnifiedParserOutput, create_tool_parser_for_family,
    create_unified_parser_for_family,
};
use serde_json::Value;

use crate::corpus::{Case, tools};
use crate::family_forms::Oracle;
use crate::reading::Reading;

/// The text in one piece; nothing where they do not know the family.
pub(crate) fn read(case: &Case) -> Option<Reading> {
    let reading = match case.oracle {
        Oracle::None => return None,
        Oracle::Unified(family) => unified(family, case),
        Oracle::ToolsOnly(family) => tools_only(family, case),
    };
    Some(reading.unwrap_or_else(|error| Reading::new(&format!("(fails: {error})"), "", Vec::new())))
}

/// Reasoning, text and calls from one parser.
fn unified(family: &str, case: &Case) -> anyhow::Result<Reading> {
    let mut parser = create_unified_parser_for_family(family, &their_tools())?;
    parser.initialize_request(UnifiedParserInit::default())?;
    let mut output = UnifiedParserOutput::default();
    parser.parse_into(&case.text, &mut output)?;
    let mut tail = if case.cut { parser.finish() } else { parser.finish_at_eos() }?;
    output.append(&mut tail);
    let (mut text, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
    for event in output.assembled() {
        match event {
            UnifiedEvent::Text { text: words } => text.push_str(&words),
            UnifiedEvent::Reasoning { text: words } => reasoning.push_str(&words),
            UnifiedEvent::ToolCall { name, arguments } => calls.push((name, arguments)),
            UnifiedEvent::MessageStart { .. } | UnifiedEvent::MessageEnd => {}
        }
    }
    Ok(Reading::new(&text, &reasoning, calls))
}

/// A family that has only a parser of calls there: it does not separate thinking from text.
fn tools_only(family: &str, case: &Case) -> anyhow::Result<Reading> {
    let mut parser = create_tool_parser_for_family(family, &their_tools())?;
    let mut result = parser.push(&case.text)?;
    result.append(parser.finish()?);
    let result = result.coalesce_calls();
    let value = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
    let calls = result.calls.iter().map(|call| (call.name.clone().unwrap_or_default(), value(&call.arguments)));
    Ok(Reading::new(&result.normal_text, "", calls.collect()))
}

fn their_tools() -> Vec<Tool> {
    let list = tools();
    let tool = |tool: &Value| Tool {
        name: tool["function"]["name"].as_str().unwrap_or_default().to_owned(),
        description: None,
        parameters: tool["function"]["parameters"].clone(),
        strict: None,
    };
    list.as_array().into_iter().flatten().map(tool).collect()
}
