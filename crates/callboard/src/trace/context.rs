//! The W3C trace context of a turn, and the headers for the model servers it asks.
//!
//! A turn that is not exported has no span at the collector, so its servers get the caller's span as their parent, and no
//! headers where there is no caller.

use http::{HeaderMap, HeaderValue};
use serde::Serialize;

use super::TraceParent;
use super::trace_parent::{TRACEPARENT, TRACESTATE};
use crate::hex;

/// The trace context of a turn.
#[derive(Debug, Clone, Default, Serialize)]
pub struct TraceContext {
    /// The trace that the turn is a part of: the caller's, or a new one.
    pub trace_id: String,
    /// The turn's own span.
    pub span_id: String,
    /// The caller's span.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_span_id: Option<String>,
    /// The caller's `tracestate`.
    #[serde(skip)]
    pub state: Option<String>,
    /// Whether the turn is sent to a collector.
    #[serde(skip)]
    pub exported: bool,
    /// The flags for model servers; none if nothing is traced.
    #[serde(skip)]
    flags: Option<u8>,
    #[serde(skip)]
    first_span: u64,
    #[serde(skip)]
    spans: u64,
}

/// What decides whether a turn is exported.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sampling {
    /// Whether there is a collector.
    pub(super) collector: bool,
    /// Whether this turn was sampled; applies to turns that begin a new trace.
    pub(super) sampled: bool,
    /// Whether any turn is recorded at all.
    pub(super) any: bool,
}

impl TraceContext {
    /// The context of a turn that begins now. The caller has decided for its whole trace, so its decision applies.
    pub(super) fn begin(caller: Option<&TraceParent>, own_trace: &str, random: [u8; 8], sampling: Sampling) -> Self {
        let sampled = caller.map_or(sampling.sampled, |caller| sampling.any && caller.records());
        let exported = sampling.collector && sampled;
        let own_flags = sampling.collector.then_some(u8::from(exported));
        let mut context = Self {
            trace_id: caller.map_or(own_trace, |caller| &caller.trace_id).to_owned(),
            span_id: String::new(),
            parent_span_id: caller.map(|caller| caller.span_id.clone()),
            state: caller.and_then(|caller| caller.state.clone()),
            exported,
            flags: caller.map(|caller| caller.flags).or(own_flags),
            first_span: u64::from_be_bytes(random),
            spans: 0,
        };
        context.span_id = context.new_span();
        context
    }

    /// The id of one more span within the turn: consecutive numbers from a random start.
    pub(super) fn new_span(&mut self) -> String {
        self.spans += 1;
        let id = self.first_span.wrapping_add(self.spans);
        hex::encode(&if id == 0 { u64::MAX } else { id }.to_be_bytes())
    }

    /// The headers for a request within this span.
    pub(super) fn headers(&self, span: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let Some(flags) = self.flags else { return headers };
        let asking = match &self.parent_span_id {
            Some(caller) if !self.exported => caller,
            _ => span,
        };
        let parent = format!("00-{}-{asking}-{flags:02x}", self.trace_id);
        headers.extend(HeaderValue::from_str(&parent).ok().map(|parent| (TRACEPARENT, parent)));
        let state = self.state.as_deref().and_then(|state| HeaderValue::from_str(state).ok());
        headers.extend(state.map(|state| (TRACESTATE, state)));
        headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "0192abcdef0107070707070707070707";
    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";

    fn caller(flags: &str) -> Option<TraceParent> {
        (!flags.is_empty()).then(|| TraceParent::read(&format!("00-{TRACE}-{SPAN}-{flags}"), "a=1").unwrap())
    }

    #[test]
    fn headers_depend_on_the_caller_and_sampling() {
        let own = "0000000000000007";
        let table = [
            // The caller's flags, has a collector, is sampled, records any; is exported; the parent and flags that a server sees.
            ("", false, true, true, false, None),
            ("", true, true, true, true, Some((OWN, own, "01"))),
            ("", true, false, true, false, Some((OWN, own, "00"))),
            ("01", true, false, true, true, Some((TRACE, own, "01"))),
            ("03", true, true, true, true, Some((TRACE, own, "03"))),
            ("00", true, true, true, false, Some((TRACE, SPAN, "00"))),
            ("01", true, false, false, false, Some((TRACE, SPAN, "01"))),
            ("01", false, true, true, false, Some((TRACE, SPAN, "01"))),
        ];
        for (flags, collector, sampled, any, exported, sent) in table {
            let (caller, sampling) = (caller(flags), Sampling { collector, sampled, any });
            let mut context = TraceContext::begin(caller.as_ref(), OWN, 5_u64.to_be_bytes(), sampling);
            assert_eq!((context.exported, context.span_id.as_str()), (exported, "0000000000000006"), "{sampling:?}");
            let span = context.new_span();
            let headers = context.headers(&span);
            let parent = sent.map(|(trace, span, flags)| format!("00-{trace}-{span}-{flags}"));
            let said = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
            assert_eq!(said("traceparent"), parent.as_deref(), "{flags} {sampling:?}");
            assert_eq!(said("tracestate"), caller.map(|_| "a=1"), "{flags} {sampling:?}");
        }
    }

    #[test]
    fn no_span_id_is_zero() {
        let sampling = Sampling { collector: true, sampled: true, any: true };
        let context = TraceContext::begin(None, OWN, u64::MAX.to_be_bytes(), sampling);
        assert_eq!(context.span_id, "ffffffffffffffff");
    }
}
