//! A turn as the terminal shows it: text as it streams, tool calls with their results.

use callboard_core::contract::Report;
use callboard_core::turn::{Event, ToolOutcome, ToolResult};
use callboard_core::wire::{ApiError, ReplyEnd, ReplyWriter};

use super::folded_text::folded;
use crate::author::try_tool::MODEL_TEXT;

/// Writes events as text for a terminal.
#[derive(Default)]
pub(super) struct TerminalWriter {
    /// Whether text is left out, for a call that the user makes.
    pub(super) only_results: bool,
    /// The results, whole.
    pub(super) results: Vec<String>,
    /// Whether anything was shown.
    pub(super) wrote: bool,
    mid_line: bool,
}

impl TerminalWriter {
    /// One that shows calls and results, and no text.
    pub(super) fn without_text() -> Self {
        Self { only_results: true, ..Self::default() }
    }

    fn text(&mut self, text: &str, out: &mut String) {
        self.wrote |= !text.trim().is_empty();
        self.mid_line = !text.ends_with('\n');
        out.push_str(text);
    }

    fn line(&mut self, line: &str, out: &mut String) {
        if std::mem::take(&mut self.mid_line) {
            out.push('\n');
        }
        self.wrote = true;
        out.push_str(line);
        out.push('\n');
    }

    fn result(&mut self, result: ToolResult, out: &mut String) {
        let failed = format!("  ! {MODEL_TEXT}");
        let mut mark = if result.outcome == ToolOutcome::Success { "  < " } else { &failed };
        if let Some(remark) = &result.remark {
            self.line(&format!("  ! {}", remark.summary), out);
        }
        for line in folded(&result.text) {
            self.line(&format!("{mark}{line}"), out);
            mark = "    ";
        }
        self.results.push(result.text);
    }
}

impl ReplyWriter for TerminalWriter {
    fn event(&mut self, event: Event, out: &mut String) {
        match event {
            Event::Text(text) | Event::Refusal(text) if !self.only_results => self.text(&text, out),
            Event::RunsTool(call) => self.line(&format!("  > {}({})", call.name, call.arguments.as_str()), out),
            Event::RanTool(result) => self.result(result, out),
            _ => {}
        }
    }

    fn complete(&mut self, _end: ReplyEnd<'_>, out: &mut String) {
        if std::mem::take(&mut self.mid_line) {
            out.push('\n');
        }
    }

    fn finish(&mut self, _report: &Report, _out: &mut String) {}

    fn fail(&mut self, _error: &ApiError, _report: &Report, out: &mut String) {
        if std::mem::take(&mut self.mid_line) {
            out.push('\n');
        }
    }

    fn take_body(&mut self) -> String {
        String::new()
    }
}
