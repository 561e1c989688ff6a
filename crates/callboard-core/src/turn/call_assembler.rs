//! Native tool calls assembled from the fragments that servers send.
//!
//! Servers leave out, repeat or invent `index`, `id` and `name`; some send two calls under one index, some repeat the head
//! with every fragment, some cut a name in two. The rules here decide for each fragment whether it continues a call or begins
//! one. They depend only on the fragments, not on how the bytes were split.

use serde_json::{Map, Value};

use super::arguments_end::ArgumentsEnd;
use super::call_places::CallPlaces;
use crate::contract::{RawCall, ToolSet};
use crate::model::CallFragment;

/// Calls that are being assembled.
#[derive(Debug, Default)]
pub struct Assembler {
    calls: Vec<PartialCall>,
    places: CallPlaces,
    /// Calls beyond this number are not kept.
    most_calls: Option<usize>,
    over_limit: bool,
}

#[derive(Debug, Default)]
pub(super) struct PartialCall {
    index: Option<u64>,
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) arguments: String,
    pub(super) other: Map<String, Value>,
    end: ArgumentsEnd,
    whole: bool,
    object: bool,
}

impl Assembler {
    /// Keeps no more than this number of calls.
    #[must_use]
    pub fn with_limit(most_calls: usize) -> Self {
        Self { most_calls: Some(most_calls), ..Self::default() }
    }

    /// Whether a call was left out.
    #[must_use]
    pub fn is_over_limit(&self) -> bool {
        self.over_limit
    }

    /// Adds a fragment and returns the number of its call.
    pub fn push(&mut self, mut fragment: CallFragment, tools: &ToolSet) -> usize {
        fragment.id = fragment.id.filter(|id| !id.is_empty());
        fragment.name = fragment.name.filter(|name| !name.is_empty());
        let place = self.continued(&fragment, tools).unwrap_or(self.calls.len());
        if place == self.calls.len() && !self.begin(&fragment) {
            return place;
        }
        if let Some(call) = self.calls.get_mut(place) {
            let nameless = call.id.is_none();
            call.take(fragment, tools);
            if let Some(id) = call.id.as_deref().filter(|_| nameless) {
                self.places.set_id(place, id, call.index);
            }
        }
        place
    }

    /// Begins a call, unless there are too many.
    fn begin(&mut self, fragment: &CallFragment) -> bool {
        if self.most_calls.is_some_and(|most| self.calls.len() >= most) {
            self.over_limit = true;
            return false;
        }
        self.places.add(self.calls.len(), fragment.index);
        self.calls.push(PartialCall { index: fragment.index, whole: fragment.whole, ..PartialCall::default() });
        true
    }

    /// The calls so far in the order in which they began, and whether every index was right.
    pub fn finish(&mut self) -> (Vec<RawCall>, bool) {
        let calls = std::mem::take(&mut self.calls);
        self.places = CallPlaces::default();
        let in_order = |(place, call): (usize, &PartialCall)| call.whole || call.index == u64::try_from(place).ok();
        let ordered = calls.iter().enumerate().all(in_order);
        let calls = calls.into_iter().map(|call| RawCall {
            id: call.id,
            name: call.name,
            arguments: call.arguments,
            from_text: false,
            object: call.object,
            other: call.other,
        });
        (calls.collect(), ordered)
    }

    pub(super) fn call(&self, place: usize) -> Option<&PartialCall> {
        self.calls.get(place)
    }

    /// The number of the call that a fragment continues; none when it begins a new one.
    fn continued(&self, fragment: &CallFragment, tools: &ToolSet) -> Option<usize> {
        if fragment.whole {
            return None;
        }
        let place = self.by_id(fragment).or_else(|| self.by_index(fragment))?;
        let call = self.calls.get(place)?;
        (!call.whole && !call.is_followed_by(fragment, tools)).then_some(place)
    }

    fn by_id(&self, fragment: &CallFragment) -> Option<usize> {
        self.places.of_id(fragment.id.as_deref()?, fragment.index)
    }

    fn by_index(&self, fragment: &CallFragment) -> Option<usize> {
        let last = self.calls.len().checked_sub(1)?;
        let Some(index) = fragment.index else { return Some(last) };
        let known = self.places.of_index(index);
        let stray = fragment.id.is_none()
            && fragment.name.is_none()
            && self.calls.get(last).is_some_and(|call| !call.is_complete());
        known.or_else(|| {
            (stray || self.calls.get(last).is_some_and(|call| call.index.is_none() && fragment.name.is_none()))
                .then_some(last)
        })
    }
}

