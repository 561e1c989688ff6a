//! Which models of a server are to be probed, and waiting for what a probe finds.
//!
//! A probe is due at the first request with tools for a model of which nothing is known. That request, and those that come at the same
//! time, wait for a moment: long enough to benefit where the server is fast, never for long where it is slow.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use callboard_core::wire::chat::adapt::{Feature, Support};
use tokio::sync::Notify;

use super::identity::is_private;
use super::{ModelProfile, Upstream};

/// How long requests wait for a probe, from the time when it is due.
const PATIENCE: Duration = Duration::from_secs(5);
/// After this time a probe that failed is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(10 * 60);
/// Clients may name models as they like: no more are probed.
const MOST_MODELS: usize = 256;

/// When a server is probed of Callboard's own accord.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProbePolicy {
    /// Where that costs nothing and does no harm: without a key, in a private network, and by software that is known.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

impl ProbePolicy {
    /// The policy that a setting names.
    pub fn read(word: &str) -> Self {
        match word {
            "on" => Self::On,
            "off" => Self::Off,
            _ => Self::Auto,
        }
    }
}

/// The probes of a server.
#[derive(Debug, Default)]
pub(super) struct Probing {
    state: Mutex<State>,
    /// Wakes what runs the probes.
    due: Notify,
    /// Wakes those who wait for a probe.
    progress: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// Whether anything runs the probes.
    is_run: bool,
    models: HashMap<String, Attempt>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Attempt {
    stage: Stage,
    since: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Due,
    Running,
    /// All was tested.
    Complete,
    /// It ended early.
    Failed,
}

impl Probing {
    /// Says that probes are run from now on.
    pub(super) fn run(&self) {
        self.lock().is_run = true;
    }

    /// Waits for the next model that is to be probed.
    pub(super) async fn next_due(&self) -> String {
        loop {
            let due = self.due.notified();
            if let Some(model) = self.take_due() {
                return model;
            }
            due.await;
        }
    }

    fn take_due(&self) -> Option<String> {
        let mut state = self.lock();
        let due = state.models.iter_mut().find(|(_, attempt)| attempt.stage == Stage::Due);
        due.map(|(model, attempt)| {
            attempt.stage = Stage::Running;
            model.clone()
        })
    }

    /// Something was found.
    pub(super) fn found(&self) {
        self.progress.notify_waiters();
    }

    /// A probe is over: all was tested, or it failed.
    pub(super) fn over(&self, model: &str, is_complete: bool) {
        let stage = if is_complete { Stage::Complete } else { Stage::Failed };
        self.lock().models.insert(model.to_owned(), Attempt { stage, since: Instant::now() });
        self.progress.notify_waiters();
    }

    /// Probes of this model count no more, or those of all.
    pub(super) fn restart(&self, model: Option<&str>) {
        self.lock().models.retain(|name, attempt| attempt.is_under_way() || model.is_some_and(|model| model != name));
    }

    /// Makes a probe due where it is needed and none has been lately; returns since when it has been under way.
    fn demand(&self, model: &str, is_needed: bool, now: Instant) -> Option<Instant> {
        let mut state = self.lock();
        match state.models.get(model) {
            Some(attempt) if attempt.is_under_way() => return Some(attempt.since),
            Some(Attempt { stage: Stage::Complete, .. }) => return None,
            Some(attempt) if now.saturating_duration_since(attempt.since) < RETRY_AFTER => return None,
            None if !is_needed || !state.is_run || state.models.len() >= MOST_MODELS => return None,
            _ => {}
        }
        state.models.insert(model.to_owned(), Attempt { stage: Stage::Due, since: now });
        self.due.notify_one();
        Some(now)
    }

