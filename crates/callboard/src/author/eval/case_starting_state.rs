//! The conversation that a case begins in: the character's opening, with the values of the case merged into its state.
//!
//! Journal calls are run on that state, so that they can be undone; earlier lines of the user come before the case's own.

use anyhow::{Context as _, bail};
use callboard_core::journal::{CallNote, StateRecord};
use callboard_python::{CallRequest, Character};
use serde_json::{Map, Value, json};

use super::cases::{Case, CaseFile, JournalCall};
use super::scripted_replies::with_samples;
use crate::store::CharacterMemory;

/// Parts of a state that a character derives from another part: where a case sets the first, the second is emptied.
const DERIVED: [(&str, &str); 1] = [("armies", "units")];

/// The user's message before a call of the journal: models refuse conversations that begin with their own message.
const UNKNOWN_MESSAGE: &str = "…";

/// The prefixes of tools that only read.
const READING: [&str; 4] = ["query_", "get_", "list_", "show_"];

/// Opens the conversation.
pub(super) async fn open(character: &Character, file: &CaseFile, case: &Case) -> anyhow::Result<CharacterMemory> {
    let opening = character.start_conversation().await.context("the character cannot begin a conversation")?;
    let state = match opening.state {
        Some(state) => Some(refreshed(character, merged_state(&state, file, case)?).await?),
        None => None,
    };
    let mut setup = Setup { character, record: StateRecord::new(state), messages: Vec::new() };
    for (place, call) in file.journal(case)?.iter().enumerate() {
        setup.run(place, call).await?;
    }
    let lines = file.recent(case)?.into_iter();
    setup.messages.extend(lines.map(|line| json!({"role": "user", "content": line}).to_string()));
    let Setup { record, messages, .. } = setup;
    let memory = CharacterMemory::new(&character.manifest().id, opening.system_prompt, None);
    Ok(CharacterMemory { record, messages, ..memory })
}

/// The character's state with the defaults of the file and the context of the case merged into it.
fn merged_state(state: &str, file: &CaseFile, case: &Case) -> anyhow::Result<String> {
    let state: Map<String, Value> = serde_json::from_str(state).context("the character's state is not an object")?;
    let mut merged: Map<String, Value> = Map::new();
    for (key, value) in state {
        let is_outdated = DERIVED.iter().any(|(from, built)| *built == key && file.mentions(case, from));
        let base = if is_outdated { json!({}) } else { value };
        merged.insert(key.clone(), file.value_before(case, &key, base));
    }
    Ok(Value::Object(merged).to_string())
}

/// A character may derive parts of its state only at its next call, so a call that only reads is made.
async fn refreshed(character: &Character, state: String) -> anyhow::Result<String> {
    let tools = &character.manifest().tools;
    let Some(tool) = tools.iter().find(|tool| READING.iter().any(|word| tool.name.starts_with(word))) else {
        return Ok(state);
    };
    let arguments = Value::Object(with_samples(tool, &Map::new(), None)).to_string();
    let order =
        CallRequest { tool: &tool.name, arguments: &arguments, state: Some(&state), heard: None, conversation: "eval" };
    let outcome = character.call(order).await;
    outcome.result.with_context(|| format!("{} failed in the state of the case", tool.name))?;
    Ok(outcome.state.unwrap_or(state))
}

/// A conversation that is being prepared.
struct Setup<'a> {
    character: &'a Character,
    record: StateRecord,
    messages: Vec<String>,
}

impl Setup<'_> {
    /// Runs a call of the journal, and adds it and its result to the conversation.
    async fn run(&mut self, place: usize, call: &JournalCall) -> anyhow::Result<()> {
        let (id, arguments) = (format!("journal_{}", place + 1), Value::Object(call.args.clone()).to_string());
        let state = self.record.state();
        let order = CallRequest { tool: &call.tool, arguments: &arguments, state, heard: None, conversation: "eval" };
        let outcome = self.character.call(order).await;
        let result = outcome.result.with_context(|| format!("{} of the journal failed", call.tool))?;
        let Some(state) = outcome.state else { bail!("{} of the journal changed nothing: {result}", call.tool) };
        let function = json!({"name": call.tool, "arguments": arguments});
        let spoken = json!([{"id": id, "type": "function", "function": function}]);
        self.messages.push(json!({"role": "user", "content": UNKNOWN_MESSAGE}).to_string());
        self.messages.push(json!({"role": "assistant", "content": null, "tool_calls": spoken}).to_string());
        self.messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}).to_string());
        let at = i64::try_from(place).unwrap_or(i64::MAX);
        self.record.change(CallNote { call_id: id, tool: call.tool.clone(), arguments, result, at }, state);
        Ok(())
    }
}
