//! What can be typed at the prompt besides messages: commands that begin with a slash.

use crate::config::nearest;

/// What `/help` shows.
pub(super) const HELP: &str = "  /state            what the character remembers
  /tools            its tools, with their arguments
  /call TOOL JSON   runs a tool, as a model's call would
  /results          the last results, whole
  /undo             takes back the last turn, or the last /call
  /reset            begins again
  /quit             ends the chat, as Ctrl-D does
Ctrl-C interrupts a reply.";

const NAMES: [&str; 8] = ["/help", "/state", "/tools", "/call", "/results", "/undo", "/reset", "/quit"];

/// One line that was typed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Input<'a> {
    Nothing,
    Message(&'a str),
    Help,
    State,
    Tools,
    Call {
        tool: &'a str,
        arguments: &'a str,
    },
    Results,
    Undo,
    Reset,
    Quit,
    /// The remark about a line that is none of these.
    Mistake(String),
}

impl<'a> Input<'a> {
    /// Reads a line.
    pub(super) fn read(line: &'a str) -> Self {
        let line = line.trim();
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match (name, rest.trim()) {
            ("", _) => Self::Nothing,
            ("/call", "") => Self::Mistake("which tool? /call TOOL JSON; /tools lists them".to_owned()),
            ("/call", call) => {
                let (tool, arguments) = call.split_once(char::is_whitespace).unwrap_or((call, "{}"));
                Self::Call { tool, arguments: arguments.trim() }
            }
            ("/help", "") => Self::Help,
            ("/state", "") => Self::State,
            ("/tools", "") => Self::Tools,
            ("/results", "") => Self::Results,
            ("/undo", "") => Self::Undo,
            ("/reset", "") => Self::Reset,
            ("/quit", "") => Self::Quit,
            (known, _) if NAMES.contains(&known) => Self::Mistake(format!("{known} takes nothing after it")),
            (unknown, _) if unknown.starts_with('/') => Self::Mistake(unknown_command(unknown)),
            _ => Self::Message(line),
        }
    }
}

fn unknown_command(name: &str) -> String {
    match nearest(name, NAMES.into_iter()) {
        Some(meant) => format!("unknown command {name}; did you mean {meant}?"),
        None => format!("unknown command {name}; /help lists the commands"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_messages_or_commands() {
        let mistake = |text: &str| Input::Mistake(text.to_owned());
        for (line, input) in [
            ("  ", Input::Nothing),
            (" Hello there ", Input::Message("Hello there")),
            ("and/or", Input::Message("and/or")),
            ("/help", Input::Help),
            ("/call roll", Input::Call { tool: "roll", arguments: "{}" }),
            ("/call roll  {\"count\": 2} ", Input::Call { tool: "roll", arguments: "{\"count\": 2}" }),
            ("/call", mistake("which tool? /call TOOL JSON; /tools lists them")),
            ("/undo 3", mistake("/undo takes nothing after it")),
            ("/udno", mistake("unknown command /udno; did you mean /undo?")),
            ("/me waves", mistake("unknown command /me; /help lists the commands")),
        ] {
            assert_eq!(Input::read(line), input, "{line}");
        }
    }

    #[test]
    fn help_lists_every_command() {
        for name in NAMES.iter().filter(|name| **name != "/help") {
            assert!(HELP.contains(&format!("  {name} ")), "{name}");
        }
    }
}