    fn is_under_way(&self, model: &str) -> bool {
        self.lock().models.get(model).is_some_and(Attempt::is_under_way)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attempt {
    fn is_under_way(&self) -> bool {
        matches!(self.stage, Stage::Due | Stage::Running)
    }
}

impl Upstream {
    /// Before a request with tools: makes a probe due where nothing is known of the model, and waits for it for a moment.
    pub async fn wait_for_probe(&self, model: &str) {
        let profile = if self.may_be_probed() { self.profiles.get(model) } else { return };
        if is_enough(&profile) {
            return;
        }
        // One that Callboard starts says who it is once it is ready.
        self.start().await;
        let is_needed = profile.capabilities.get(Feature::Tools).is_none();
        let Some(since) = self.probing.demand(model, is_needed, Instant::now()) else { return };
        // One that was down when it was asked who it is may be no server that is probed.
        if self.probe == ProbePolicy::Auto && self.profiles.is_known_software() != Some(true) {
            return;
        }
        let found = async {
            loop {
                let mut progress = std::pin::pin!(self.probing.progress.notified());
                progress.as_mut().enable();
                if !self.probing.is_under_way(model) || is_enough(&self.profiles.get(model)) {
                    return;
                }
                progress.await;
            }
        };
        let patience = PATIENCE.saturating_sub(since.elapsed());
        if tokio::time::timeout(patience, found).await.is_err() {
            tracing::debug!(upstream = self.url, model, "the probe takes long; the request does not wait for it");
        }
    }

    /// Whether it is probed of Callboard's own accord.
    pub(super) fn may_be_probed(&self) -> bool {
        match self.probe {
            _ if self.local.is_some() => false,
            ProbePolicy::Off => false,
            ProbePolicy::On => true,
            ProbePolicy::Auto if self.key.is_some() => false,
            // One that was not asked yet who it is may be known software.
            ProbePolicy::Auto => {
                self.profiles.is_known_software() != Some(false) && (self.supervised.is_some() || is_private(&self.url))
            }
        }
    }
}

/// Whether enough is known for a request to be sent: tools that a model sees are sent, whatever else is found.
fn is_enough(profile: &ModelProfile) -> bool {
    profile.capabilities.get(Feature::Tools) == Some(Support::Honored)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_probed_once() {
        let (probing, now) = (Probing::default(), Instant::now());
        assert_eq!(probing.demand("m", true, now), None, "nothing runs probes");
        probing.run();
        assert_eq!(probing.demand("m", false, now), None, "it is not needed");
        assert_eq!(probing.demand("m", true, now), Some(now));
        assert_eq!(probing.demand("m", false, now + PATIENCE), Some(now), "it is under way");
        assert_eq!(probing.take_due().as_deref(), Some("m"));
        assert_eq!(probing.take_due(), None);
        assert!(probing.is_under_way("m"));
        probing.over("m", false);
        assert!(!probing.is_under_way("m"));
        let over = Instant::now();
        assert_eq!(probing.demand("m", true, over), None, "it failed a moment ago");
        let later = over + RETRY_AFTER;
        assert_eq!(probing.demand("m", false, later), Some(later), "whatever it had found until then");
        probing.over("m", true);
        assert_eq!(probing.demand("m", true, later + 2 * RETRY_AFTER), None, "all was tested");
        probing.restart(Some("m"));
        assert_eq!(probing.demand("m", true, now), Some(now), "it has changed");
    }

    #[test]
    fn made_up_names_are_not_probed_without_bound() {
        let (probing, now) = (Probing::default(), Instant::now());
        probing.run();
        let due =
            (0..2 * MOST_MODELS).filter(|number| probing.demand(&number.to_string(), true, now).is_some()).count();
        assert_eq!(due, MOST_MODELS);
    }

    #[test]
    fn only_servers_that_cost_nothing_and_are_known_are_probed() {
        use ProbePolicy::{Auto, Off, On};
        let key = http::HeaderValue::from_static("Bearer k");
        for (url, policy, key, expected) in [
            ("http://127.0.0.1:8000/v1", Auto, None, true),
            ("http://127.0.0.1:8000/v1", Auto, Some(&key), false),
            ("http://127.0.0.1:8000/v1", Off, None, false),
            ("https://api.example/v1", Auto, None, false),
            ("https://api.example/v1", On, Some(&key), true),
        ] {
            let mut upstream = Upstream::new(url);
            (upstream.probe, upstream.key) = (policy, key.cloned());
            assert_eq!(upstream.may_be_probed(), expected, "{url} {policy:?}");
        }
        let mut rehearsal = Upstream::rehearsal();
        rehearsal.probe = On;
        assert!(!rehearsal.may_be_probed());
    }
}
