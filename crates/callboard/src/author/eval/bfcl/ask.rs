//! Questions asked through the gateway like a client's request, with the same checks, repairs and re-asks.

use std::io::Write;

use callboard_core::contract::Call;
use callboard_core::turn::{Event, Turn, TurnSettings};
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::ChatRequest;
use serde_json::json;

use super::questions::Question;
use crate::app::App;
use crate::author::eval::call_matching::match_in_any_order;
use crate::author::eval::report::{Report, failed_case};
use crate::author::eval::verdict::{MadeCall, ModelTurn, Verdict, call_line};
use crate::random;
use crate::session::{Asking, Progress, Session, SessionParts, UnderWay};

/// Asks all questions.
pub(in crate::author::eval) async fn play(
    app: &App,
    model: &str,
    questions: &[Question],
    report: &mut Report,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    for question in questions {
        let turn = match session(app, model, question).await {
            Ok(session) => play_turn(session).await,
            Err(error) => ModelTurn { failure: Some(error.message), ..ModelTurn::default() },
        };
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

async fn session(app: &App, model: &str, question: &Question) -> Result<Session, ApiError> {
    let body = json!({"model": model, "messages": question.messages, "tools": question.tools, "temperature": 0});
    let (request, turn) = ChatRequest::read(body.to_string().into_bytes(), &app.tools)?;
    let (client, settings) = (app.client(), &app.settings);
    let routes = app.upstreams.routes(model, &client, None).await?;
    let turn_settings = TurnSettings {
        reasks: u32::try_from(settings.contract.reasks).unwrap_or(u32::MAX),
        stream_arguments: false,
        arguments_bytes: settings.limits.arguments_bytes,
    };
    let (retries, request_id) = (settings.limits.retries, "eval".to_owned());
    Ok(Session::new(SessionParts {
        turn: Turn::new(turn, turn_settings, Box::new(random::bytes)),
        request,
        asking: Asking { routes, client, authorization: None, retries, request_id, under_way: UnderWay::default() },
        idle: settings.timeouts.idle,
        keep_alive: settings.timeouts.keep_alive,
        reply_bytes: settings.limits.reply_bytes,
        performer: None,
    }))
}

async fn play_turn(mut session: Session) -> ModelTurn {
    let mut turn = ModelTurn::default();
    loop {
        match session.next().await {
            Progress::Events(events) => events.into_iter().for_each(|event| add(&mut turn, event)),
            Progress::KeepAlive => {}
            Progress::Failed(error) => {
                turn.failure = Some(error.message);
                return turn;
            }
            Progress::Complete(..) => return turn,
        }
    }
}

fn add(turn: &mut ModelTurn, event: Event) {
    match event {
        Event::Text(text) => turn.text.push_str(&text),
        Event::Call(Call { name, arguments, .. }) => {
            turn.attempts += 1;
            let arguments = serde_json::from_str(arguments.as_str()).unwrap_or_default();
            turn.calls.push(MadeCall { tool: name, arguments, ..MadeCall::default() });
        }
        _ => {}
    }
}

fn judge(question: &Question, turn: &ModelTurn) -> Verdict {
    let optional = vec![false; question.answers.len()];
    let all_match = |with_arguments: bool| {
        turn.failure.is_none()
            && match_in_any_order(&optional, turn.calls.len(), |answer, made| {
                question.answers.get(answer).zip(turn.calls.get(made)).is_some_and(|(answer, made)| {
                    answer.tool == made.tool && (!with_arguments || answer.accepts(&made.arguments))
                })
            })
    };
    let verdict = Verdict::of(turn, !question.answers.is_empty());
    Verdict { tools: all_match(false), arguments: all_match(true), ..verdict }
}
