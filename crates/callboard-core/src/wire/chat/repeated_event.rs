//! Events of a stream that differ from an earlier one in one string only.
//!
//! Most events are like the one before, except for a piece of text, of reasoning or of arguments. Once an event has been read in
//! full, its bytes around that string are kept, and an event with the same bytes around another string needs no parser. What the string
//! means is not guessed: the event is read a second time with another string in its place.

use memchr::{memchr_iter, memchr2};

use crate::model::{CallFragment, Delta};

/// Another string, to find out what the string of an event means.
const PROBE: &str = "another string";
/// Servers write a key with or without a space behind its colon.
const KEYS: [&str; 8] = [
    "\"content\":\"",
    "\"content\": \"",
    "\"arguments\":\"",
    "\"arguments\": \"",
    "\"reasoning_content\":\"",
    "\"reasoning_content\": \"",
    "\"reasoning\":\"",
    "\"reasoning\": \"",
];
/// Events that share nothing are not compared for ever.
const MOST_MISSES: u32 = 8;

/// What the events of a stream have in common.
#[derive(Debug, Default)]
pub(super) struct RepeatedEvent {
    known: Option<Known>,
    misses: u32,
}

#[derive(Debug)]
struct Known {
    before: Vec<u8>,
    after: Vec<u8>,
    /// How the string is read.
    kind: Kind,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    Reasoning,
    /// Arguments of the call at this index.
    Arguments(Option<u64>),
}

impl RepeatedEvent {
    /// What an event is read as that is otherwise like the one before.
    pub(super) fn read(&mut self, event: &[u8]) -> Option<Delta> {
        let known = self.known.as_ref()?;
        let text = event.strip_prefix(known.before.as_slice())?.strip_suffix(known.after.as_slice())?;
        let quoted = event.get(known.before.len() - 1..event.len() - known.after.len() + 1)?;
        let delta = known.kind.delta(string(text, quoted)?);
        self.misses = 0;
        Some(delta)
    }

    /// What was learned does not hold any more.
    pub(super) fn forget(&mut self) {
        self.known = None;
    }

    /// Learns from an event that was read in full; `read` reads another one.
    pub(super) fn learn(&mut self, event: &[u8], read: impl FnOnce(&[u8]) -> Option<Delta>) {
        if self.misses >= MOST_MISSES {
            return;
        }
        self.misses += 1;
        let Some((before, after)) = around_string(event) else { return };
        if let Some(kind) = read(&[before, PROBE.as_bytes(), after].concat()).and_then(|delta| Kind::of(&delta)) {
            self.known = Some(Known { before: before.to_vec(), after: after.to_vec(), kind });
        }
    }
}

impl Kind {
    /// None where the string is not all that the delta has.
    fn of(delta: &Delta) -> Option<Self> {
        let kind = match delta {
            Delta::Text(_) => Self::Text,
            Delta::Reasoning(_) => Self::Reasoning,
            Delta::Call(call) => Self::Arguments(call.index),
            _ => return None,
        };
        (*delta == kind.delta(PROBE.to_owned())).then_some(kind)
    }

    fn delta(self, text: String) -> Delta {
        match self {
            Self::Text => Delta::Text(text),
            Self::Reasoning => Delta::Reasoning(text),
            Self::Arguments(index) => {
                Delta::Call(CallFragment { index, arguments: Some(text), ..CallFragment::default() })
            }
        }
    }
}

/// A JSON string, with and without its quotes. None where it is empty, which has a meaning of its own, or more than one string.
fn string(text: &[u8], quoted: &[u8]) -> Option<String> {
    match memchr2(b'"', b'\\', text) {
        _ if text.is_empty() => None,
        None if text.iter().any(|byte| *byte < b' ') => None,
        None => std::str::from_utf8(text).ok().map(str::to_owned),
        Some(_) => serde_json::from_slice(quoted).ok(),
    }
}

/// What is before and after the only string behind one of the keys that is not empty.
fn around_string(event: &[u8]) -> Option<(&[u8], &[u8])> {
    let keys = memchr_iter(b'"', event).filter_map(|quote| {
        let rest = event.get(quote..)?;
        KEYS.iter().find(|key| rest.starts_with(key.as_bytes())).map(|key| quote + key.len())
    });
    let mut strings = keys.filter(|start| event.get(*start) != Some(&b'"'));
    let start = strings.next().filter(|_| strings.next().is_none())?;
    let (before, rest) = event.split_at_checked(start)?;
    let mut end = 0;
    loop {
        end += memchr2(b'"', b'\\', rest.get(end..)?)?;
        match rest.get(end) {
            Some(b'"') => return Some((before, rest.get(end..)?)),
            _ => end += 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENT: &str = r#"{"id":"1","choices":[{"delta":{"content":"one"},"finish_reason":null}]}"#;

    fn learned(event: &str) -> RepeatedEvent {
        let mut known = RepeatedEvent::default();
        known.learn(event.as_bytes(), |_| Some(Delta::Text(PROBE.to_owned())));
        known
    }

    fn text_of(known: &mut RepeatedEvent, event: &str) -> Option<String> {
        known.read(event.as_bytes()).map(|delta| match delta {
            Delta::Text(text) => text,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn an_event_with_another_string_is_known() {
        let mut known = learned(EVENT);
        let rows = [
            ("two", Some("two")),
            (" é🦀 ", Some(" é🦀 ")),
            (r#"a\n\"b\" \u00e9\\"#, Some("a\n\"b\" é\\")),
            ("", None),
            ("a\tb", None),
            (r#"a","b":"c"#, None),
            (r"a\x", None),
        ];
        for (text, expected) in rows {
            assert_eq!(text_of(&mut known, &EVENT.replace("one", text)).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn events_that_differ_elsewhere_are_not() {
        let mut known = learned(EVENT);
        for (from, to) in [("null", "\"stop\""), ("\"1\"", "\"2\""), ("]}", "],\"usage\":{}}"), ("content", "text")] {
            assert_eq!(text_of(&mut known, &EVENT.replace(from, to)), None, "{to}");
        }
        assert_eq!(known.read(&EVENT.as_bytes()[..30]), None);
    }

    #[test]
    fn only_what_is_read_as_one_string_is_learned() {
        let text = |text: &str| Some(Delta::Text(text.to_owned()));
        let named =
            CallFragment { name: Some("f".to_owned()), arguments: Some(PROBE.to_owned()), ..CallFragment::default() };
        for read in [None, text("one"), Some(Delta::Call(named))] {
            let mut known = RepeatedEvent::default();
            known.learn(EVENT.as_bytes(), |_| read);
            assert_eq!(known.read(EVENT.as_bytes()), None);
        }
        for twice in ["\"content\":\"one\"", "\"reasoning\":\"one\""] {
            let event = EVENT.replace("\"id\":\"1\"", twice);
            assert_eq!(text_of(&mut learned(&event), &event), None);
        }
        let empty = EVENT.replace("\"id\":\"1\"", "\"reasoning\":\"\"");
        assert_eq!(text_of(&mut learned(&empty), &empty).as_deref(), Some("one"));
    }

    #[test]
    fn streams_without_likeness_are_left_alone() {
        let (mut known, mut asked) = (RepeatedEvent::default(), 0);
        for number in 0..100 {
            let event = EVENT.replace("\"1\"", &number.to_string());
            known.learn(event.as_bytes(), |_| {
                asked += 1;
                None
            });
        }
        assert_eq!(asked, MOST_MISSES);
    }
}
