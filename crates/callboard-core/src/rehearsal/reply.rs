//! Answers one request: with calls, with a summary of tool results, or with a short text about this model.

use serde_json::{Map, Value, json};

use super::catalogue::{Tool, tools_of};
use super::context::Context;
use super::conversation::{Conversation, conversation_of};
use super::example_phrases::tools_with_phrases;
use super::persona::{Persona, is_greeting, persona_of};
use super::plan::{Planned, Planner};
use super::vocabulary::Vocabulary;
use super::words::{Word, words_of};
use crate::turn::summarize_results;

/// The name of this model.
pub const MODEL: &str = "rehearsal";

const WHO_I_AM: &str = "I am Callboard's rehearsal model: a set of rules, not a language model. I call tools when the words \
                        clearly ask for one, and I cannot chat. To talk with a real model, start Callboard with \
                        --upstream URL of any OpenAI-compatible server.";
const UNSURE: &str = "I did not find a tool for that. I am Callboard's rehearsal model, a set of rules; a real model \
                      (--upstream URL) understands more.";
const WHO_PLAYS: &str = "This is Callboard's rehearsal model, a set of rules that cannot chat; for a conversation, start Callboard with \
                         --upstream URL of any OpenAI-compatible server.";

const MOST_BYTES: usize = 4_000;

/// What `tool_choice` allows.
enum Choice {
    Auto,
    None,
    Required,
    Named(String),
}

/// Answers the body of a chat request with the body of a whole chat completion.
pub fn reply(request: &Value) -> Value {
    let conversation = conversation_of(request);
    if !conversation.results.is_empty() {
        return completion(&summarize_results(conversation.results.iter().map(String::as_str)), &[]);
    }
    let tools = tools_of(request);
    let (vocabulary, context) = (Vocabulary::of(&tools), Context::read(&conversation.system));
    let last = conversation.last_call.as_ref().map(|(name, arguments)| (name.as_str(), arguments.clone()));
    let planner = Planner::new(&tools, &vocabulary, &context, last);
    let choice = choice_of(request);
    let mut calls = calls_for(&choice, (&tools, &planner), &conversation);
    if request.get("parallel_tool_calls") == Some(&Value::Bool(false)) {
        calls.truncate(1);
    }
    if !calls.is_empty() {
        return completion("", &calls);
    }
    let offered = if matches!(choice, Choice::None) { &[] } else { tools.as_slice() };
    let planner = Planner::new(offered, &vocabulary, &context, None);
    completion(&own_words(offered, &planner, &conversation), &calls)
}

