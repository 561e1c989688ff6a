//! A character with its tools compiled, so that a call is validated before it runs, as in a turn.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;

use anyhow::{Context as _, anyhow};
use callboard_core::contract::{CallRules, CheckBudget, RawCall, SchemaLimits, ToolSet, check_arguments};
use callboard_python::{CallOutcome, CallRequest, Character, HostSettings, Limits, OutputSink, PythonHost};
use serde_json::{Value, json};

/// The most bytes of arguments of a call.
const ARGUMENTS: usize = 2048;

pub(crate) struct Player {
    character: Character,
    tools: ToolSet,
    rules: CallRules,
}

impl Player {
    /// Loads a file in a separate interpreter.
    pub(crate) async fn load(file: &Path, limits: Limits) -> anyhow::Result<Self> {
        let settings = HostSettings { limits, output: silent_terminal()?, ..HostSettings::new("python3") };
        let company = PythonHost::start(settings)?;
        let character = company.load(file, "player").await.map_err(|failure| anyhow!("{failure}"))?;
        let tools =
            character.manifest().tools.iter().map(
                |tool| json!({"type": "function", "function": {"name": tool.name, "parameters": tool.parameters}}),
            );
        let tools = ToolSet::compile(&Value::Array(tools.collect()), SchemaLimits::default())
            .map_err(|error| anyhow!("{error:?}"))?;
        Ok(Self { character, tools, rules: CallRules::default() })
    }

    /// The state at the beginning of a conversation.
    pub(crate) async fn open(&self) -> anyhow::Result<Option<String>> {
        Ok(self.character.start_conversation().await?.state)
    }

    /// Checks a call as a model made it, and runs it.
    pub(crate) async fn call(&self, raw: &RawCall, state: Option<&str>) -> anyhow::Result<CallOutcome> {
        let checked = check_arguments(raw, &self.tools, &self.rules, &mut CheckBudget::new(ARGUMENTS))
            .map_err(|violation| anyhow!("{violation:?}"))?;
        let checked = checked.first().context("a call came out as none")?;
        let order = CallRequest {
            tool: &checked.tool,
            arguments: checked.arguments.as_str(),
            state,
            heard: None,
            conversation: "bench",
        };
        Ok(self.character.call(order).await)
    }
}

/// A call as it comes from a model server.
pub(crate) fn raw_call(tool: &str, arguments: &str) -> RawCall {
    RawCall { name: tool.to_owned(), arguments: arguments.to_owned(), ..RawCall::default() }
}

/// Line-buffered like a terminal, but discarded.
fn silent_terminal() -> anyhow::Result<OutputSink> {
    let nowhere = Mutex::new(OpenOptions::new().write(true).open("/dev/null")?);
    Ok(OutputSink::new(move |line| {
        if let Ok(mut nowhere) = nowhere.lock() {
            let _ = writeln!(nowhere, "{line}");
        }
    }))
}
