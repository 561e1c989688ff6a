//! Property test: random calls in random order are each answered once or passed to the client.

use std::collections::HashSet;

use callboard_core::contract::CallRules;
use callboard_core::model::{Finish, Item};
use callboard_core::turn::{CharacterRules, Ending, Event, ToolChoice};
use proptest::prelude::*;
use serde_json::Value;

use crate::script::{CLIENTS, OWN, Play, Played, Reply};

const CALLS: [&str; 8] = ["roll:1", "look:2", "roll:[]", "look:x", "show:1", "save:2", "show:[]", "fly:1"];

fn reply() -> impl Strategy<Value = Reply> {
    let calls = prop::collection::vec(prop::sample::select(CALLS.to_vec()).prop_map(str::to_owned), 0..6);
    let text = prop::sample::select(vec!["", "Words."]).prop_map(str::to_owned);
    (text, calls, prop::bool::weighted(0.1)).prop_map(|(text, calls, cut)| Reply { text, calls, cut })
}

fn call_rules() -> impl Strategy<Value = CallRules> {
    let allowed = prop::option::of(prop::sample::subsequence([OWN, CLIENTS].concat(), 1..4));
    let choice = prop::sample::select(vec![(false, false), (false, false), (true, false), (false, true)]);
    (allowed, choice, any::<bool>()).prop_map(|(allowed, (required, forbidden), parallel)| CallRules {
        allowed: allowed.map(|names| names.into_iter().map(str::to_owned).collect()),
        required,
        forbidden,
        parallel,
    })
}

fn stage_rules() -> impl Strategy<Value = CharacterRules> {
    let clients = prop::sample::subsequence(CLIENTS.to_vec(), 0..=2);
    (1..4_u32, prop::option::of(0..5_u64), any::<[bool; 4]>(), clients).prop_map(
        |(rounds, most_calls, flags, clients)| CharacterRules {
            rounds,
            most_calls,
            delivers_text: flags[0],
            asks_again: flags[1],
            confirms: flags[2],
            requires_call: flags[3],
            client_tools: clients.into_iter().map(str::to_owned).collect(),
            ..CharacterRules::default()
        },
    )
}

fn play() -> impl Strategy<Value = Play> {
    let replies = prop::collection::vec(reply(), 1..6);
    let moments = (prop::option::weighted(0.2, 0..3_usize), prop::option::weighted(0.2, 0..3_usize));
    let most_tokens = prop::option::weighted(0.3, 1..5_u64);
    (replies, stage_rules(), call_rules(), moments, most_tokens).prop_map(
        |(replies, stage, rules, moments, most_tokens)| {
            let (interrupted_in, late_after) = moments;
            Play { replies, stage, rules, interrupted_in, late_after, most_tokens }
        },
    )
}

/// The ids of calls without a result; every result must follow its own message, in the order of its calls.
fn unanswered(items: &[Item]) -> Vec<String> {
    let (mut open, mut seen) = (Vec::<String>::new(), HashSet::new());
    for item in items {
        match item {
            Item::Assistant { calls, .. } => {
                assert!(open.is_empty(), "something is said before all calls are answered");
                open = calls.iter().map(|call| call.id.to_string()).collect();
                assert!(open.iter().all(|id| seen.insert(id.clone())), "an id twice");
            }
            Item::ToolResult { id, .. } => {
                let place = open.iter().position(|open| open == id.as_str()).expect("a result for an open call");
                open.remove(place);
            }
            Item::Remark(_) => assert!(open.is_empty(), "a remark before all calls are answered"),
        }
    }
    open
}

/// Whether results are in the order of the calls.
fn results_are_in_order(items: &[Item]) -> bool {
    let calls = items.iter().flat_map(|item| match item {
        Item::Assistant { calls, .. } => calls.iter().map(|call| call.id.to_string()).collect(),
        _ => Vec::new(),
    });
    let calls: Vec<String> = calls.collect();
    let place = |item: &Item| match item {
        Item::ToolResult { id, .. } => calls.iter().position(|call| call == id.as_str()),
        _ => None,
    };
    items.iter().filter_map(place).is_sorted()
}

