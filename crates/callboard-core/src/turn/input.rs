//! All that can happen to a turn, and all that a turn can want.

use std::sync::Arc;

use super::ToolResult;
use crate::contract::{Call, CallRules, ResponseFormat, ToolSet, Violation};
use crate::model::{CallId, Delta, Finish, Item, Usage};

/// What a turn is about.
#[derive(Debug, Default)]
pub struct TurnRequest {
    /// The tools on offer.
    pub tools: Arc<ToolSet>,
    /// How many calls may and must come.
    pub rules: CallRules,
    /// What an answer in words must look like.
    pub format: ResponseFormat,
    /// Ids of calls that the conversation holds already.
    pub used_ids: Vec<String>,
    /// How many tokens the client wants written at most.
    pub most_tokens: Option<u64>,
}

/// How a turn is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnSettings {
    /// How often a model may be asked again.
    pub reasks: u32,
    /// Arguments are passed on as they grow, instead of being held until they are valid.
    pub stream_arguments: bool,
    /// The longest arguments of one call.
    pub arguments_bytes: usize,
}

impl Default for TurnSettings {
    fn default() -> Self {
        Self { reasks: 1, stream_arguments: false, arguments_bytes: 256 << 10 }
    }
}

/// How a character's turn is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageRules {
    /// How often tools may be run before the model must answer.
    pub rounds: u32,
    /// How much of a tool's result the model is told.
    pub result_characters: usize,
    /// The character acts instead of talking: an answer in words alone is counted.
    pub tools_only: bool,
    /// Such an answer is asked for once more, as a call.
    pub insists: bool,
    /// The first request of a turn asks for a call; what follows is free.
    pub requires_call: bool,
    /// How many tools may be run in all rounds together; calls of the client's tools do not count.
    pub most_calls: Option<u64>,
    /// Names among the tools on offer that are the client's to run; a call of one ends the turn.
    pub client_tools: Vec<String>,
}

impl Default for StageRules {
    fn default() -> Self {
        Self {
            rounds: 8,
            result_characters: 1000,
            tools_only: false,
            insists: false,
            requires_call: false,
            most_calls: None,
            client_tools: Vec::new(),
        }
    }
}

impl StageRules {
    /// Whether the client runs this tool.
    pub(super) fn is_clients(&self, name: &str) -> bool {
        self.client_tools.iter().any(|own| own == name)
    }
}

/// What happens to a turn.
#[derive(Debug)]
pub enum Input {
    /// The turn begins.
    Start,
    /// A piece of the model's reply.
    Delta(Delta),
    /// The reply is over, with or without a finish reason.
    ReplyEnded,
    /// The server refused to be asked again in this form.
    ReaskRefused,
    /// The reply broke off before anything of it was passed on: the same is asked again, elsewhere.
    ReplyLost,
    /// The tools of a round have been run.
    ToolsDone {
        /// Their results.
        results: Vec<ToolResult>,
        /// The time for this turn is over: no more tools.
        hurry: bool,
    },
    /// The user interrupted; what ran of the current round is given.
    Interrupted {
        /// Results of the calls that ran.
        results: Vec<ToolResult>,
    },
}

/// What a turn wants done.
#[derive(Debug)]
pub enum Action {
    /// Ask the model, and feed its reply back.
    CallModel(Ask),
    /// Run these calls, and feed their results back.
    RunTools(Vec<Call>),
    /// Pass this on to the client.
    Emit(Event),
    /// The turn is over.
    Finish(Ending),
}

/// A request to the model: the client's own, with something behind it when the model is asked again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ask {
    /// Items behind the client's messages.
    pub appended: Vec<Item>,
    /// Which tools the model may or must use.
    pub choice: AskChoice,
    /// How many tokens may still be written, where earlier requests of the turn have spent some of those that the client allows.
    pub tokens_left: Option<u64>,
}

/// The tool choice of one request to the model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AskChoice {
    /// As the client wrote it.
    #[default]
    AsRequested,
    /// This tool and no other.
    Force(String),
    /// Any tool, but a call.
    Required,
    /// These tools are offered and no others, and no call is due, whatever the client asked for.
    Only(Vec<String>),
    /// No tools are offered.
    WithoutTools,
}

/// What a client gets, piece by piece.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Text for the user.
    Text(String),
    /// The model's thinking.
    Reasoning(String),
    /// The model's refusal to answer.
    Refusal(String),
    /// Token probabilities of the text beside them.
    Logprobs(serde_json::Value),
    /// A call that keeps the contract.
    Call(Call),
    /// The head of a call whose arguments follow as they grow.
    CallBegins {
        /// Its id.
        id: CallId,
        /// The tool.
        name: String,
    },
    /// More of the arguments of the call that began last.
    CallGrows(String),
    /// A tool of a character is being run here.
    RunsTool(Call),
    /// A tool of a character has been run here.
    RanTool(ToolResult),
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// With a reply that keeps the contract.
    Complete {
        /// Why it ended.
        finish: Finish,
        /// Tokens spent by all requests together, where the server counts them.
        usage: Option<Usage>,
    },
    /// The model broke a promise and did not mend it when asked.
    Failed(Violation),
}
