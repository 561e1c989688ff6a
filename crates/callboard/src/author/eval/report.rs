//! The accuracy of a model over all cases, and how it is printed.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::verdict::{ModelTurn, Verdict, call_line};

/// All verdicts so far.
#[derive(Debug, Default)]
pub(super) struct Report {
    verbose: bool,
    /// Each with the kind of its case.
    verdicts: Vec<(String, Verdict)>,
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
        self.verdicts.push((kind.to_owned(), verdict));
    }

    /// The share of verdicts with `part` among those with `whole`.
    fn share(&self, whole: impl Fn(&Verdict) -> bool, part: impl Fn(&Verdict) -> bool) -> Share {
        let mut share = Share::default();
        let verdicts = self.verdicts.iter().map(|(_, verdict)| verdict);
        verdicts.filter(|verdict| whole(verdict)).for_each(|verdict| share.count(part(verdict)));
        share
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
        let mut kinds: BTreeMap<&str, Share> = BTreeMap::new();
        for (kind, verdict) in &self.verdicts {
            kinds.entry(if kind.is_empty() { "-" } else { kind }).or_default().count(verdict.is_right());
        }
        writeln!(out, "{:<24} {:>5} {:>6}", "kind", "cases", "right")?;
        for (kind, share) in kinds {
            writeln!(out, "{kind:<24} {:>5} {:>6}  {:>7}", share.whole, share.part, share.percent())?;
        }
        writeln!(out)?;
        self.write_shares(out)?;
        writeln!(out, "overall: {}", self.share(|_| true, Verdict::is_right).percent())
    }

    fn write_shares(&self, out: &mut impl Write) -> io::Result<()> {
        let expects_call = |verdict: &Verdict| verdict.expects_call;
        let expects_none = |verdict: &Verdict| !verdict.expects_call;
        let tools = self.share(expects_call, |verdict| verdict.tools);
        let arguments = self.share(|verdict| verdict.expects_call && verdict.tools, |verdict| verdict.arguments);
        let no_calls = self.share(expects_none, Verdict::is_right);
        let silences = self.share(expects_none, |verdict| verdict.silent).part;
        let text_only = self.share(expects_call, |verdict| verdict.text_only && !verdict.is_right());
        let states = self.share(|verdict| verdict.state.is_some(), |verdict| verdict.state == Some(true));
        let failures = self.share(|_| true, |verdict| verdict.failed);
        line("tool accuracy", tools, "cases that expect a call", out)?;
        line("argument accuracy", arguments, "cases with the right tools", out)?;
        line("no-call accuracy", no_calls, &format!("no call attempted in {silences}"), out)?;
        line("text-only rate", text_only, "text where a call is expected", out)?;
        if states.whole > 0 {
            line("state accuracy", states, "cases that expect a state", out)?;
        }
        if failures.part > 0 {
            line("not finished", failures, "the model server failed, or the case cannot be set up", out)?;
        }
        Ok(())
    }

    /// True when no case could be completed.
    pub(super) fn is_void(&self) -> bool {
        self.verdicts.iter().all(|(_, verdict)| verdict.failed)
    }
}

fn line(what: &str, share: Share, remark: &str, out: &mut impl Write) -> io::Result<()> {
    let what = format!("{what}:");
    writeln!(out, "{what:<19} {:>7}  {} of {} ({remark})", share.percent(), share.part, share.whole)
}

/// A failed case: what was expected, and what the model did.
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
