//! Model servers that nobody named: what the environment points at, then what listens on this machine at the usual ports.

use std::sync::Arc;
use std::time::Duration;

use super::models;
use super::{Client, Upstream};

/// Ollama, vLLM, llama.cpp, LM Studio, SGLang.
const PORTS: [u16; 5] = [11434, 8000, 8080, 1234, 30000];
const PATIENCE: Duration = Duration::from_millis(300);
const MOST_LIST_BYTES: usize = 4 << 20;

/// The base URLs of the servers on this machine that list models, in the order of the ports.
pub async fn local_servers(client: &Client) -> Vec<String> {
    let mut found = Vec::new();
    for port in PORTS {
        let url = format!("http://127.0.0.1:{port}/v1");
        let upstream = Arc::new(Upstream::new(url.clone()));
        let asked = tokio::time::timeout(PATIENCE, client.get(&upstream, "/models", None, MOST_LIST_BYTES)).await;
        if let Ok(Ok(body)) = asked
            && !models::entries(&body).is_empty()
        {
            found.push(url);
        }
    }
    found
}
