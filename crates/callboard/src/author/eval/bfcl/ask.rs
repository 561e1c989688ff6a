//! Questions asked through the gateway like a client's request, with the same checks, repairs and re-asks.

use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use callboard_core::contract::{Call, ToolSet};
use callboard_core::turn::TurnRequest;
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::ChatRequest;
use serde_json::{Value, json};

use super::direct::{self, DirectReply};
use super::questions::Question;
use super::valid_calls::WrittenCall;
use crate::author::eval::call_matching::match_in_any_order;
use crate::author::eval::comparison::{Comparison, Way};
use crate::author::eval::report::{Report, failed_case};
use crate::author::eval::verdict::{MadeCall, ModelTurn, Verdict, call_line};
use crate::author::turn_runner::{EventLog, RecordedTurn};
use crate::conversation::Saving;
use crate::memory_budget::MemoryBudget;
use crate::services::Services;
use crate::session::{Session, TurnContext, TurnDriver};

/// What is asked, and how.
pub(in crate::author::eval) struct Questions<'a> {
    /// The model.
    pub(in crate::author::eval) model: &'a str,
    /// The first of these are asked.
    pub(in crate::author::eval) questions: &'a [Question],
    /// Whether a call is required wherever one is expected.
    pub(in crate::author::eval) required: bool,
    /// Whether they are also asked without Callboard.
    pub(in crate::author::eval) direct: bool,
}

/// Asks all questions.
pub(in crate::author::eval) async fn play(
    app: &Services,
    asked: &Questions<'_>,
    report: &mut Report,
    comparison: &mut Comparison,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    for question in asked.questions {
        let body = asked.body(question);
        let began = Instant::now();
        let turn = through_callboard(app, &body).await;
        let verdict = judge(question, &turn);
        comparison.count(&question.category, Way::Callboard, &turn, verdict, began.elapsed());
        report.count(&question.category, verdict);
        if !verdict.is_right() {
            let calls: Vec<String> =
                question.answers.iter().map(|answer| call_line(&answer.tool, &answer.accepted)).collect();
            let expected = if calls.is_empty() { "no call".to_owned() } else { calls.join(", ") };
            report.show_failure(&failed_case(&question.id, &expected, &turn), out)?;
        }
        if asked.direct {
            let began = Instant::now();
            let turn = without_callboard(app, &body).await;
            let verdict = judge(question, &turn);
            comparison.count(&question.category, Way::Direct, &turn, verdict, began.elapsed());
        }
    }
    Ok(())
}

impl Questions<'_> {
    fn body(&self, question: &Question) -> Value {
        let choice = if self.required && !question.answers.is_empty() { "required" } else { "auto" };
        json!({
            "model": self.model,
            "messages": question.messages,
            "tools": question.tools,
            "tool_choice": choice,
            "temperature": 0,
        })
    }
}

async fn through_callboard(app: &Services, body: &Value) -> ModelTurn {
    let read = ChatRequest::read(body.to_string().into_bytes(), &app.tools);
    let tools = read.as_ref().map(|(_, turn)| Arc::clone(&turn.tools)).unwrap_or_default();
    let session = match read {
        Ok(request) => prepare(app, request).await,
        Err(error) => Err(error.into()),
    };
    let RecordedTurn { text, calls, failure, .. } = RecordedTurn::run(session).await;
    let written = |call: Call| WrittenCall { name: call.name, arguments: call.arguments.as_str().to_owned() };
    model_turn(&tools, calls.into_iter().map(written).collect(), text, failure)
}

async fn without_callboard(app: &Services, body: &Value) -> ModelTurn {
    let read = ChatRequest::read(body.to_string().into_bytes(), &app.tools);
    let tools = read.map(|(_, turn)| turn.tools).unwrap_or_default();
    match direct::ask(app, body.clone()).await {
        Ok(DirectReply { calls, text }) => model_turn(&tools, calls, text, None),
        Err(failure) => ModelTurn { failure: Some(failure), ..ModelTurn::default() },
    }
}

async fn prepare(app: &Services, request: (ChatRequest, TurnRequest)) -> Result<Session<EventLog>, ApiError> {
    let client = app.client();
    let routes = app.upstreams.routes(&request.0.model, &client, None).await?;
    let context = TurnContext {
        settings: &app.settings,
        tools: &app.tools,
        upstreams: &app.upstreams,
        client,
        authorization: None,
        request_id: "eval".to_owned(),
        memory: MemoryBudget::unlimited().start(),
    };
    let driver = TurnDriver::gateway(context, request, routes);
    Ok(Session::new(Some(driver), EventLog::default(), Saving::Nothing))
}

fn model_turn(tools: &ToolSet, calls: Vec<WrittenCall>, text: String, failure: Option<String>) -> ModelTurn {
    let valid = calls.iter().filter(|call| call.is_valid(tools)).count();
    let call = |call: WrittenCall| {
        let arguments = serde_json::from_str(&call.arguments).unwrap_or_default();
        MadeCall { tool: call.name, arguments, ..MadeCall::default() }
    };
    let (attempts, calls) = (calls.len(), calls.into_iter().map(call).collect());
    ModelTurn { attempts, calls, valid, text, failure, ..ModelTurn::default() }
}

fn judge(question: &Question, turn: &ModelTurn) -> Verdict {
    let optional = vec![false; question.answers.len()];
    let all_match = |with_arguments: bool| {
        turn.failure.is_none()
            && match_in_any_order(&optional, turn.calls.len(), |answer, made| {
                let (answer, made) = (&question.answers[answer], &turn.calls[made]);
                answer.tool == made.tool && (!with_arguments || answer.accepts(&made.arguments))
            })
    };
    let verdict = Verdict::of(turn, !question.answers.is_empty());
    Verdict { tools: all_match(false), arguments: all_match(true), ..verdict }
}
