//! The stage: one scripted model server, and one Callboard for each text of settings that pages ask for.
//!
//! Pages may be played at the same time: each has its own model name, and with it its own script.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::client;
use super::program::Program;
use super::server::{self, Scripts};
use crate::golden_page::Page;

/// Everything that runs while pages are played.
pub(crate) struct Stage {
    scripts: Arc<Scripts>,
    port: u16,
    programs: Mutex<HashMap<String, Program>>,
}

impl Stage {
    /// A stage whose model server listens; programs start when a page needs them.
    pub(crate) fn new() -> Self {
        let scripts = Arc::new(Scripts::default());
        Self { port: server::start(Arc::clone(&scripts)), scripts, programs: Mutex::default() }
    }

    /// Plays a page's script while a client acts. The client gets an address, and something to call when text has arrived.
    /// What it brings back, and what the model server was asked.
    pub(super) fn play<T>(&self, page: &Arc<Page>, act: impl FnOnce(&str, &dyn Fn()) -> T) -> (T, Vec<Value>) {
        let settings = page.section("Settings").and_then(|section| section.fence("toml")).unwrap_or_default();
        let address = self.address(&settings);
        self.scripts.begin(page);
        let told = act(&address, &|| self.scripts.client_has_text(page));
        (told, self.scripts.end(page))
    }

    /// What `/metrics` says where no page asked for other settings.
    pub(crate) fn metrics(&self) -> String {
        let address = self.address("");
        String::from_utf8(client::get(&address, "/metrics").body).expect("metrics are text")
    }

    fn address(&self, settings: &str) -> String {
        let mut programs = self.programs.lock().expect("no thread fails with it");
        let program = programs.entry(settings.to_owned()).or_insert_with(|| Program::start(settings, self.port));
        program.address.clone()
    }
}
