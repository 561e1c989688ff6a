//! The stage: one scripted model server, and one Callboard for each text of settings that pages ask for.

use std::collections::HashMap;
use std::sync::Arc;

use super::program::Program;
use super::server::{self, Scripts};
use super::{client, http::Message};
use crate::golden_page::Page;

/// Everything that runs while pages are played.
pub(crate) struct Stage {
    scripts: Arc<Scripts>,
    port: u16,
    programs: HashMap<String, Program>,
}

impl Stage {
    /// A stage whose model server listens; programs start when a page needs them.
    pub(crate) fn new() -> Self {
        let scripts = Arc::new(Scripts::default());
        Self { port: server::start(Arc::clone(&scripts)), scripts, programs: HashMap::new() }
    }

    /// Plays a body against the page's script; the response, and what the model server was asked.
    pub(super) fn play(&mut self, page: &Arc<Page>, body: &str) -> (Message, Vec<serde_json::Value>) {
        let settings = page.section("Settings").and_then(|section| section.fence("toml")).unwrap_or_default();
        let address = self.address(&settings);
        self.scripts.begin(page);
        let response = client::post(&address, body, || self.scripts.client_has_text(page));
        (response, self.scripts.end(page))
    }

    /// What `/metrics` says where no page asked for other settings.
    pub(crate) fn metrics(&mut self) -> String {
        let address = self.address("");
        String::from_utf8(client::get(&address, "/metrics").body).expect("metrics are text")
    }

    fn address(&mut self, settings: &str) -> String {
        let port = self.port;
        let program = self.programs.entry(settings.to_owned()).or_insert_with(|| Program::start(settings, port));
        program.address.clone()
    }
}