fn client_calls(played: &Played) -> Vec<String> {
    let call = |event: &Event| if let Event::Call(call) = event { Some(call.id.to_string()) } else { None };
    played.events.iter().filter_map(call).collect()
}

fn check_calls_that_leave(play: &Play, played: &Played) {
    for event in &played.events {
        let Event::Call(call) = event else { continue };
        assert!(play.stage.client_tools.contains(&call.name) && play.rules.allows(&call.name), "{call:?}");
        let arguments: Value = serde_json::from_str(call.arguments.as_str()).unwrap();
        assert!(arguments["n"].is_i64(), "{call:?}");
    }
    let last_run = played.events.iter().rposition(|event| matches!(event, Event::RanTool(_) | Event::RunsTool(_)));
    let first_call = played.events.iter().position(|event| matches!(event, Event::Call(_)));
    assert!(
        first_call.is_none_or(|call| last_run.is_none_or(|run| run < call)),
        "a tool ran behind the client's calls"
    );
}

fn check_runs(play: &Play, played: &Played) {
    let run: Vec<_> = played.rounds.iter().flatten().collect();
    assert!(run.iter().all(|call| !play.stage.client_tools.contains(&call.name) && play.rules.allows(&call.name)));
    let count = u64::try_from(run.len()).unwrap();
    assert!(play.stage.most_calls.is_none_or(|most| count <= most), "{count} tools ran");
    assert!(played.rounds.len() <= usize::try_from(play.stage.rounds).unwrap());
    let emitted: Vec<String> = played
        .events
        .iter()
        .filter_map(|event| if let Event::RunsTool(call) = event { Some(call.id.to_string()) } else { None })
        .collect();
    assert_eq!(emitted, run.iter().map(|call| call.id.to_string()).collect::<Vec<_>>());
}

fn check_end(play: &Play, played: &Played) {
    let (left, sent) = (unanswered(&played.transcript), client_calls(played));
    assert_eq!(left, sent, "calls are answered here or sent to the client, never both, never neither");
    let any_call = !sent.is_empty() || played.rounds.iter().any(|calls| !calls.is_empty());
    match &played.ending {
        Some(Ending::Complete { finish, usage }) => {
            assert_eq!(*finish == Finish::ToolCalls, !sent.is_empty());
            let asks = u64::try_from(played.asks.len()).unwrap();
            assert!(play.most_tokens.is_none_or(|most| asks <= most), "{asks} replies");
            assert_eq!(usage.as_ref().map(|usage| usage.prompt_tokens), Some(2 * asks));
            assert!(!play.rules.required || any_call || *finish == Finish::Length, "a call was due");
        }
        Some(Ending::Failed(_)) => assert!(play.rules.required && !any_call && sent.is_empty()),
        None => assert!(play.interrupted_in.is_some() && sent.is_empty()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_promise_holds(play in play()) {
        let played = play.play();
        check_calls_that_leave(&play, &played);
        check_runs(&play, &played);
        check_end(&play, &played);
        prop_assert!(results_are_in_order(&played.transcript));
        let accepted = |item: &Item| matches!(item, Item::ToolResult { text, .. } if text.starts_with("This call is accepted"));
        prop_assert!(!played.transcript.iter().any(accepted), "only the client answers its calls");
        for ask in &played.asks {
            prop_assert!(unanswered(&ask.appended).is_empty(), "the model is asked while a call is open");
            if let ToolChoice::Only(names) = &ask.choice {
                prop_assert!(!names.is_empty() && names.iter().all(|name| play.rules.allows(name)));
            }
        }
        let most = if play.rules.parallel { usize::MAX } else { 1 };
        let fits = |item: &Item| !matches!(item, Item::Assistant { calls, .. } if calls.len() > most);
        prop_assert!(played.transcript.iter().all(fits));
    }
}