impl PartialCall {
    /// Whether a fragment that refers to this call begins a new one nevertheless.
    fn is_followed_by(&self, fragment: &CallFragment, tools: &ToolSet) -> bool {
        let ids_differ = self.id.is_some() && fragment.id.is_some() && self.id != fragment.id;
        let Some(name) = fragment.name.as_deref() else {
            return ids_differ && self.is_complete();
        };
        let opens = fragment.arguments.as_deref().is_some_and(|text| text.trim_start().starts_with('{'));
        if ids_differ {
            let bare_head = fragment.arguments.as_deref().is_none_or(str::is_empty);
            return self.arguments.is_empty() || self.is_complete() || opens || bare_head;
        }
        if self.name.is_empty() {
            return false;
        }
        if self.is_complete() {
            return opens || name != self.name;
        }
        self.arguments.is_empty() && !continues_name(&self.name, name, tools)
    }

    fn is_complete(&self) -> bool {
        self.whole || self.end.is_complete()
    }

    fn take(&mut self, fragment: CallFragment, tools: &ToolSet) {
        if self.id.is_none() {
            self.id = fragment.id;
        }
        if let Some(piece) = fragment.name {
            self.take_name(&piece, tools);
        }
        self.object |= fragment.object;
        self.other.extend(fragment.other);
        if let Some(text) = fragment.arguments {
            self.arguments.push_str(&text);
            // Nothing continues a whole call.
            if !self.whole {
                self.end.advance(&self.arguments);
            }
        }
    }

    fn take_name(&mut self, piece: &str, tools: &ToolSet) {
        if piece == self.name {
            return;
        }
        let grown = piece.starts_with(&self.name) && tools.get(piece).is_some();
        if grown {
            piece.clone_into(&mut self.name);
        } else if self.arguments.is_empty() || self.name.is_empty() {
            self.name.push_str(piece);
        }
    }
}

