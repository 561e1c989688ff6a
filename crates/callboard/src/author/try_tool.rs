//! `callboard try CHARACTER TOOL JSON`: runs one tool as a model's call would, and shows the result.

use std::io::Write;

use anyhow::bail;
use callboard_core::contract::{ToolCache, ViolationKind};
use callboard_core::turn::{ToolOutcome, ToolResult};
use callboard_core::wire::ApiError;

use crate::app;
use crate::characters::CharacterRegistry;
use crate::config::{Settings, nearest};
use crate::session::{CallContext, StandaloneCalls, StandaloneRun};

/// Marks the text that a model gets.
pub(super) const MODEL_TEXT: &str = "the model is told: ";

/// What is to be run.
pub(super) struct TriedCall {
    /// The character's id.
    pub(super) character: String,
    /// The tool.
    pub(super) tool: String,
    /// Its arguments.
    pub(super) arguments: String,
}

/// Runs the tool; false when it failed.
pub(super) async fn try_tool(
    registry: &CharacterRegistry,
    settings: &Settings,
    call: &TriedCall,
    out: &mut impl Write,
) -> anyhow::Result<bool> {
    let character = registry.load_one(&call.character).await?;
    let cache = ToolCache::new(app::schema_limits(&settings.limits));
    let context = CallContext { settings, cache: &cache, request_id: "terminal".to_owned() };
    let failed = |ApiError { message, .. }| anyhow::anyhow!(message);
    let memory = character.begin().await.map_err(failed)?;
    let mut calls = StandaloneCalls::resume(&character, memory, context).await.map_err(failed)?;
    if calls.tool_names().next().is_none() {
        bail!("{} has no tools", character.character.manifest().name);
    }
    match calls.call(&call.tool, &call.arguments).await {
        Ok(run) => show(&run, call, calls.result_characters(), out),
        Err(refused) if refused.violation.kind == ViolationKind::UnknownTool => {
            bail!(unknown_tool(&call.tool, calls.tool_names()))
        }
        Err(refused) => {
            writeln!(out, "{MODEL_TEXT}{}", refused.result.text)?;
            Ok(false)
        }
    }
}

fn show(run: &StandaloneRun, call: &TriedCall, most: usize, out: &mut impl Write) -> anyhow::Result<bool> {
    for repair in &run.repairs {
        writeln!(out, "repaired: {repair}")?;
    }
    for result in &run.results {
        show_result(result, call, most, out)?;
    }
    if let Some(state) = &run.state {
        writeln!(out, "state: {state}")?;
    }
    writeln!(out, "took {:.1} ms", run.took().as_secs_f64() * 1000.0)?;
    for traceback in run.results.iter().filter_map(|result| result.remark.as_ref()?.traceback.as_ref()) {
        writeln!(out, "\nTraceback (most recent call last):\n{traceback}")?;
    }
    Ok(run.results.iter().all(|result| result.outcome == ToolOutcome::Success))
}

fn show_result(result: &ToolResult, call: &TriedCall, most: usize, out: &mut impl Write) -> std::io::Result<()> {
    if let Some(ran) = result.ran.as_ref().filter(|ran| ran.arguments != call.arguments) {
        writeln!(out, "arguments: {}", ran.arguments)?;
    }
    if let Some(remark) = &result.remark {
        let kind = if result.outcome == ToolOutcome::Success { "warning" } else { "failed" };
        writeln!(out, "{kind}: {}", remark.summary)?;
    }
    let shortened = result.shortened_text(most);
    if shortened != result.text {
        let all = result.text.chars().count();
        writeln!(out, "cut: {all} characters, of which a model gets {most}; return less, or raise LIMITS[\"result\"]")?;
    }
    writeln!(out, "{MODEL_TEXT}{shortened}")
}

/// The message about a tool that is not among these.
pub(super) fn unknown_tool<'names>(name: &str, names: impl Iterator<Item = &'names str> + Clone) -> String {
    match nearest(name, names.clone()) {
        Some(meant) => format!("unknown tool `{name}`; did you mean `{meant}`?"),
        None => format!("unknown tool `{name}`; the tools are: {}", names.collect::<Vec<_>>().join(", ")),
    }
}
