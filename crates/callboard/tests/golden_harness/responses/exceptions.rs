//! Pages that are not run over the Responses API, each with its reason. The list may only shrink: a listed page that passes
//! is a fault.

/// The number of listed pages; may only shrink.
pub(crate) const COUNT: usize = 18;

/// Reasons, and the pages they apply to.
const EXCEPTIONS: [(&str, &[&str]); 3] = [
    (
        "the model server's own bytes are passed on, which another wire cannot do: over responses the contract always holds",
        &["mode-observe", "mode-off"],
    ),
    ("a call without an output is refused on this wire, by the place of the call", &["history-call-without-result"]),
    (
        "it is about the text or the fields of a chat request; requests to /v1/responses have their own tables in the core",
        &[
            "mode-off-still-checks-requests",
            "request-field-twice",
            "request-messages",
            "request-not-an-object",
            "request-not-json",
            "request-numbers-and-switches",
            "request-response-format",
            "request-strict-tools",
            "request-tool-choice",
            "request-tool-results",
            "request-tools",
            "request-tools-with-a-key-twice",
            "request-unknown-fields",
            "request-without-a-model",
            "request-without-messages",
        ],
    ),
];

/// Why a page is not run.
pub(crate) fn reason_against(stem: &str) -> Option<&'static str> {
    EXCEPTIONS.iter().find(|(_, pages)| pages.contains(&stem)).map(|(reason, _)| *reason)
}

/// All pages of the list.
pub(crate) fn exceptions() -> impl Iterator<Item = &'static str> {
    EXCEPTIONS.iter().flat_map(|(_, pages)| pages.iter().copied())
}
