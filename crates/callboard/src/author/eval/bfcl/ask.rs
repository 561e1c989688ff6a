//! Questions put to a model through the gateway, as a client's request would be: same checks, same repairs, same re-asks.

use std::io::Write;

use callboard_core::contract::Call;
use callboard_core::turn::Event;
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::ChatRequest;
use serde_json::json;

use super::questions::Question;
use crate::author::eval::pairing::pair_in_any_order;
use crate::author::eval::report::{Report, told};
use crate::author::eval::verdict::{Heard, Made, Verdict, written};
use crate::author::recorded_turn::{EventLog, RecordedTurn};
use crate::conversation::Saving;
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
        let turn = RecordedTurn::run(prepare(app, model, question).await).await;
        let mut heard = Heard { failure: turn.failure, ..Heard::default() };
        turn.events.into_iter().for_each(|event| hear(&mut heard, event));
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
    };
    let driver = TurnDriver::gateway(context, request, routes);
    Ok(Session::new(Some(driver), EventLog::default(), Saving::Nothing))
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
