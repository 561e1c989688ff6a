//! Results of calls as a user's message.
//!
//! A result is text from anywhere. It must not be able to end its own frame and go on in the user's name, so the mark that
//! closes the frame is broken up wherever a result holds it.

use serde_json::json;

use super::Family;

/// A result in the history.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WrittenResult {
    /// Which call of the conversation it answers.
    pub(super) number: usize,
    pub(super) name: String,
    pub(super) text: String,
}

/// The results of the calls of one assistant message.
pub(super) fn write(family: Family, results: &[WrittenResult]) -> String {
    let all: Vec<String> = results.iter().map(|result| write_one(family, result)).collect();
    match family {
        Family::Dsml => format!("<function_results>\n{}\n</function_results>", all.join("\n")),
        Family::Mistral | Family::DeepSeek => all.concat(),
        Family::Kimi => all.join("\n\n"),
        _ => all.join("\n"),
    }
}

fn write_one(family: Family, WrittenResult { number, name, text }: &WrittenResult) -> String {
    match family {
        Family::Mistral => {
            let result = json!({"name": name, "content": text}).to_string();
            format!("[TOOL_RESULTS]{}[/TOOL_RESULTS]", result.replace("[/TOOL_RESULTS]", "[\\/TOOL_RESULTS]"))
        }
        Family::DeepSeek => framed("<｜tool▁output▁begin｜>", text, "<｜tool▁output▁end｜>"),
        Family::Dsml => framed("<result>", &broken_up(text, "</function_results>"), "</result>"),
        Family::MiniMax => framed("<response>", text, "</response>"),
        Family::Kimi => format!("## Return of functions.{name}:{number}\n{text}"),
        Family::Hermes | Family::QwenCoder | Family::Glm | Family::Llama => {
            format!("<tool_response>\n{}\n</tool_response>", broken_up(text, "</tool_response>"))
        }
    }
}

fn framed(open: &str, text: &str, close: &str) -> String {
    format!("{open}{}{close}", broken_up(text, close))
}

/// The text with a space within each `mark`.
fn broken_up(text: &str, mark: &str) -> String {
    let (first, rest) = mark.split_at(mark.chars().next().map_or(0, char::len_utf8));
    text.replace(mark, &format!("{first} {rest}"))
}
