//! The cases of one character, one after the other: with a model, or with the calls that the cases themselves want.

use std::io::Write;
use std::sync::Arc;

use callboard_core::contract::ToolCache;
use serde_json::{Map, Value, json};

use super::cases::{Case, CaseFile, ExpectedCall};
use super::judge::{Offer, judge};
use super::opening;
use super::play::play;
use super::report::{Report, told};
use super::samples;
use super::undo_wish;
use super::verdict::{Heard, Verdict, written};
use crate::author::scenario::{ScriptedCall, ScriptedReply};
use crate::author::script::Script;
use crate::characters::{LoadedCharacter, UNDO};
use crate::config::Settings;
use crate::store::CharacterMemory;
use crate::upstream::{Client, Upstreams};

/// Where cases are played.
pub(super) struct Venue<'a> {
    /// The character.
    pub(super) role: Arc<LoadedCharacter>,
    /// The settings.
    pub(super) settings: &'a Settings,
    /// Compiled tools.
    pub(super) tools: &'a ToolCache,
    /// The model servers.
    pub(super) upstreams: &'a Upstreams,
    /// The way to them.
    pub(super) client: Client,
}

impl Venue<'_> {
    /// Asks the model, once for each case. With a script, what the case wants is done instead, once for each way to want it.
    pub(super) async fn play(
        &self,
        file: &CaseFile,
        script: Option<&Script>,
        report: &mut Report,
        out: &mut impl Write,
    ) -> anyhow::Result<()> {
        for case in &file.cases {
            let alternatives = case.expect.alternatives();
            let times = if script.is_some() { alternatives.len() } else { 1 };
            for wanted in alternatives.into_iter().take(times) {
                let (heard, verdict) = match opening::open(&self.role.character, file, case).await {
                    Ok(past) => match script {
                        Some(script) => self.scripted(case, wanted, script, past).await,
                        None => self.judged(case, past).await,
                    },
                    Err(error) => unplayed(case, &error),
                };
                report.count(&case.kind, verdict);
                if !verdict.is_right() {
                    report.tell(&failing(case, &heard, verdict), out)?;
                }
            }
        }
        Ok(())
    }

    /// A case whose own calls are made is right only where the stated state and finding come of them.
    async fn scripted(
        &self,
        case: &Case,
        wanted: &[ExpectedCall],
        script: &Script,
        past: CharacterMemory,
    ) -> (Heard, Verdict) {
        script.arm(&self.replies(wanted, &past).await);
        let (heard, verdict) = self.judged(case, past).await;
        let holds = verdict.holds != Some(false);
        (heard, Verdict { arguments: verdict.arguments && holds, ..verdict })
    }

    async fn judged(&self, case: &Case, past: CharacterMemory) -> (Heard, Verdict) {
        let before = past.record.state().and_then(|state| serde_json::from_str(state).ok()).unwrap_or_default();
        let heard = play(self, past, &case.say).await;
        let manifest = self.role.character.manifest();
        let offer = Offer { tools: &manifest.tools, undo: manifest.undo };
        let verdict = judge(&case.expect, &heard, &before, offer);
        (heard, verdict)
    }

    /// A model that makes exactly these calls, and then says nothing.
    async fn replies(&self, wanted: &[ExpectedCall], past: &CharacterMemory) -> Vec<ScriptedReply> {
        let names = self.role.character.names(past.record.state()).await.ok().flatten();
        let calls: Vec<ScriptedCall> =
            wanted.iter().filter_map(|wanted| self.scripted_call(wanted, past, names.as_ref())).collect();
        let silence = ScriptedReply { text: String::new(), calls: Vec::new() };
        if calls.is_empty() {
            return vec![silence];
        }
        vec![ScriptedReply { text: String::new(), calls }, silence]
    }

    fn scripted_call(
        &self,
        wanted: &ExpectedCall,
        past: &CharacterMemory,
        names: Option<&Value>,
    ) -> Option<ScriptedCall> {
        let (tool, arguments) = if wanted.undo {
            let changed_by = past.record.journal().iter().map(|entry| entry.call.tool.as_str());
            (UNDO.to_owned(), undo_wish::arguments_for(&wanted.target, changed_by))
        } else {
            let name = wanted.tool.clone()?;
            let tool = self.role.character.manifest().tool(&name);
            (name, tool.map(|tool| samples::whole(tool, &wanted.args, names)).unwrap_or_default())
        };
        let raw_arguments = Some(Value::Object(arguments).to_string());
        Some(ScriptedCall { tool, arguments: toml::Table::new(), raw_arguments })
    }
}

fn unplayed(case: &Case, error: &anyhow::Error) -> (Heard, Verdict) {
    let heard = Heard { failure: Some(format!("the case cannot be set up: {error:#}")), ..Heard::default() };
    let verdict = Verdict { wants_call: !case.expect.is_no_call(), ..heard.manner() };
    (heard, verdict)
}

/// A case that failed, in words.
fn failing(case: &Case, heard: &Heard, verdict: Verdict) -> String {
    let wanted = case.expect.alternatives().iter().map(|calls| listed(calls)).collect::<Vec<_>>().join(" or ");
    let mut words = told(&format!("{} {} {:?}", case.label(), case.kind, case.say), &wanted, heard);
    if verdict.holds == Some(false) {
        let stated = json!({"state": case.expect.state, "validation": case.expect.validation});
        words += &format!("  state:   is not {stated}\n");
    }
    words
}

fn listed(calls: &[ExpectedCall]) -> String {
    let call = |call: &ExpectedCall| match &call.tool {
        _ if call.undo => format!("undo of {}", call.target),
        Some(tool) => written(tool, &call.args) + if call.optional { " (optional)" } else { "" },
        None => written("any tool", &Map::new()),
    };
    if calls.is_empty() { "no call".to_owned() } else { calls.iter().map(call).collect::<Vec<_>>().join(", ") }
}
