//! Metrics of characters and their tools. The names are those of existing dashboards.

use std::time::Duration;

use callboard_core::turn::ToolOutcome;
use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};

/// Bounds of the histograms of tools, in seconds.
pub(super) const TOOL_SECONDS: [f64; 7] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25];

pub(super) fn describe() {
    describe_counter!("character_tools_loaded_total", "Number of tools loaded per character");
    describe_counter!("character_tool_validation_errors_total", "Tool definition validation errors");
    describe_counter!("character_tool_calls_total", "Tool invocations by character and tool name, with their outcome");
    describe_counter!("character_tool_errors_total", "Tool execution errors");
    describe_histogram!("character_tool_latency_seconds", "Tool execution duration");
    describe_histogram!("character_tool_queue_seconds", "Time a call waited for a worker");
    describe_gauge!("worker_characters_loaded", "Characters loaded now");
    describe_gauge!("worker_characters_at_rest", "Loaded characters whose processes have ended until the next call");
    describe_counter!("worker_character_load_count", "Characters loaded, reloads included");
    describe_counter!("worker_character_load_errors", "Characters that could not be loaded, by kind");
    describe_histogram!("worker_character_load_duration", "Time until a folder of characters was loaded");
}

/// The label of all tools that the character does not have: models make up names.
pub const UNKNOWN_TOOL: &str = "unknown";

/// One call that was run, counted once. `tool` is one of the character's own names.
pub fn tool_call(character: &str, tool: &str, outcome: ToolOutcome, queued: Duration, took: Duration) {
    count(character, tool, outcome);
    histogram!("character_tool_latency_seconds", "tool_name" => tool.to_owned()).record(took.as_secs_f64());
    histogram!("character_tool_queue_seconds").record(queued.as_secs_f64());
}

/// One call that was refused or cancelled before it was run. `tool` is one of the character's own names, or [`UNKNOWN_TOOL`].
pub fn tool_not_run(character: &str, tool: &str, outcome: ToolOutcome) {
    count(character, tool, outcome);
}

fn count(character: &str, tool: &str, outcome: ToolOutcome) {
    let mut labels = vec![("character_name", character.to_owned()), ("tool_name", tool.to_owned())];
    labels.push(("outcome", outcome.as_str().to_owned()));
    labels.extend(outcome.error_type().map(|kind| ("error_type", kind.to_owned())));
    counter!("character_tool_calls_total", &labels).increment(1);
    if outcome != ToolOutcome::Success {
        let error_type = outcome.error_type().unwrap_or(outcome.as_str());
        counter!("character_tool_errors_total", "error_type" => error_type).increment(1);
    }
}

/// A character was loaded.
pub fn character_loaded(character: &str, tools: usize) {
    counter!("worker_character_load_count").increment(1);
    counter!("character_tools_loaded_total", "character_name" => character.to_owned()).increment(tools as u64);
}

/// A file could not be loaded.
pub fn load_problem(kind: &'static str) {
    counter!("worker_character_load_errors", "error_type" => kind).increment(1);
    if matches!(kind, "missing_handler" | "invalid_schema" | "duplicate_name") {
        counter!("character_tool_validation_errors_total", "error_type" => kind).increment(1);
    }
}

/// How many loaded characters are at rest.
pub fn at_rest(characters: usize) {
    gauge!("worker_characters_at_rest").set(characters as f64);
}

/// A folder has been loaded.
pub fn folder_loaded(characters: usize, took: Duration) {
    gauge!("worker_characters_loaded").set(characters as f64);
    histogram!("worker_character_load_duration").record(took.as_secs_f64());
}
