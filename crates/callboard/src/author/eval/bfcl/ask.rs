//! Questions put to a model through the gateway, as a client's request would be: same checks, same repairs, same re-asks.

use std::io::Write;

use callboard_core::contract::Call;
use callboard_core::turn::{Event, Turn, TurnSettings};
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::ChatRequest;
use serde_json::json;

use super::questions::Question;
use crate::author::eval::pairing::pair_in_any_order;
use crate::author::eval::report::{Report, told};
use crate::author::eval::verdict::{Heard, Made, Verdict, written};
use crate::random;
use crate::services::Services;
use crate::session::{Asking, Progress, Session, SessionParts, UnderWay};

/// Asks all questions.
pub(in crate::author::eval) async fn play(
    app: &Services,
    model: &str,
    questions: &[Question],
    report: &mut Report,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    for question in questions {
        let heard = match session(app, model, question).await {
            Ok(session) => listen(session).await,
            Err(error) => Heard { failure: Some(error.message), ..Heard::default() },
        };
        let verdict = judge(question, &heard);
        report.count(&question.category, verdict);
        if !verdict.is_right() {
            let wanted: Vec<String> =
                question.answers.iter().map(|answer| written(&answer.tool, &answer.accepted)).collect();
            let wanted = if wanted.is_empty() { "no call".to_owned() } else { wanted.join(", ") };
            report.tell(&told(&question.id, &wanted, &heard), out)?;
        }
    }
    Ok(())
}

async fn session(app: &Services, model: &str, question: &Question) -> Result<Session, ApiError> {
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

async fn listen(mut session: Session) -> Heard {
    let mut heard = Heard::default();
    loop {
        match session.next().await {
            Progress::Events(events) => events.into_iter().for_each(|event| hear(&mut heard, event)),
            Progress::KeepAlive => {}
            Progress::Failed(error) => {
                heard.failure = Some(error.message);
                return heard;
            }
            Progress::Complete(..) => return heard,
        }
    }
}

fn hear(heard: &mut Heard, event: Event) {
    match event {
        Event::Text(text) => heard.said.push_str(&text),
        Event::Call(Call { name, arguments, .. }) => {
            heard.attempts += 1;
            let arguments = serde_json::from_str(arguments.as_str()).unwrap_or_default();
            heard.calls.push(Made { tool: name, arguments, ..Made::default() });
        }
        _ => {}
    }
}

fn judge(question: &Question, heard: &Heard) -> Verdict {
    let required = vec![false; question.answers.len()];
    let pair = |with_arguments: bool| {
        heard.failure.is_none()
            && pair_in_any_order(&required, heard.calls.len(), |answer, made| {
                question.answers.get(answer).zip(heard.calls.get(made)).is_some_and(|(answer, made)| {
                    answer.tool == made.tool && (!with_arguments || answer.accepts(&made.arguments))
                })
            })
    };
    Verdict { wants_call: !question.answers.is_empty(), tools: pair(false), arguments: pair(true), ..heard.manner() }
}
