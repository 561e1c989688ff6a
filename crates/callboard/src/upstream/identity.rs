//! Who a model server says it is: its software, and its models by their entries in its list.

use std::collections::HashMap;
use std::time::Duration;

use http::Uri;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::server_software::Software;
use super::{Client, Upstream, Upstreams, model_list_cache, server_software};
use crate::hex;

/// Fields of an entry that differ from one answer to the next.
const CHANGING: [&str; 4] = ["created", "permission", "permissions", "status"];
/// The description of an API is the longest of the documents.
const MOST_BYTES: usize = 4 << 20;
const TIMEOUT: Duration = Duration::from_secs(5);

/// What a server says about itself and its models.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Identity {
    /// The name and version of its software, where that is known.
    software: Option<String>,
    /// A digest of the entry of each model.
    models: HashMap<String, String>,
}

impl Identity {
    /// Whether its software is known.
    pub(super) fn is_known(&self) -> bool {
        self.software.is_some()
    }

    /// Whether it is known to take several requests at a time, without interrupting one for another.
    pub(super) fn is_concurrent(&self) -> bool {
        self.software.as_deref().is_some_and(server_software::is_concurrent)
    }

    /// The version of a model: `SOFTWARE#DIGEST`, of which a server may tell only one part, or none.
    pub(super) fn version_of(&self, model: &str) -> String {
        let software = self.software.clone().unwrap_or_default();
        self.models.get(model).map_or(software.clone(), |digest| format!("{software}#{digest}"))
    }
}

impl Upstreams {
    /// Asks the servers whose software is known who they are now: one may have been updated without a moment of silence.
    pub async fn update_identities(&self, client: &Client) {
        for upstream in self.list().iter().filter(|upstream| upstream.profiles.is_known_software() == Some(true)) {
            upstream.state(client).await;
        }
    }
}

impl Upstream {
    /// Takes note of who it says it is. What was found about another version of it is forgotten.
    pub(super) async fn identify(&self, list: &[Value], client: &Client) {
        let software = match Software::of_list(list) {
            // What did not answer this time is what it was.
            Some(software) => self.version(software, client).await.or_else(|| self.profiles.identity()?.software),
            None => None,
        };
        let identity = Identity { software, models: list.iter().filter_map(digest).collect() };
        let version = identity.software.clone().unwrap_or_default();
        let forgotten = self.profiles.identify(identity);
        if !forgotten.is_empty() {
            let models = forgotten.join(", ");
            tracing::info!(
                upstream = self.url,
                models,
                version,
                "model server has changed; what was found out is forgotten"
            );
            forgotten.iter().for_each(|model| self.probing.restart(Some(model)));
        }
    }

    async fn version(&self, software: Software, client: &Client) -> Option<String> {
        let url = self.running_url().ok()?;
        let mut root = Self::new(url.strip_suffix("/v1").unwrap_or(&url));
        root.key.clone_from(&self.key);
        let asked = client.get(&root, software.path, None, MOST_BYTES);
        let document = tokio::time::timeout(TIMEOUT, asked).await.ok()?.ok()?;
        software.version(&serde_json::from_slice(&document).ok()?)
    }
}

/// The id of an entry, and a short digest of what it says.
fn digest(entry: &Value) -> Option<(String, String)> {
    let id = model_list_cache::id_of(entry)?.to_owned();
    let mut fields = entry.as_object()?.clone();
    fields.retain(|name, _| !CHANGING.contains(&name.as_str()));
    let digest = hex::encode(&Sha256::digest(Value::Object(fields).to_string()));
    Some((id, digest.get(..8).unwrap_or_default().to_owned()))
}

/// Whether a base URL is on this machine or in a private network.
pub(super) fn is_private(url: &str) -> bool {
    let Ok(uri) = url.parse::<Uri>() else { return false };
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_ascii_lowercase();
    match host.parse() {
        Ok(std::net::IpAddr::V4(address)) => address.is_loopback() || address.is_private() || address.is_link_local(),
        Ok(std::net::IpAddr::V6(address)) => {
            address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
        }
        // A name without dots has no owner on the internet: it is a container's, or from a file of hosts.
        Err(_) => !host.contains('.') || [".local", ".internal", ".localhost"].iter().any(|end| host.ends_with(end)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    impl Identity {
        pub(crate) fn of_software(software: &str) -> Self {
            Self { software: Some(software.to_owned()), models: HashMap::new() }
        }
    }

    #[test]
    fn private_addresses() {
        for (url, expected) in [
            ("http://127.0.0.1:8000/v1", true),
            ("http://localhost:8000/v1", true),
            ("http://[::1]:8000/v1", true),
            ("http://10.0.0.5:8000/v1", true),
            ("http://172.20.0.5/v1", true),
            ("http://192.168.1.9/v1", true),
            ("http://[fd00::1]/v1", true),
            ("http://ollama:11434/v1", true),
            ("http://host.docker.internal:11434/v1", true),
            ("https://api.openai.com/v1", false),
            ("http://8.8.8.8/v1", false),
            ("http://172.32.0.1/v1", false),
            ("nonsense", true),
        ] {
            assert_eq!(is_private(url), expected, "{url}");
        }
    }

    #[test]
    fn a_version_changes_with_the_software_and_with_the_entry_of_the_model() {
        let identity = |software: Option<&str>, entry: Value| Identity {
            software: software.map(str::to_owned),
            models: [digest(&entry).unwrap()].into(),
        };
        let first = identity(Some("vLLM 1"), json!({"id": "m", "root": "a", "created": 1})).version_of("m");
        assert!(first.starts_with("vLLM 1#") && first.len() == 15, "{first}");
        let same = identity(Some("vLLM 1"), json!({"id": "m", "root": "a", "created": 2}));
        assert_eq!(same.version_of("m"), first);
        assert_eq!(same.version_of("unlisted"), "vLLM 1");
        assert_ne!(identity(Some("vLLM 1"), json!({"id": "m", "root": "b"})).version_of("m"), first);
        assert_ne!(identity(Some("vLLM 2"), json!({"id": "m", "root": "a"})).version_of("m"), first);
        assert_eq!(identity(None, json!({"id": "m"})).version_of("n"), "");
    }
}
