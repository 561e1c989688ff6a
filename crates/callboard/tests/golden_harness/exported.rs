//! A turn that was recorded and exported as a page gives the client the same reply again.

use std::sync::Arc;

use callboard_test_support::ask;
use callboard_test_support::golden_page::Page;
use serde_json::Value;

use super::ids::Ids;
use super::play::{Mode, Outcome, request_for};
use super::{Harness, render};

const RECORDED: &str = "\n[trace]\ncontent = true\n";
/// The name of the model of an exported page, behind the first one's: nothing is known of it yet.
const SUFFIX: &str = "-again";

/// Plays a page, exports the turn, and plays the exported page.
pub(crate) fn check_exported(harness: &Harness, page: &Arc<Page>) -> Option<String> {
    let request = page.request()?;
    let settings = page.section("Settings").and_then(|section| section.fence("toml")).unwrap_or_default();
    if page.upstreams().is_empty() || settings.contains("[trace]") || settings.contains("[limits]") {
        return None;
    }
    let settings = settings + RECORDED;
    let mode = *render::modes(page).first()?;
    let first = outcome(harness, page, &settings, mode, &request);
    let text = exported(&harness.address(&settings), &first)?;
    let again = Arc::new(Page::read(format!("{}{SUFFIX}", page.stem), &text));
    let request = again.request().expect("a request");
    let second = outcome(harness, &again, &settings, mode, &request);
    let (expected, seen) = (shown(page, &first), shown(&again, &second).replace(SUFFIX, ""));
    let asked = (first.asked.len(), second.asked.len());
    (expected != seen || asked.0 != asked.1)
        .then(|| format!("{}: asked {asked:?}\n{expected}\nbut exported and played again\n{seen}\n{text}", page.stem))
}

fn outcome(harness: &Harness, page: &Arc<Page>, settings: &str, mode: Mode, request: &Value) -> Outcome {
    let request = request_for(page, request, mode).to_string();
    let (response, asked) = harness.play_with(page, settings, &request);
    Outcome { mode, response, asked }
}

/// The page of the turn; none for a request that was refused before its turn began.
fn exported(address: &str, outcome: &Outcome) -> Option<String> {
    let request_id = outcome.response.header("x-request-id").expect("an id");
    let traces = ask(address, "GET", &format!("/v1/traces?request_id={request_id}"), &[], "").ok();
    let id = traces["data"][0]["id"].as_str()?;
    let page = ask(address, "GET", &format!("/v1/traces/{id}/golden_page"), &[], "");
    assert_eq!(page.status, 200, "{}", page.body);
    assert!(page.header("content-disposition").is_some_and(|name| name.ends_with(".md\"")));
    Some(page.body)
}

fn shown(page: &Page, outcome: &Outcome) -> String {
    let sections = render::client_sections(outcome, None, None, &mut Ids::new(page));
    sections.iter().map(render::Titled::markdown).collect::<Vec<_>>().join("\n")
}
