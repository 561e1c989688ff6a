//! The accuracy of a model over all cases, and how it is printed.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::verdict::{ModelTurn, Verdict, call_line};

/// All verdicts so far.
#[derive(Debug, Default)]
pub(super) struct Report {
    verbose: bool,
    kinds: BTreeMap<String, Share>,
    all: Share,
    tools: Share,
    arguments: Share,
    no_calls: Share,
    silences: usize,
    talks: Share,
    states: Share,
    failures: Share,
}

/// A part of a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Share {
    part: usize,
    whole: usize,
}

impl Share {
    fn count(&mut self, is_part: bool) {
        self.whole += 1;
        self.part += usize::from(is_part);
    }

    fn percent(self) -> String {
        if self.whole == 0 {
            return "-".to_owned();
        }
        let tenths = (self.part * 2000 + self.whole) / (self.whole * 2);
        format!("{}.{} %", tenths / 10, tenths % 10)
    }
}

impl Report {
    /// An empty report; with `verbose`, cases are shown as they fail.
    pub(super) fn new(verbose: bool) -> Self {
        Self { verbose, ..Self::default() }
    }

    /// Adds a verdict.
    pub(super) fn count(&mut self, kind: &str, verdict: Verdict) {
        self.kinds.entry(kind.to_owned()).or_default().count(verdict.is_right());
        self.all.count(verdict.is_right());
        if verdict.expects_call {
            self.tools.count(verdict.tools);
            self.talks.count(verdict.text_only && !verdict.is_right());
            if verdict.tools {
                self.arguments.count(verdict.arguments);
            }
        } else {
            self.no_calls.count(verdict.is_right());
            self.silences += usize::from(verdict.silent);
        }
        self.failures.count(verdict.failed);
        if let Some(state) = verdict.state {
            self.states.count(state);
        }
    }

    /// Shows a case that failed, if the report is verbose.
    pub(super) fn show_failure(&self, failure: &str, out: &mut impl Write) -> io::Result<()> {
        if !self.verbose {
            return Ok(());
        }
        out.write_all(failure.as_bytes())?;
        out.flush()
    }

    /// Writes the accuracies; the last line is the overall one.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{:<24} {:>5} {:>6}", "kind", "cases", "right")?;
        for (kind, share) in &self.kinds {
            let kind = if kind.is_empty() { "-" } else { kind };
            writeln!(out, "{kind:<24} {:>5} {:>6}  {:>7}", share.whole, share.part, share.percent())?;
        }
        writeln!(out)?;
        self.line("tool accuracy", self.tools, "cases that expect a call", out)?;
        self.line("argument accuracy", self.arguments, "cases with the right tools", out)?;
        self.line("no-call accuracy", self.no_calls, &format!("no call attempted in {}", self.silences), out)?;
        self.line("text-only rate", self.talks, "text where a call is expected", out)?;
        if self.states.whole > 0 {
            self.line("state accuracy", self.states, "cases that expect a state", out)?;
        }
        if self.failures.part > 0 {
            self.line("not finished", self.failures, "the model server failed, or the case cannot be set up", out)?;
        }
        writeln!(out, "overall: {}", self.all.percent())
    }

    /// True when no case at all could be played to its end.
    pub(super) fn is_void(&self) -> bool {
        self.failures.part == self.failures.whole
    }

    fn line(&self, what: &str, share: Share, remark: &str, out: &mut impl Write) -> io::Result<()> {
        let what = format!("{what}:");
        writeln!(out, "{what:<19} {:>7}  {} of {} ({remark})", share.percent(), share.part, share.whole)
    }
}

/// A case that failed: what was expected, and what came.
pub(super) fn failed_case(title: &str, expected: &str, turn: &ModelTurn) -> String {
    let made: Vec<String> = turn.calls.iter().map(|call| call_line(&call.tool, &call.arguments)).collect();
    let made = if made.is_empty() { "no call".to_owned() } else { made.join(", ") };
    let mut page = format!("{title}\n  expected: {expected}\n  got:      {made}\n");
    let refused = turn.attempts.saturating_sub(turn.calls.len());
    if refused > 0 {
        page += &format!("  refused:  {refused} more before they reached a tool\n");
    }
    if !turn.text.trim().is_empty() {
        page += &format!("  text:     {:?}\n", turn.text.trim());
    }
    if let Some(failure) = &turn.failure {
        page += &format!("  failed:   {failure}\n");
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_to_tenths() {
        let table =
            [(0, 0, "-"), (0, 3, "0.0 %"), (1, 3, "33.3 %"), (2, 3, "66.7 %"), (3, 3, "100.0 %"), (1, 16, "6.3 %")];
        for (part, whole, expected) in table {
            assert_eq!(Share { part, whole }.percent(), expected, "{part} of {whole}");
        }
    }

    #[test]
    fn the_last_line_counts_all_cases() {
        let call = Verdict { expects_call: true, ..Verdict::default() };
        let verdicts = [
            Verdict { tools: true, arguments: true, state: Some(true), ..call },
            Verdict { tools: true, ..call },
            Verdict { silent: true, text_only: true, ..call },
            Verdict { tools: true, arguments: true, silent: true, ..Verdict::default() },
        ];
        let mut report = Report::default();
        for verdict in verdicts {
            report.count("kind", verdict);
        }
        let mut page = Vec::new();
        report.write(&mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        for line in [
            "tool accuracy:       66.7 %  2 of 3",
            "argument accuracy:   50.0 %  1 of 2",
            "no-call accuracy:   100.0 %  1 of 1 (no call attempted in 1)",
            "text-only rate:      33.3 %  1 of 3",
            "state accuracy:     100.0 %  1 of 1",
        ] {
            assert!(page.contains(line), "{page}");
        }
        assert_eq!(page.lines().last(), Some("overall: 50.0 %"));
    }
}
