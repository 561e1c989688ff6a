//! Property tests for the call assembler: random calls, split at random and with every server fault, are reassembled.

use callboard_core::contract::{SchemaLimits, ToolSet};
use callboard_core::model::{BadRequest, CallFragment};
use callboard_core::turn::Assembler;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const NAMES: [&str; 3] = ["find_play", "book_seats", "ring_bell"];

/// A call, with the places where its arguments are split.
#[derive(Debug, Clone)]
struct Meant {
    name: &'static str,
    arguments: String,
    cuts: Vec<prop::sample::Index>,
}

/// A fault of a server.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    None,
    NoIndex,
    EveryIndexZero,
    IndexOffset(u64),
    HeadOnEveryFragment,
    NoIds,
    NoIdsAndNoIndex,
    EmptyIdsAndNames,
    IdOnEveryFragment,
    WholeAndEveryIndexZeroWithoutIds,
}

const FAULTS: [Fault; 11] = [
    Fault::None,
    Fault::NoIndex,
    Fault::EveryIndexZero,
    Fault::IndexOffset(1),
    Fault::IndexOffset(7),
    Fault::HeadOnEveryFragment,
    Fault::NoIds,
    Fault::NoIdsAndNoIndex,
    Fault::EmptyIdsAndNames,
    Fault::IdOnEveryFragment,
    Fault::WholeAndEveryIndexZeroWithoutIds,
];

fn tools() -> Result<ToolSet, BadRequest> {
    let list: Vec<Value> = NAMES
        .iter()
        .map(|name| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}))
        .collect();
    ToolSet::compile(&list.into(), SchemaLimits::default())
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(("[a-z{}\"]{1,4}", inner), 0..3)
                .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn meant() -> impl Strategy<Value = Meant> {
    let arguments = prop::collection::vec(("[a-z]{1,5}", json_value()), 0..4)
        .prop_map(|entries| Value::Object(entries.into_iter().collect()).to_string());
    (prop::sample::select(&NAMES[..]), arguments, prop::collection::vec(any::<prop::sample::Index>(), 0..6))
        .prop_map(|(name, arguments, cuts)| Meant { name, arguments, cuts })
}

/// The arguments split between characters.
fn pieces(call: &Meant) -> Vec<String> {
    let letters: Vec<char> = call.arguments.chars().collect();
    let mut places: Vec<usize> =
        call.cuts.iter().map(|cut| cut.index(letters.len())).chain([0, letters.len()]).collect();
    places.sort_unstable();
    places.dedup();
    places.windows(2).map(|pair| letters[pair[0]..pair[1]].iter().collect()).collect()
}

/// The fragments of one call as a server with this fault sends them: the head, then the pieces.
fn fragments(call: &Meant, place: u64, fault: Fault) -> Vec<CallFragment> {
    let index = match fault {
        Fault::NoIndex | Fault::NoIdsAndNoIndex => None,
        Fault::EveryIndexZero | Fault::WholeAndEveryIndexZeroWithoutIds => Some(0),
        Fault::IndexOffset(offset) => Some(place + offset),
        _ => Some(place),
    };
    let nameless = matches!(fault, Fault::NoIds | Fault::NoIdsAndNoIndex | Fault::WholeAndEveryIndexZeroWithoutIds);
    let id = (!nameless).then(|| format!("call_{place}"));
    let name = Some(call.name.to_owned());
    if fault == Fault::WholeAndEveryIndexZeroWithoutIds {
        return vec![CallFragment {
            index,
            id,
            name,
            arguments: Some(call.arguments.clone()),
            ..CallFragment::default()
        }];
    }
    let head = CallFragment {
        index,
        id: id.clone(),
        name: name.clone(),
        arguments: Some(String::new()),
        ..CallFragment::default()
    };
    let (again_id, again_name) = match fault {
        Fault::HeadOnEveryFragment => (id, name),
        Fault::IdOnEveryFragment => (id, None),
        Fault::EmptyIdsAndNames => (Some(String::new()), Some(String::new())),
        _ => (None, None),
    };
    let piece = |text| CallFragment {
        index,
        id: again_id.clone(),
        name: again_name.clone(),
        arguments: Some(text),
        ..CallFragment::default()
    };
    std::iter::once(head).chain(pieces(call).into_iter().map(piece)).collect()
}

fn assembled(fragments: impl IntoIterator<Item = CallFragment>, tools: &ToolSet) -> Vec<(String, String)> {
    let mut assembler = Assembler::default();
    for fragment in fragments {
        assembler.push(fragment, tools);
    }
    assembler.finish().0.into_iter().map(|call| (call.name, call.arguments)).collect()
}

/// The expected calls. If nothing separates two calls of one tool, their arguments stay concatenated here and are split when
/// they are read.
fn expected(calls: &[Meant], fault: Fault) -> Vec<(String, String)> {
    let mut expected: Vec<(String, String)> = Vec::new();
    for call in calls {
        match expected.last_mut().filter(|(name, _)| fault == Fault::NoIdsAndNoIndex && name == call.name) {
            Some((_, arguments)) => arguments.push_str(&call.arguments),
            None => expected.push((call.name.to_owned(), call.arguments.clone())),
        }
    }
    expected
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_fault_leads_to_the_same_calls(calls in prop::collection::vec(meant(), 0..5)) {
        let tools = tools().expect("tools that compile");
        for fault in FAULTS {
            let sent = (0..).zip(&calls).flat_map(|(place, call)| fragments(call, place, fault));
            prop_assert_eq!(assembled(sent, &tools), expected(&calls, fault), "{:?}", fault);
        }
    }

    #[test]
    fn interleaved_calls_come_apart(calls in prop::collection::vec(meant(), 1..4)) {
        let mut waiting: Vec<_> = (0..).zip(&calls).map(|(place, call)| fragments(call, place, Fault::None).into_iter()).collect();
        let mut sent = Vec::new();
        while waiting.iter().any(|fragments| fragments.len() > 0) {
            sent.extend(waiting.iter_mut().filter_map(Iterator::next));
        }
        prop_assert_eq!(assembled(sent, &tools().expect("tools that compile")), expected(&calls, Fault::None));
    }

    #[test]
    fn whole_calls_are_never_merged(calls in prop::collection::vec(meant(), 0..5)) {
        let whole = calls.iter().map(|call| CallFragment {
            index: Some(0), id: Some("same".to_owned()), name: Some(call.name.to_owned()), arguments: Some(call.arguments.clone()), whole: true, ..CallFragment::default() });
        prop_assert_eq!(assembled(whole, &tools().expect("tools that compile")), expected(&calls, Fault::None));
    }
}
