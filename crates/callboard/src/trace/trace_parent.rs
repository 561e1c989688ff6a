//! The caller's span, from the headers `traceparent` and `tracestate` of W3C Trace Context.
//!
//! A malformed header counts as none: the turn then begins a new trace.

use http::{HeaderMap, HeaderName};

/// The header with the caller's span.
pub(super) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// The header with vendor data of tracing systems.
pub(super) const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// The flags that are known: the caller records, and its trace id is random.
const KNOWN_FLAGS: u8 = 0b11;
const RECORDED: u8 = 0b01;
const MOST_STATE_BYTES: usize = 512;
const MOST_STATE_MEMBERS: usize = 32;

/// The caller's span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceParent {
    pub(super) trace_id: String,
    pub(super) span_id: String,
    pub(super) flags: u8,
    pub(super) state: Option<String>,
}

impl TraceParent {
    /// The span in the headers of a request.
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        let mut given = headers.get_all(TRACEPARENT).iter();
        let (Some(parent), None) = (given.next(), given.next()) else { return None };
        let states: Option<Vec<&str>> = headers.get_all(TRACESTATE).iter().map(|value| value.to_str().ok()).collect();
        Self::read(parent.to_str().ok()?, &states.unwrap_or_default().join(","))
    }

    /// The span of a `traceparent` and its `tracestate`, which may be empty.
    pub fn read(parent: &str, state: &str) -> Option<Self> {
        let mut parts = parent.trim_matches([' ', '\t']).split('-');
        let (version, trace_id, span_id, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let version = byte(version).filter(|version| *version != u8::MAX)?;
        // Later versions may append fields; version 0 has none.
        if version == 0 && parts.next().is_some() {
            return None;
        }
        let flags = byte(flags)? & KNOWN_FLAGS;
        let sound = is_id(trace_id, 32) && is_id(span_id, 16);
        sound.then(|| Self {
            trace_id: trace_id.to_owned(),
            span_id: span_id.to_owned(),
            flags,
            state: is_state(state).then(|| state.to_owned()),
        })
    }

    /// True when the caller may have recorded its span.
    pub(super) fn records(&self) -> bool {
        self.flags & RECORDED != 0
    }
}

/// Two hexadecimal digits in lower case.
fn byte(text: &str) -> Option<u8> {
    let written = text.len() == 2 && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    u8::from_str_radix(text, 16).ok().filter(|_| written)
}

/// True for a valid list of `key=value`.
fn is_state(text: &str) -> bool {
    let is_key = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'*' | b'/' | b'@');
    let is_member = |member: &str| {
        member.split_once('=').is_some_and(|(key, value)| {
            let plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~' if byte != b'='));
            !key.is_empty() && key.bytes().all(is_key) && plain && !value.is_empty()
        })
    };
    let mut members =
        text.split(',').map(|member| member.trim_matches([' ', '\t'])).filter(|member| !member.is_empty());
    let count = text.split(',').count();
    !text.is_empty() && text.len() <= MOST_STATE_BYTES && count <= MOST_STATE_MEMBERS && members.all(is_member)
}

/// True for an id with this number of digits that is not all zeros.
fn is_id(text: &str, digits: usize) -> bool {
    let is_lower_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.len() == digits && text.bytes().all(is_lower_hex) && text.bytes().any(|byte| byte != b'0')
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn ids_are_hexadecimal() {
        for (text, sound) in [("0001abff", true), ("00000000", false), ("0001ABFF", false), ("0001abf", false)] {
            assert_eq!(is_id(text, 8), sound, "{text}");
        }
    }

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";

    #[test]
    fn traceparent_is_parsed_as_specified() {
        for (version, tail, flags) in [
            ("00", "00", Some(0)),
            ("00", "01", Some(1)),
            ("00", "03", Some(3)),
            ("00", "ff", Some(3)),
            ("00", "01-more", None),
            ("01", "01-more", Some(1)),
            ("cc", "01", Some(1)),
            ("cc", "01.more", None),
            ("ff", "01", None),
            ("0", "01", None),
            ("000", "01", None),
            ("0A", "01", None),
            ("00", "1", None),
            ("00", "0A", None),
            ("00", "+1", None),
            ("00", "", None),
        ] {
            let read = TraceParent::read(&format!("{version}-{TRACE}-{SPAN}-{tail}"), "");
            assert_eq!(read.as_ref().map(|caller| caller.flags), flags, "{version} {tail}");
            assert!(read.is_none_or(|caller| caller.trace_id == TRACE && caller.span_id == SPAN));
        }
    }

    #[test]
    fn invalid_ids_are_ignored() {
        let (zeros, capitals) = ("0".repeat(32), TRACE.to_uppercase());
        for (trace, span) in [
            (zeros.as_str(), SPAN),
            (TRACE, "0000000000000000"),
            (capitals.as_str(), SPAN),
            (TRACE, "00F067AA0BA902B7"),
            (&TRACE[1..], SPAN),
            (TRACE, "00f067aa0ba902b7a"),
            (TRACE, "00f067aa0ba902bz"),
            ("é", SPAN),
            ("", ""),
        ] {
            assert_eq!(TraceParent::read(&format!("00-{trace}-{span}-01"), ""), None, "{trace} {span}");
        }
    }

    #[test]
    fn only_a_valid_tracestate_is_kept() {
        let many = vec!["a=1"; 33].join(",");
        let long = format!("a={}", "x".repeat(511));
        for (state, kept) in [
            ("congo=t61rcWkgMzE", true),
            ("a=1,fw529a3039@dt=x y , ,b/c=2", true),
            ("", false),
            ("nonsense", false),
            ("A=1", false),
            ("a==", false),
            ("a=é", false),
            (many.as_str(), false),
            (long.as_str(), false),
        ] {
            let read = TraceParent::read(&format!("00-{TRACE}-{SPAN}-01"), state).unwrap();
            assert_eq!(read.state.as_deref(), kept.then_some(state), "{state}");
        }
    }

    #[test]
    fn contradictory_headers_are_ignored() {
        let parent = HeaderValue::from_str(&format!("00-{TRACE}-{SPAN}-01")).unwrap();
        let mut headers = HeaderMap::new();
        assert_eq!(TraceParent::of(&headers), None);
        headers.append(TRACEPARENT, parent.clone());
        headers.append(TRACESTATE, HeaderValue::from_static("a=1"));
        headers.append(TRACESTATE, HeaderValue::from_static("b=2"));
        assert_eq!(TraceParent::of(&headers).and_then(|caller| caller.state).as_deref(), Some("a=1,b=2"));
        headers.append(TRACEPARENT, parent);
        assert_eq!(TraceParent::of(&headers), None);
    }
}
