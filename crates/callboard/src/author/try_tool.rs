//! `callboard try CHARACTER TOOL JSON`: runs one tool as a model's call would, and shows the result.

use std::io::Write;

use anyhow::{Context as _, bail};
use callboard_core::contract::{
    CallRules, CheckBudget, RawCall, SchemaLimits, ToolCache, ViolationKind, check_arguments, tool_error_message,
};
use callboard_python::CallRequest;

use crate::characters::{CharacterRegistry, LoadedCharacter};
use crate::config::nearest;

/// Runs the tool; false when it failed.
pub(super) async fn try_tool(
    registry: &CharacterRegistry,
    id: &str,
    tool: &str,
    arguments: &str,
    out: &mut impl Write,
) -> anyhow::Result<bool> {
    let character = registry.load_one(id).await?;
    let call = RawCall { name: tool.to_owned(), arguments: arguments.to_owned(), ..RawCall::default() };
    let Some(arguments) = checked(&character, &call, out)? else { return Ok(false) };
    let opening =
        character.character.start_conversation().await.context("the character cannot begin a conversation")?;
    let order =
        CallRequest { tool, arguments: &arguments, state: opening.state.as_deref(), heard: None, conversation: "try" };
    let outcome = character.character.call(order).await;
    let took = outcome.took.as_secs_f64() * 1000.0;
    match &outcome.result {
        Ok(text) => writeln!(out, "{text}")?,
        Err(failure) => writeln!(out, "{}\n{failure}", failure.to_model_text())?,
    }
    if let Some(state) = &outcome.state {
        writeln!(out, "state: {state}")?;
    }
    writeln!(out, "took {took:.1} ms")?;
    Ok(outcome.result.is_ok())
}

/// The arguments as the tool would get them; none where they are not valid, and the reason is written.
fn checked(character: &LoadedCharacter, call: &RawCall, out: &mut impl Write) -> anyhow::Result<Option<String>> {
    if character.tools().is_empty() {
        bail!("{} has no tools", character.character.manifest().name);
    }
    let cache = ToolCache::new(SchemaLimits::default());
    let tools = cache.compiled(&serde_json::to_string(character.tools())?)?;
    match check_arguments(call, &tools, &CallRules::default(), &mut CheckBudget::new(usize::MAX)) {
        Err(violation) if violation.kind == ViolationKind::UnknownTool => bail!(unknown_tool(character, &call.name)),
        Err(violation) => {
            writeln!(out, "{}\n{violation}", tool_error_message(call, &violation))?;
            Ok(None)
        }
        Ok(checked) => {
            let first = checked.into_iter().next().context("no arguments")?;
            for repair in &first.repairs {
                writeln!(out, "repaired: {repair}")?;
            }
            Ok(Some(first.arguments.as_str().to_owned()))
        }
    }
}

/// The message about a tool that the character does not have.
pub(super) fn unknown_tool(character: &LoadedCharacter, name: &str) -> String {
    let names: Vec<&str> = character.character.manifest().tools.iter().map(|tool| tool.name.as_str()).collect();
    match nearest(name, names.iter().copied()) {
        Some(meant) => format!("unknown tool `{name}`; did you mean `{meant}`?"),
        None => format!("unknown tool `{name}`; the tools are: {}", names.join(", ")),
    }
}
