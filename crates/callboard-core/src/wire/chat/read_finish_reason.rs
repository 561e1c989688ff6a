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

/// Reads a finish reason; unknown words mean that the model was done, and a word for a failure is an error.
pub(super) fn read(word: &str) -> Result<Finish, ReplyFault> {
    let word = word.to_ascii_lowercase();
    if FAILED.contains(&word.as_str()) {
        let message = format!("it ended its reply with finish_reason {word:?}");
        return Err(ReplyFault::Reported { message, status: None });
    }
    Ok(match word.as_str() {
        "length" | "max_tokens" | "model_length" | "max_length" | "max_output_tokens" | "token_limit"
        | "length_limit" => Finish::Length,
        "tool_calls" | "function_call" | "tool_use" => Finish::ToolCalls,
        "content_filter" | "content-filter" | "sensitive" | "safety" | "prohibited_content" => Finish::ContentFilter,
        _ => Finish::Stop,
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