/// Whether `piece` continues the partial `name`, or repeats it.
fn continues_name(name: &str, piece: &str, tools: &ToolSet) -> bool {
    let could_grow = |known: &str| known.strip_prefix(name).is_some_and(|rest| rest.starts_with(piece));
    let is_whole = tools.get(name).is_some();
    piece == name || piece.starts_with(name) || tools.names().any(could_grow) || !is_whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::SchemaLimits;
    use serde_json::json;

    fn tools() -> ToolSet {
        let function =
            |name: &str| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}});
        let list = json!([function("get_weather"), function("edit_existing_file"), function("ping"), function("list")]);
        ToolSet::compile(&list, SchemaLimits::default()).unwrap()
    }

    type Piece<'a> = (Option<u64>, &'a str, &'a str, &'a str);
    type Row<'a> = (&'a str, Vec<Piece<'a>>, Vec<(&'a str, &'a str)>);

    fn assembled(pieces: &[Piece<'_>]) -> Vec<(String, String)> {
        let (tools, mut assembler) = (tools(), Assembler::default());
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        for (index, id, name, arguments) in pieces {
            let fragment = CallFragment {
                index: *index,
                id: some(id),
                name: some(name),
                arguments: some(arguments),
                ..CallFragment::default()
            };
            assembler.push(fragment, &tools);
        }
        assembler.finish().0.into_iter().map(|call| (call.name, call.arguments)).collect()
    }

    #[test]
    fn pieces_find_their_call() {
        let (paris, rome) = (r#"{"city":"Paris"}"#, r#"{"city":"Rome"}"#);
        let two = vec![("get_weather", paris), ("get_weather", rome)];
        let table: Vec<Row<'_>> = vec![
            (
                "well formed",
                vec![
                    (Some(0), "a", "get_weather", ""),
                    (Some(0), "", "", paris),
                    (Some(1), "b", "get_weather", ""),
                    (Some(1), "", "", rome),
                ],
                two.clone(),
            ),
            (
                "all index 0",
                vec![(Some(0), "a", "get_weather", paris), (Some(0), "b", "get_weather", rome)],
                two.clone(),
            ),
            (
                "all index 0, no ids",
                vec![(Some(0), "", "get_weather", paris), (Some(0), "", "get_weather", rome)],
                two.clone(),
            ),
            ("no index", vec![(None, "a", "get_weather", paris), (None, "b", "get_weather", rome)], two.clone()),
            (
                "no index, no ids, in pieces: glued here, taken apart when the arguments are read",
                vec![
                    (None, "", "get_weather", ""),
                    (None, "", "", paris),
                    (None, "", "get_weather", ""),
                    (None, "", "", rome),
                ],
                vec![("get_weather", r#"{"city":"Paris"}{"city":"Rome"}"#)],
            ),
            (
                "interleaved",
                vec![
                    (Some(0), "a", "get_weather", "{\"city\":"),
                    (Some(1), "b", "get_weather", "{\"city\":"),
                    (Some(0), "", "", "\"Paris\"}"),
                    (Some(1), "", "", "\"Rome\"}"),
                ],
                two.clone(),
            ),
            (
                "one id for two calls",
                vec![(Some(0), "a", "get_weather", paris), (Some(1), "a", "get_weather", rome)],
                two.clone(),
            ),
            (
                "head on every piece",
                vec![(Some(0), "a", "get_weather", "{\"city\""), (Some(0), "a", "get_weather", ":\"Paris\"}")],
                vec![("get_weather", paris)],
            ),
            (
                "head without id on every piece",
                vec![(Some(0), "", "get_weather", "{\"city\""), (Some(0), "", "get_weather", ":\"Paris\"}")],
                vec![("get_weather", paris)],
            ),
            (
                "a new id with every piece",
                vec![(Some(0), "a", "get_weather", "{\"city\""), (Some(0), "b", "", ":\"Paris\"}")],
                vec![("get_weather", paris)],
            ),
            (
                "all index 0, bare heads, damaged arguments",
                vec![
                    (Some(0), "a", "get_weather", ""),
                    (Some(0), "", "", "{'city':'Paris',}"),
                    (Some(0), "b", "get_weather", ""),
                    (Some(0), "", "", rome),
                ],
                vec![("get_weather", "{'city':'Paris',}"), ("get_weather", rome)],
            ),
            (
                "name in two pieces",
                vec![(Some(0), "a", "edit_ex", ""), (Some(0), "", "isting_file", ""), (Some(0), "", "", "{}")],
                vec![("edit_existing_file", "{}")],
            ),
            (
                "name that grows",
                vec![(Some(0), "a", "edit_ex", ""), (Some(0), "a", "edit_existing_file", "{}")],
                vec![("edit_existing_file", "{}")],
            ),
            (
                "no arguments, two tools",
                vec![(None, "", "ping", ""), (None, "", "list", "")],
                vec![("ping", ""), ("list", "")],
            ),
            (
                "no arguments, two ids",
                vec![(Some(0), "a", "ping", ""), (Some(0), "b", "ping", "")],
                vec![("ping", ""), ("ping", "")],
            ),
            (
                "index only on the head",
                vec![(Some(0), "a", "get_weather", ""), (None, "", "", paris)],
                vec![("get_weather", paris)],
            ),
            (
                "a stray index on the pieces",
                vec![(Some(0), "a", "get_weather", "{\"city\":"), (Some(1), "", "", "\"Paris\"}")],
                vec![("get_weather", paris)],
            ),
            (
                "name after arguments",
                vec![(Some(0), "a", "", paris), (Some(0), "", "get_weather", "")],
                vec![("get_weather", paris)],
            ),
        ];
        for (about, pieces, expected) in table {
            let expected: Vec<(String, String)> =
                expected.into_iter().map(|(n, a)| (n.to_owned(), a.to_owned())).collect();
            assert_eq!(assembled(&pieces), expected, "{about}");
        }
    }

    /// Work must be linear in the length of the arguments.
    #[test]
    fn long_arguments_in_small_pieces_are_read_once() {
        let inside = |text: &str| format!("{{\"content\":\"{}\"}}", text.repeat(300_000 / text.len()));
        for long in
            [inside("x}<y> "), inside("\\\" \\n"), "{} ".repeat(100_000), format!("{{'a'}}{}", " ".repeat(300_000))]
        {
            for head in ["", "get_weather"] {
                let first = [(Some(0), "a", "get_weather", "")];
                let pieces = long.char_indices().map(|(at, c)| (Some(0), "a", head, &long[at..at + c.len_utf8()]));
                let pieces: Vec<Piece<'_>> = first.into_iter().chain(pieces).collect();
                let arguments: String = assembled(&pieces).into_iter().map(|(_, arguments)| arguments).collect();
                assert_eq!(arguments.len(), long.len());
            }
        }
    }

    #[test]
    fn whole_calls_are_never_merged() {
        let (tools, mut assembler) = (tools(), Assembler::default());
        for _ in 0..2 {
            let name = Some("ping".to_owned());
            assembler.push(
                CallFragment { index: Some(0), id: Some("same".into()), name, whole: true, ..CallFragment::default() },
                &tools,
            );
        }
        assert_eq!(assembler.finish().0.len(), 2);
    }
}
