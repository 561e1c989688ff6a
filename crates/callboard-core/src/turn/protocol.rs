//! The inputs and outputs of a turn: events from its driver, and actions for it.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::ToolResult;
use crate::contract::{Call, CallRules, CheckBudget, ResponseFormat, ToolSet, Violation};
use crate::model::{CallId, Delta, Finish, Item, OtherFields, Usage};

/// The client's request.
#[derive(Debug, Default)]
pub struct TurnRequest {
    /// The tools on offer.
    pub tools: Arc<ToolSet>,
    /// How many calls are allowed and required.
    pub rules: CallRules,
    /// The format of a text answer.
    pub format: ResponseFormat,
    /// Ids of earlier calls of the conversation.
    pub used_ids: Vec<String>,
    /// The client's token limit.
    pub most_tokens: Option<u64>,
}

/// Settings of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnSettings {
    /// The most re-asks per turn.
    pub reasks: u32,
    /// Arguments are streamed as they arrive, instead of being buffered until they are valid.
    pub stream_arguments: bool,
    /// The longest arguments of one call.
    pub arguments_bytes: usize,
    /// What sets that limit, for its error.
    pub arguments_limit: &'static str,
    /// The most calls of one reply.
    pub reply_calls: usize,
}

impl Default for TurnSettings {
    fn default() -> Self {
        Self {
            reasks: 1,
            stream_arguments: false,
            arguments_bytes: 256 << 10,
            arguments_limit: "limits.arguments_bytes",
            reply_calls: 10_000,
        }
    }
}

impl TurnSettings {
    /// What checking the calls of the turn may take.
    #[must_use]
    pub fn check_budget(&self) -> CheckBudget {
        CheckBudget::new(self.arguments_bytes).limited_by(self.arguments_limit)
    }
}

/// Settings of a character's turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CharacterRules {
    /// Rounds of tools before the model must answer.
    pub rounds: u32,
    /// The longest result of a tool that the model gets.
    pub result_characters: usize,
    /// The model's text is delivered; otherwise only calls and their results are.
    pub delivers_text: bool,
    /// After an answer without a call the model is asked once more.
    pub asks_again: bool,
    /// A turn whose calls all succeeded ends with a confirmation made from their results, without another request to the model.
    pub confirms: bool,
    /// The first request of a turn requires a call.
    pub requires_call: bool,
    /// Tools that may be run in all rounds together; calls of the client's tools do not count.
    pub most_calls: Option<u64>,
    /// Names of the offered tools that the client runs; a call of one ends the turn.
    pub client_tools: Vec<String>,
}

impl Default for CharacterRules {
    fn default() -> Self {
        Self {
            rounds: 8,
            result_characters: 1000,
            delivers_text: true,
            asks_again: false,
            confirms: false,
            requires_call: false,
            most_calls: None,
            client_tools: Vec::new(),
        }
    }
}

impl CharacterRules {
    /// Whether the client runs this tool.
    pub(super) fn is_clients(&self, name: &str) -> bool {
        self.client_tools.iter().any(|own| own == name)
    }
}

/// An input of a turn.
#[derive(Debug)]
pub enum Input {
    /// The turn starts.
    Start,
    /// A piece of the model's reply.
    Delta(Delta),
    /// Tokens that a request beside the reply took.
    ExtraUsage(Usage),
    /// The reply is over, with or without a finish reason.
    ReplyEnded,
    /// The server rejected the re-ask.
    ReaskRefused,
    /// The reply broke off before anything of it was passed on; the same request is sent again, perhaps to another server.
    ReplyLost,
    /// The tools of a round have been run.
    ToolsDone {
        /// Their results.
        results: Vec<ToolResult>,
        /// The turn is out of time: no more tools.
        out_of_time: bool,
    },
    /// The user interrupted.
    Interrupted {
        /// Results of the calls that ran.
        results: Vec<ToolResult>,
    },
}

/// An action for the driver.
#[derive(Debug)]
pub enum Action {
    /// Call the model, and feed its reply back.
    CallModel(ModelCall),
    /// Run these calls, and feed their results back.
    RunTools(Vec<Call>),
    /// Pass this on to the client.
    Emit(Event),
    /// The turn is over.
    Finish(Ending),
}

/// A request to the model: the client's own, with items appended when the model is asked again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelCall {
    /// Items appended to the client's messages.
    pub appended: Vec<Item>,
    /// Which tools the model may or must use.
    pub choice: ToolChoice,
    /// What is left of the client's token limit after earlier requests of the turn.
    pub tokens_left: Option<u64>,
}

/// The tool choice of one request to the model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// As the client wrote it.
    #[default]
    AsRequested,
    /// This tool and no other.
    Force(String),
    /// A call of any tool.
    Required,
    /// Only these tools are offered, and no call is required, whatever the client asked for.
    Only(Vec<String>),
    /// No tools are offered.
    WithoutTools,
}

/// An event for the client.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Text for the user.
    Text(String),
    /// The model's reasoning.
    Reasoning(String),
    /// The model's refusal to answer.
    Refusal(String),
    /// Token probabilities of the preceding text.
    Logprobs(Value),
    /// Fields of the model server's reply that Callboard does not know.
    Other(Box<OtherFields>),
    /// A valid call.
    Call(Call),
    /// The head of a call whose arguments are streamed.
    CallBegins {
        /// Its id.
        id: CallId,
        /// The tool.
        name: String,
        /// Fields of the call that Callboard does not know.
        other: Map<String, Value>,
    },
    /// More arguments of the last call.
    CallGrows(String),
    /// A character's tool is about to run.
    RunsTool(Call),
    /// A character's tool has run.
    RanTool(ToolResult),
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// With a valid reply.
    Complete {
        /// Why it ended.
        finish: Finish,
        /// Tokens used by all requests together, where the server counts them.
        usage: Option<Usage>,
    },
    /// The model violated the contract, even after re-asks.
    Failed(Violation),
}
