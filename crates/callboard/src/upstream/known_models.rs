//! What is known of the models of a server, as it is shown.

use serde_json::{Value, json};

use super::{ModelProfile, Upstream};
use crate::clock;

impl Upstream {
    /// The models about which something was found, and how tools reach each of them because of it.
    pub fn known_models(&self) -> Vec<Value> {
        self.profiles.known().iter().map(|(model, profile)| self.known_model(model, profile)).collect()
    }

    fn known_model(&self, model: &str, profile: &ModelProfile) -> Value {
        let findings = profile.findings().map(|(finding, found_at)| {
            let (kind, name, value) = (finding.kind(), finding.name(), finding.value());
            json!({"kind": kind, "name": name, "value": value, "found_at": clock::utc(found_at)})
        });
        json!({
            "model": model,
            "tools_mode": self.tools_mode(profile).to_string(),
            "tools_mode_from": self.tools_mode_from(profile),
            "version": profile.version().split('#').next(),
            "findings": findings.collect::<Vec<_>>(),
        })
    }

    /// What decides how tools reach a model.
    fn tools_mode_from(&self, profile: &ModelProfile) -> &'static str {
        match self.tools {
            Some(_) => "setting",
            None if profile.decides_tools_mode() => "finding",
            None => "default",
        }
    }
}
