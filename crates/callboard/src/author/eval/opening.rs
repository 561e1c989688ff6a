//! The conversation that a case begins in: the character's own beginning, with what the case says laid over its state.
//!
//! Journal calls are carried out on top of that, so that they can be undone; earlier lines are said before the case's own.

use anyhow::{Context as _, bail};
use callboard_core::journal::CallNote;
use callboard_python::{CallRequest, Character};
use serde_json::{Map, Value, json};

use super::cases::{Case, CaseFile, JournalCall};
use super::samples;
use crate::session::Record;
use crate::stage::Past;

/// Parts of a state that a character builds from another part: where the first is laid anew, the second is emptied.
const BUILT_FROM: [(&str, &str); 1] = [("armies", "units")];

/// Stands for the words that led to a call of the journal: models refuse conversations that they themselves begin.
const UNTOLD: &str = "…";

/// How the names of tools begin that only look.
const LOOKING: [&str; 4] = ["query_", "get_", "list_", "show_"];

/// Opens the conversation.
pub(super) async fn open(character: &Character, file: &CaseFile, case: &Case) -> anyhow::Result<Past> {
    let opening = character.start_conversation().await.context("the character cannot begin a conversation")?;
    let state = match opening.state {
        Some(state) => Some(settled(character, laid_over(&state, file, case)?).await?),
        None => None,
    };
    let mut stage = Stage { character, record: Record::new(state), messages: Vec::new() };
    for (place, call) in file.journal(case)?.iter().enumerate() {
        stage.carry_out(place, call).await?;
    }
    let lines = file.recent(case)?.into_iter();
    stage.messages.extend(lines.map(|line| json!({"role": "user", "content": line}).to_string()));
    let Stage { record, messages, .. } = stage;
    Ok(Past { system_prompt: opening.system_prompt, record, messages, system: Vec::new() })
}

/// The character's state with the defaults of the file and the context of the case on it.
fn laid_over(state: &str, file: &CaseFile, case: &Case) -> anyhow::Result<String> {
    let state: Map<String, Value> = serde_json::from_str(state).context("the character's state is no object")?;
    let mut laid: Map<String, Value> = Map::new();
    for (key, value) in state {
        let is_outdated = BUILT_FROM.iter().any(|(from, built)| *built == key && file.mentions(case, from));
        let base = if is_outdated { json!({}) } else { value };
        laid.insert(key.clone(), file.holds(case, &key, base));
    }
    Ok(Value::Object(laid).to_string())
}

/// A character may build parts of its state at its next call only; a call that just looks makes it do so.
async fn settled(character: &Character, state: String) -> anyhow::Result<String> {
    let tools = &character.manifest().tools;
    let Some(tool) = tools.iter().find(|tool| LOOKING.iter().any(|word| tool.name.starts_with(word))) else {
        return Ok(state);
    };
    let arguments = Value::Object(samples::whole(tool, &Map::new(), None)).to_string();
    let order = CallRequest { tool: &tool.name, arguments: &arguments, state: Some(&state), conversation: "eval" };
    let outcome = character.call(order).await;
    outcome.result.with_context(|| format!("{} fails in the state of the case", tool.name))?;
    Ok(outcome.state.unwrap_or(state))
}

/// A conversation that is being prepared.
struct Stage<'a> {
    character: &'a Character,
    record: Record,
    messages: Vec<String>,
}

impl Stage<'_> {
    /// Carries out a call of the journal, and puts it and its result into the conversation.
    async fn carry_out(&mut self, place: usize, call: &JournalCall) -> anyhow::Result<()> {
        let (id, arguments) = (format!("journal_{}", place + 1), Value::Object(call.args.clone()).to_string());
        let state = self.record.state();
        let order = CallRequest { tool: &call.tool, arguments: &arguments, state, conversation: "eval" };
        let outcome = self.character.call(order).await;
        let result = outcome.result.with_context(|| format!("{} of the journal fails", call.tool))?;
        let Some(state) = outcome.state else { bail!("{} of the journal changes nothing: {result}", call.tool) };
        let function = json!({"name": call.tool, "arguments": arguments});
        let spoken = json!([{"id": id, "type": "function", "function": function}]);
        self.messages.push(json!({"role": "user", "content": UNTOLD}).to_string());
        self.messages.push(json!({"role": "assistant", "content": null, "tool_calls": spoken}).to_string());
        self.messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}).to_string());
        let at = i64::try_from(place).unwrap_or(i64::MAX);
        self.record.change(CallNote { call_id: id, tool: call.tool.clone(), arguments, result, at }, state);
        Ok(())
    }
}
