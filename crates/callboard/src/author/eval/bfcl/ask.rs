//! Questions asked through the gateway like a client's request, with the same checks, repairs and re-asks.

use std::io::Write;

use callboard_core::contract::Call;
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::ChatRequest;
use serde_json::json;

use super::questions::Question;
use crate::author::eval::call_matching::match_in_any_order;
use crate::author::eval::report::{Report, failed_case};
use crate::author::eval::verdict::{MadeCall, ModelTurn, Verdict, call_line};
use crate::author::turn_runner::{EventLog, RecordedTurn};
use crate::conversation::Saving;
use crate::memory_budget::MemoryBudget;
use crate::services::Services;
use crate::session::{Session, TurnContext, TurnDriver};

/// Asks all questions.
pub(in crate::author::eval) async fn play(
    app: &Services,
    model: &str,
    questions: &[Question],
    report: &mut Report,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    for question in questions {
        let turn = model_turn(RecordedTurn::run(prepare(app, model, question).await).await);
        let verdict = judge(question, &turn);
        report.count(&question.category, verdict);
        if !verdict.is_right() {
            let calls: Vec<String> =
                question.answers.iter().map(|answer| call_line(&answer.tool, &answer.accepted)).collect();
            let expected = if calls.is_empty() { "no call".to_owned() } else { calls.join(", ") };
            report.show_failure(&failed_case(&question.id, &expected, &turn), out)?;
        }
    }
    Ok(())
}

async fn prepare(app: &Services, model: &str, question: &Question) -> Result<Session<EventLog>, ApiError> {
    let body = json!({"model": model, "messages": question.messages, "tools": question.tools, "temperature": 0});
    let request = ChatRequest::read(body.to_string().into_bytes(), &app.tools)?;
    let client = app.client();
    let routes = app.upstreams.routes(model, &client, None).await?;
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

fn model_turn(turn: RecordedTurn) -> ModelTurn {
    let call = |call: Call| {
        let arguments = serde_json::from_str(call.arguments.as_str()).unwrap_or_default();
        MadeCall { tool: call.name, arguments, ..MadeCall::default() }
    };
    let RecordedTurn { text, calls, failure, .. } = turn;
    let (attempts, calls) = (calls.len(), calls.into_iter().map(call).collect());
    ModelTurn { attempts, calls, text, failure, ..ModelTurn::default() }
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
