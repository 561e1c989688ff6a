//! The figures of an evaluation, and the words for them.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::verdict::{Heard, Verdict, written};

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

/// So many of so many.
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
    /// No verdicts yet; with `verbose`, cases that fail are told as they fail.
    pub(super) fn new(verbose: bool) -> Self {
        Self { verbose, ..Self::default() }
    }

    /// Takes a verdict in.
    pub(super) fn count(&mut self, kind: &str, verdict: Verdict) {
        self.kinds.entry(kind.to_owned()).or_default().count(verdict.is_right());
        self.all.count(verdict.is_right());
        if verdict.wants_call {
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
        if let Some(holds) = verdict.holds {
            self.states.count(holds);
        }
    }

    /// Tells of a case that failed, where that is asked for.
    pub(super) fn tell(&self, words: &str, out: &mut impl Write) -> io::Result<()> {
        if !self.verbose {
            return Ok(());
        }
        out.write_all(words.as_bytes())?;
        out.flush()
    }

    /// Writes the figures; the last line is the one that counts.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{:<24} {:>5} {:>6}", "kind", "cases", "right")?;
        for (kind, share) in &self.kinds {
            let kind = if kind.is_empty() { "-" } else { kind };
            writeln!(out, "{kind:<24} {:>5} {:>6}  {:>7}", share.whole, share.part, share.percent())?;
        }
        writeln!(out)?;
        self.line("tool accuracy", self.tools, "cases in which a call is wanted", out)?;
        self.line("argument accuracy", self.arguments, "of those with the right tools", out)?;
        self.line("no-call accuracy", self.no_calls, &format!("no call even tried in {}", self.silences), out)?;
        self.line("text-only rate", self.talks, "words where a call is wanted", out)?;
        if self.states.whole > 0 {
            self.line("state accuracy", self.states, "cases that state what holds then", out)?;
        }
        if self.failures.part > 0 {
            self.line("not finished", self.failures, "the model server or the case failed", out)?;
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

/// A case that failed: what was wanted, and what came.
pub(super) fn told(head: &str, wanted: &str, heard: &Heard) -> String {
    let made: Vec<String> = heard.calls.iter().map(|call| written(&call.tool, &call.arguments)).collect();
    let made = if made.is_empty() { "no call".to_owned() } else { made.join(", ") };
    let mut words = format!("{head}\n  wanted:  {wanted}\n  made:    {made}\n");
    let unheard = heard.attempts.saturating_sub(heard.calls.len());
    if unheard > 0 {
        words += &format!("  refused: {unheard} more before they reached a tool\n");
    }
    if !heard.said.trim().is_empty() {
        words += &format!("  said:    {:?}\n", heard.said.trim());
    }
    if let Some(failure) = &heard.failure {
        words += &format!("  failed:  {failure}\n");
    }
    words
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
        let call = Verdict { wants_call: true, ..Verdict::default() };
        let verdicts = [
            Verdict { tools: true, arguments: true, holds: Some(true), ..call },
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
            "no-call accuracy:   100.0 %  1 of 1 (no call even tried in 1)",
            "text-only rate:      33.3 %  1 of 3",
            "state accuracy:     100.0 %  1 of 1",
        ] {
            assert!(page.contains(line), "{page}");
        }
        assert_eq!(page.lines().last(), Some("overall: 50.0 %"));
    }
}
