//! Compares a page with its results: equal, rewritten, or a readable diff.

use std::sync::Arc;

use callboard_test_support::golden_page::Page;
use serde_json::Value;

use super::play::{Mode, Outcome, play, play_text, request_for};
use super::{Harness, conversation, render, request_tables};

const EXPECTATIONS: [&str; 5] = ["## Asked upstream", "## Client", "## Contract", "## Accepted", "## Refused"];

/// Runs a page and returns its faults. `UPDATE=1` rewrites its expectations.
pub(crate) fn check_page(harness: &Harness, page: &Arc<Page>) -> Option<String> {
    let mut faults = Vec::new();
    let text = std::fs::read_to_string(page.path()).expect("the page");
    let seen = if page.is_conversation() {
        conversation::page_text(harness, page, &text, &mut faults)
    } else if page.section("Accepted").or_else(|| page.section("Refused")).is_some() {
        with_inputs(&text, &request_tables::page_text(harness, page, &mut faults))
    } else {
        with_inputs(&text, &scenario_text(harness, page, &mut faults))
    };
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(page.path(), seen).expect("the page is rewritten");
    } else if text != seen {
        faults.push(difference(&text, &seen));
    }
    (!faults.is_empty()).then(|| format!("tests/golden/{}.md\n{}\n", page.stem, faults.join("\n")))
}

fn scenario_text(harness: &Harness, page: &Arc<Page>, faults: &mut Vec<String>) -> String {
    let outcomes = outcomes(harness, page, faults);
    if let [streamed, whole] = outcomes.as_slice() {
        faults.extend(render::difference_when_folded(streamed, whole));
    }
    render::page_text(page, &outcomes)
}

fn outcomes(harness: &Harness, page: &Arc<Page>, faults: &mut Vec<String>) -> Vec<Outcome> {
    let Some(request) = page.request() else {
        let raw = page.section("Request (raw)").and_then(|section| section.fence("text")).expect("a request");
        let outcome = play_text(harness, page, raw.trim_end(), Mode::Whole);
        faults.extend(outcome.faults(page, &Value::Null));
        return vec![outcome];
    };
    let is_kept = !page.section("Settings").is_some_and(|section| section.text.contains("mode = "));
    let outcome = |mode| {
        let request = request_for(page, &request, mode);
        let outcome = play(harness, page, &request, mode);
        faults.extend(outcome.faults(page, &request).into_iter().filter(|_| is_kept));
        outcome
    };
    render::modes(page).into_iter().map(outcome).collect()
}

/// The inputs of a page with these expectations; headings inside fences do not occur in pages of one request.
fn with_inputs(text: &str, expectations: &str) -> String {
    let starts = EXPECTATIONS.iter().filter_map(|heading| text.find(&format!("\n{heading}")));
    let (inputs, _) = text.split_at(starts.min().unwrap_or(text.len()));
    format!("{}\n\n{expectations}", inputs.trim_end())
}

/// The lines that differ, under the heading of their section.
fn difference(expected: &str, seen: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), seen.lines().collect());
    let longest = longest_common(&old, &new);
    let (mut a, mut b, mut out) = (0, 0, String::new());
    let (mut section, mut last_section) = ("", "");
    while a < old.len() || b < new.len() {
        let kept = a < old.len() && b < new.len() && old[a] == new[b];
        let removed = !kept && a < old.len() && (b == new.len() || longest[a + 1][b] >= longest[a][b + 1]);
        let (mark, line) = if removed { ('-', old[a]) } else { ('+', new[b]) };
        section = if line.starts_with("## ") { line } else { section };
        if !kept {
            let heading = if last_section == section { String::new() } else { format!("  in {section}\n") };
            out.push_str(&format!("{heading}  {mark} {line}\n"));
            last_section = section;
        }
        a += usize::from(kept || removed);
        b += usize::from(!removed);
    }
    out
}

/// The length of the longest common subsequence after each pair of positions.
fn longest_common(old: &[&str], new: &[&str]) -> Vec<Vec<usize>> {
    let mut longest = vec![vec![0; new.len() + 1]; old.len() + 1];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            longest[a][b] =
                if old[a] == new[b] { longest[a + 1][b + 1] + 1 } else { longest[a + 1][b].max(longest[a][b + 1]) };
        }
    }
    longest
}
