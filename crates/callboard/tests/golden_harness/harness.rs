//! The processes behind the pages: one scripted model server, and one Callboard for each settings text.
//!
//! Pages may run concurrently: each has its own model name, and with it its own script.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use callboard_test_support::golden_page::Page;
use callboard_test_support::{Answer, Connection, ModelServer, Program, ask};
use serde_json::Value;

use super::scripts::Scripts;

/// The model server and the programs in front of it.
pub(crate) struct Harness {
    scripts: Arc<Scripts>,
    model_server: ModelServer,
    programs: Mutex<HashMap<String, Program>>,
}

/// The model server's URL on pages.
pub(super) const MODEL_SERVER: &str = "http://model-server/v1";

impl Harness {
    /// Starts the model server; programs are started when a page needs them.
    pub(crate) fn new() -> Self {
        let scripts = Arc::new(Scripts::default());
        let model_server = Arc::clone(&scripts).serve();
        Self { model_server, scripts, programs: Mutex::default() }
    }

    /// Runs a page's script with a client, which gets an address and a callback for the first text. Returns the client's result
    /// and the upstream requests.
    pub(super) fn play<T>(&self, page: &Arc<Page>, act: impl FnOnce(&str, &dyn Fn()) -> T) -> (T, Vec<Value>) {
        let address = self.address(&settings_of(page));
        self.play_at(page, 1, || act(&address, &|| self.scripts.client_has_text(page)))
    }

    /// The same, starting with the reply of this number, with a client for a running program.
    pub(super) fn play_at<T>(&self, page: &Arc<Page>, first_reply: usize, act: impl FnOnce() -> T) -> (T, Vec<Value>) {
        self.scripts.begin(page, first_reply);
        let outcome = act();
        (outcome, self.scripts.end(page))
    }

    /// The base URL of the model server.
    pub(super) fn upstream(&self) -> &str {
        &self.model_server.url
    }

    /// Opens the gate of the page's script.
    pub(super) fn client_has_text(&self, page: &Page) {
        self.scripts.client_has_text(page);
    }

    /// Starts a program for one page.
    pub(super) fn start(&self, page: &Page, arguments: &[&str]) -> Program {
        self.start_with(&settings_of(page), arguments)
    }

    /// The metrics of the program with default settings.
    pub(crate) fn metrics(&self) -> String {
        ask(&self.address(""), "GET", "/metrics", &[], "").body
    }

    /// Sends a request for a page to a program with these settings; returns the reply and the upstream requests.
    pub(super) fn play_with(&self, page: &Arc<Page>, settings: &str, body: &str) -> (Answer, Vec<Value>) {
        let address = self.address(settings);
        self.play_at(page, 1, || post(&address, "/v1/chat/completions", body, || self.scripts.client_has_text(page)))
    }

    /// The address of the program with these settings.
    pub(super) fn address(&self, settings: &str) -> String {
        let mut programs = self.programs.lock().expect("no thread fails with it");
        let program = programs.entry(settings.to_owned()).or_insert_with(|| self.start_with(settings, &[]));
        program.address.clone()
    }

    fn start_with(&self, settings: &str, arguments: &[&str]) -> Program {
        let url = &self.model_server.url;
        if settings.contains(MODEL_SERVER) {
            return Program::with_settings(&settings.replace(MODEL_SERVER, url), arguments, &[]);
        }
        Program::with_settings(settings, &[&["--upstream", url], arguments].concat(), &[])
    }
}

fn settings_of(page: &Page) -> String {
    page.section("Settings").and_then(|section| section.fence("toml")).unwrap_or_default()
}

/// Whether a line of a stream contains text, in either API.
pub(super) fn holds_text(line: &[u8]) -> bool {
    [b"\"content\":\"".as_slice(), b"\"delta\":\"".as_slice()]
        .iter()
        .any(|key| line.windows(key.len() + 1).any(|window| window.starts_with(key) && !window.ends_with(b"\"")))
}

/// Posts a request; `on_text` is called when some text has arrived.
pub(super) fn post(address: &str, path: &str, body: &str, on_text: impl Fn()) -> Answer {
    let headers = ["content-type: application/json"];
    Connection::send(address, "POST", path, &headers, body).rest_by_line(|line| {
        if holds_text(line) {
            on_text();
        }
    })
}
