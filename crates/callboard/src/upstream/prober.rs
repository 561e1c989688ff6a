//! Runs probes: sends their requests, one at a time and only while the server has nothing else to do, and remembers what they find.
//!
//! A probe is no client's request: it is not traced, not in flight, and its failure is no error of a request.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use callboard_core::wire::chat::adapt::{Finding, Lessons, Probe, Quirk, adapt};
use futures_util::future::join_all;
use http::HeaderMap;
use http::header::USER_AGENT;
use serde_json::Value;

use super::client::AGENT_OF_PROBE;
use super::{Client, Failure, ProbePolicy, ServerState, Upstream, Upstreams};
use crate::random;
use crate::telemetry::metrics;

/// How long one request of a probe may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
const MOST_REPLY_BYTES: usize = 1 << 20;
/// How often a server at work is looked at, and for how long, until it has nothing else to do.
const IDLE_CHECK: Duration = Duration::from_millis(100);
const LONGEST_WORK: Duration = Duration::from_secs(60);

impl Upstreams {
    /// Runs the probes of all servers, one at a time for each, for as long as it is polled.
    pub async fn run_probes(&self, client: &Client) {
        join_all(
            self.list().iter().filter(|upstream| upstream.local.is_none()).map(|upstream| upstream.run_probes(client)),
        )
        .await;
    }
}

impl Upstream {
    async fn run_probes(&self, client: &Client) {
        self.probing.run();
        loop {
            let model = self.probing.next_due().await;
            if self.profiles.is_known_software().is_none() {
                self.start().await;
                self.state(client).await;
            }
            let is_complete = !self.is_probed() || self.probe_model(&model, client).await;
            self.probing.over(&model, is_complete);
        }
    }

    /// Whether it is probed, now that it was asked who it is.
    fn is_probed(&self) -> bool {
        self.may_be_probed() && (self.probe == ProbePolicy::On || self.profiles.is_known_software() == Some(true))
    }

    /// Probes one model now, or else those of which something is known, or else the first in the list; whatever the settings say.
    pub async fn probe_now(&self, model: Option<&str>, client: &Client) {
        self.start().await;
        let listed = match self.state(client).await {
            ServerState::Lists(models) => models,
            _ => Vec::new(),
        };
        let known: Vec<String> = self.profiles.known().into_keys().collect();
        let models = match model {
            Some(model) => vec![model.to_owned()],
            None if known.is_empty() => listed.into_iter().take(1).collect(),
            None => known,
        };
        for model in models {
            let is_complete = self.probe_model(&model, client).await;
            self.probing.over(&model, is_complete);
        }
    }

    /// Forgets what was found about one model, or about all.
    pub fn forget(&self, model: Option<&str>) {
        let forgotten = self.profiles.forget(model);
        self.probing.restart(model);
        if !forgotten.is_empty() {
            tracing::info!(upstream = self.url, models = forgotten.join(", "), "what was found out is forgotten");
        }
    }

    /// Probes a model; false where the probe ended early.
    async fn probe_model(&self, model: &str, client: &Client) -> bool {
        let (begun, mut requests, mut found, mut is_complete) = (Instant::now(), 0_usize, Vec::new(), true);
        let (mut probe, mut lessons) = (Probe::new(&random::letters::<6>()), Lessons::default());
        while let Some(body) = probe.request() {
            if !self.becomes_idle().await {
                is_complete = false;
                break;
            }
            requests += 1;
            let body = self.probe_body(body, model, &lessons);
            match self.send_probe(&body, client).await {
                Ok(reply) => {
                    for quirk in lessons.quirks() {
                        self.profiles.learn(model, quirk.clone());
                    }
                    found.extend(self.remember(model, probe.answered(&reply)));
                }
                Err(failure) => match failure.refusal() {
                    // What a request without tested fields is refused for is learned as from any other.
                    Some(refusal) if probe.is_plain() && lessons.refused(&refusal, &body) => {}
                    Some(refusal) => found.extend(self.remember(model, probe.refused(&refusal))),
                    None => {
                        is_complete = false;
                        break;
                    }
                },
            }
        }
        is_complete &= probe.is_complete();
        metrics::probe(&self.url, if is_complete { "complete" } else { "failed" });
        let (found, took_ms) = (found.join(" "), begun.elapsed().as_millis());
        tracing::info!(upstream = self.url, model, found, requests, took_ms, "probed model server");
        is_complete
    }

    /// Remembers findings; returns them in words.
    fn remember(&self, model: &str, findings: Vec<Finding>) -> Vec<String> {
        let words = findings.iter().map(|finding| match finding {
            Finding::Quirk(quirk) => quirk.to_string(),
            Finding::Capability(feature, support) => format!("{}={}", feature.as_str(), support.as_str()),
        });
        let words = words.collect();
        findings.into_iter().for_each(|finding| self.profiles.add(model, finding));
        self.probing.found();
        words
    }

    /// The request in the form that the server takes, but for what the probe tests.
    fn probe_body(&self, mut body: Value, model: &str, lessons: &Lessons) -> Value {
        let profile = self.profiles.get(model);
        let known = profile.quirks.iter().chain(lessons.quirks()).filter(|quirk| !is_tested(quirk));
        let quirks: BTreeSet<Quirk> = known.cloned().collect();
        body["model"] = model.into();
        adapt(&mut body, &quirks, profile.family);
        body
    }

    async fn send_probe(&self, body: &Value, client: &Client) -> Result<Vec<u8>, Failure> {
        let headers = HeaderMap::from_iter([(USER_AGENT, AGENT_OF_PROBE)]);
        let answered = async {
            let mut reply = client.chat(self, None, headers, body.to_string().into_bytes()).await?;
            let mut bytes = Vec::new();
            while let Some(piece) = reply.body.next().await? {
                bytes.extend_from_slice(&piece);
                if bytes.len() > MOST_REPLY_BYTES {
                    return Err(Failure::Unusable("the reply to a probe is too long".to_owned()));
                }
            }
            Ok(bytes)
        };
        let late = |_| Failure::Timeout { phase: "waiting for a probe", seconds: REQUEST_TIMEOUT.as_secs_f64() };
        tokio::time::timeout(REQUEST_TIMEOUT, answered).await.map_err(late)?
    }

    /// Waits until no client's request is in flight, unless the server is known to take several: others interrupt one for another.
    async fn becomes_idle(&self) -> bool {
        if self.profiles.identity().is_some_and(|identity| identity.is_concurrent()) {
            return true;
        }
        let idle = async {
            while self.in_flight() > 0 {
                tokio::time::sleep(IDLE_CHECK).await;
            }
        };
        tokio::time::timeout(LONGEST_WORK, idle).await.is_ok()
    }
}

fn is_tested(quirk: &Quirk) -> bool {
    matches!(
        quirk,
        Quirk::Tools
            | Quirk::ToolChoice
            | Quirk::ParallelToolCalls
            | Quirk::Strict
            | Quirk::ResponseFormat
            | Quirk::JsonObject
            | Quirk::SchemaInJsonObject
    )
}
