//! The `finish_reason` of a server's reply. Some words mean that the server failed.

use super::reply_fault::ReplyFault;
use crate::model::Finish;

/// The server failed, and the reply is incomplete.
const FAILED: [&str; 8] = [
    "error",
    "abort",
    "aborted",
    "cancelled",
    "canceled",
    "network_error",
    "insufficient_system_resource",
    "malformed_function_call",
];

/// Other words for the limit of tokens.
const LENGTH: [&str; 4] = ["max_length", "max_output_tokens", "token_limit", "length_limit"];

/// Other words for a content filter.
const FILTERED: [&str; 4] = ["sensitive", "safety", "content-filter", "prohibited_content"];

/// Reads a finish reason; a word for a failure is an error.
pub(super) fn read(word: &str) -> Result<Finish, ReplyFault> {
    let small = word.to_ascii_lowercase();
    let is_one_of = |words: &[&str]| words.contains(&small.as_str());
    if is_one_of(&FAILED) {
        let message = format!("it ended its reply with finish_reason {small:?}");
        return Err(ReplyFault::Reported { message, status: None });
    }
    Ok(match () {
        () if is_one_of(&LENGTH) => Finish::Length,
        () if is_one_of(&FILTERED) => Finish::ContentFilter,
        () => Finish::from_word(&small),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_all_servers() {
        for (word, expected) in [
            ("stop", Some(Finish::Stop)),
            ("STOP", Some(Finish::Stop)),
            ("eos", Some(Finish::Stop)),
            ("MAX_TOKENS", Some(Finish::Length)),
            ("length", Some(Finish::Length)),
            ("tool_calls", Some(Finish::ToolCalls)),
            ("SAFETY", Some(Finish::ContentFilter)),
            ("error", None),
            ("Abort", None),
        ] {
            assert_eq!(read(word).ok(), expected, "{word}");
        }
    }
}