fn calls_for(choice: &Choice, (tools, planner): (&[Tool], &Planner<'_>), conversation: &Conversation) -> Vec<Planned> {
    if tools.is_empty() || matches!(choice, Choice::None) {
        return Vec::new();
    }
    let words = words_of(start_of(&conversation.last_message));
    match choice {
        Choice::Named(name) => {
            let tool = tools.iter().position(|tool| tool.name == *name);
            let planned = plan_with_unanswered(planner, conversation, &words);
            let fitting: Vec<Planned> = planned.into_iter().filter(|call| call.tool == *name).collect();
            if fitting.is_empty() {
                tool.and_then(|tool| planner.forced(&words, tool)).map(|(_, call)| call).into_iter().collect()
            } else {
                fitting
            }
        }
        Choice::Required => {
            let planned = plan_with_unanswered(planner, conversation, &words);
            if planned.is_empty() { most_likely(planner, tools.len(), &words).into_iter().collect() } else { planned }
        }
        _ => plan_with_unanswered(planner, conversation, &words),
    }
}

/// Truncates a message to the length that is read.
fn start_of(text: &str) -> &str {
    let end = (0..=MOST_BYTES.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..end).unwrap_or(text)
}

/// Plans the last message; if it yields no call, together with the unanswered messages before it.
fn plan_with_unanswered(planner: &Planner<'_>, conversation: &Conversation, words: &[Word]) -> Vec<Planned> {
    let leads = |word: &Word| super::lexicon::PREPOSITIONS.contains(&word.lower);
    let fragment = words.first().is_some_and(leads);
    let alone = if fragment && !conversation.unanswered.is_empty() { Vec::new() } else { planner.plan(words) };
    if !alone.is_empty() {
        return alone;
    }
    let begun = conversation.unanswered.iter().rev().scan(String::new(), |later, earlier| {
        *later = format!("{earlier} {later}");
        Some(later.clone())
    });
    let longer: Vec<String> = begun.collect();
    let begins = |text: &&String| !words_of(text).first().is_some_and(leads);
    let found = longer
        .iter()
        .filter(begins)
        .map(|begun| planner.plan(&words_of(&format!("{begun} {}", conversation.last_message))))
        .find(|plan| !plan.is_empty());
    found.unwrap_or_else(|| if fragment { planner.plan(words) } else { Vec::new() })
}

fn most_likely(planner: &Planner<'_>, tools: usize, words: &[Word]) -> Option<Planned> {
    let tries = (0..tools).filter_map(|tool| planner.forced(words, tool));
    tries
        .fold(None, |best: Option<(f32, Planned)>, one| match best {
            Some(other) if other.0 >= one.0 => Some(other),
            _ => Some(one),
        })
        .map(|(_, call)| call)
}

fn choice_of(request: &Value) -> Choice {
    match request.get("tool_choice") {
        Some(Value::String(word)) if word == "none" => Choice::None,
        Some(Value::String(word)) if word == "required" || word == "any" => Choice::Required,
        Some(Value::Object(choice)) => {
            let name = choice.get("function").and_then(|function| function.get("name")).or(choice.get("name"));
            name.and_then(Value::as_str).map_or(Choice::Auto, |name| Choice::Named(name.to_owned()))
        }
        _ => Choice::Auto,
    }
}

/// The text of a reply without a call: who speaks, and what could be said instead. Empty if the prompt wants actions only.
fn own_words(tools: &[Tool], planner: &Planner<'_>, conversation: &Conversation) -> String {
    if !tools.is_empty() && wants_silence(&conversation.system) {
        return String::new();
    }
    let persona = persona_of(&conversation.system);
    let opening = match persona {
        Some(Persona { introduction, greeting }) if is_greeting(&conversation.last_message) => {
            format!("{greeting}. {introduction}. {WHO_PLAYS}")
        }
        Some(Persona { introduction, .. }) if tools.is_empty() => format!("{introduction}. {WHO_PLAYS}"),
        _ if tools.is_empty() => WHO_I_AM.to_owned(),
        _ => UNSURE.to_owned(),
    };
    match tools {
        [] => opening,
        tools => format!("{opening} You could say:{}", tools_with_phrases(tools, planner)),
    }
}

fn wants_silence(system: &str) -> bool {
    const SILENT: &[&str] = &[
        "do not chat",
        "don't chat",
        "never chat",
        "not chat",
        "tool-calling agent",
        "tools only",
        "only call tools",
        "do not reply with text",
        "do not answer with text",
        "without text",
        "no text",
        "instead of chatting",
        "act instead of",
        "no chatter",
    ];
    let lower = system.to_lowercase();
    SILENT.iter().any(|phrase| lower.contains(phrase))
}

fn completion(text: &str, calls: &[Planned]) -> Value {
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    message.insert("content".to_owned(), if calls.is_empty() { json!(text) } else { Value::Null });
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), calls.iter().map(call_json).collect());
    }
    let finish = if calls.is_empty() { "stop" } else { "tool_calls" };
    json!({
        "object": "chat.completion",
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    })
}

fn call_json(call: &Planned) -> Value {
    let arguments = Value::Object(call.arguments.clone()).to_string();
    json!({"type": "function", "function": {"name": call.tool, "arguments": arguments}})
}
