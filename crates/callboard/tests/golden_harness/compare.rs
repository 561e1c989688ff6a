//! A page against what was seen: the same, rewritten, or a readable difference.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use super::play::{Mode, Take, play, play_text, request_for};
use super::{Stage, render, tables};
use crate::golden_page::Page;

const EXPECTATIONS: [&str; 5] = ["## Asked upstream", "## Client", "## Contract", "## Accepted", "## Refused"];

/// Plays a page; what is wrong with it comes back. `UPDATE=1` rewrites its expectations.
pub(crate) fn judge(stage: &Stage, page: &Arc<Page>) -> Option<String> {
    let mut faults = Vec::new();
    let seen = if page.section("Accepted").or_else(|| page.section("Refused")).is_some() {
        tables::page_text(stage, page, &mut faults)
    } else {
        scenario_text(stage, page, &mut faults)
    };
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/golden/{}.md", page.stem));
    let text = std::fs::read_to_string(&path).expect("the page");
    let (inputs, expected) = split_at_expectations(&text);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, format!("{}\n\n{seen}", inputs.trim_end())).expect("the page is rewritten");
    } else if expected != seen {
        faults.push(difference(expected, &seen));
    }
    (!faults.is_empty()).then(|| format!("tests/golden/{}.md\n{}\n", page.stem, faults.join("\n")))
}

fn scenario_text(stage: &Stage, page: &Arc<Page>, faults: &mut Vec<String>) -> String {
    let takes = takes(stage, page, faults);
    if let [streamed, whole] = takes.as_slice() {
        match (streamed.folded(), whole.folded()) {
            (Some(mut streamed), Some(mut whole)) => {
                streamed.calls.iter_mut().chain(&mut whole.calls).for_each(|[id, ..]| id.clear());
                if streamed != whole {
                    faults.push(format!("the folded stream is not the whole reply:\n  {streamed:?}\n  {whole:?}"));
                }
            }
            (None, None) => {}
            _ => faults.push("one mode fails, the other does not".to_owned()),
        }
    }
    render::page_text(page, &takes)
}

fn takes(stage: &Stage, page: &Arc<Page>, faults: &mut Vec<String>) -> Vec<Take> {
    let Some(request) = page.request() else {
        let raw = page.section("Request (raw)").and_then(|section| section.fence("text")).expect("a request");
        let take = play_text(stage, page, raw.trim_end(), Mode::Whole);
        faults.extend(take.faults(page, &Value::Null));
        return vec![take];
    };
    let is_kept = !page.section("Settings").is_some_and(|section| section.text.contains("mode = "));
    let take = |mode| {
        let request = request_for(page, &request, mode);
        let take = play(stage, page, &request, mode);
        faults.extend(take.faults(page, &request).into_iter().filter(|_| is_kept));
        take
    };
    render::modes(page).into_iter().map(take).collect()
}

/// Inputs and expectations; headings inside fences do not occur in pages.
fn split_at_expectations(text: &str) -> (&str, &str) {
    let starts = EXPECTATIONS.iter().filter_map(|heading| text.find(&format!("\n{heading}")).map(|place| place + 1));
    text.split_at(starts.min().unwrap_or(text.len()))
}

/// The lines that differ, under the heading of their section.
fn difference(expected: &str, seen: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), seen.lines().collect());
    let longest = longest_common(&old, &new);
    let (mut a, mut b, mut out) = (0, 0, String::new());
    let (mut section, mut told) = ("", "");
    while a < old.len() || b < new.len() {
        let kept = a < old.len() && b < new.len() && old[a] == new[b];
        let removed = !kept && a < old.len() && (b == new.len() || longest[a + 1][b] >= longest[a][b + 1]);
        let (mark, line) = if removed { ('-', old[a]) } else { ('+', new[b]) };
        section = if line.starts_with("## ") { line } else { section };
        if !kept {
            let heading = if told == section { String::new() } else { format!("  in {section}\n") };
            out.push_str(&format!("{heading}  {mark} {line}\n"));
            told = section;
        }
        a += usize::from(kept || removed);
        b += usize::from(!removed);
    }
    out
}

/// For each pair of places the length of the longest common sequence behind it.
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
