//! The configured model servers: which of them serve a model, in which order, and what models there are.

use std::sync::Arc;
use std::time::{Duration, Instant};

use callboard_core::wire::ApiError;
use callboard_core::wire::chat::adapt::ToolsMode;
use futures_util::future::join_all;
use http::HeaderValue;
use serde_json::{Value, json};

use super::health::{Health, InFlight};
use super::model_list_cache::{self, ModelLists};
use super::probing::{ProbePolicy, Probing};
use super::route::{Alias, Claim, NoRoute, Route};
use super::route_search::Search;
use super::server_state::{ServerState, fetch_list};
use super::{Client, Failure, LocalModel, ModelProfile, ModelProfiles, SupervisedServer};
use crate::config::ContractMode;
use crate::telemetry::metrics;

/// The name of the built-in model, and of its server.
pub const REHEARSAL: &str = "rehearsal";

/// One model server.
#[derive(Debug)]
pub struct Upstream {
    /// Its base URL, without a slash at the end; its name where Callboard starts it; the model's name where it lives in this process.
    pub url: String,
    /// The key that is sent to it.
    pub key: Option<HeaderValue>,
    /// How its calls are treated.
    pub contract: ContractMode,
    /// The model itself, where it lives in this process.
    pub local: Option<Arc<dyn LocalModel>>,
    /// Patterns of the models it serves; none means that its own list decides.
    pub models: Vec<String>,
    /// Other names for its models.
    pub aliases: Vec<Alias>,
    /// How tools reach its models, where a setting says it.
    pub tools: Option<ToolsMode>,
    /// What is known of its models.
    pub profiles: ModelProfiles,
    /// The server's process, where Callboard starts it.
    pub supervised: Option<SupervisedServer>,
    /// When it is probed of Callboard's own accord.
    pub probe: ProbePolicy,
    pub(super) probing: Probing,
    health: Health,
}

impl Upstream {
    /// A server at a base URL.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            key: None,
            contract: ContractMode::Enforce,
            local: None,
            models: Vec::new(),
            aliases: Vec::new(),
            tools: None,
            profiles: ModelProfiles::default(),
            supervised: None,
            probe: ProbePolicy::Auto,
            probing: Probing::default(),
            health: Health::default(),
        }
    }

    /// A model that lives in this process.
    pub fn local(name: &str, model: Arc<dyn LocalModel>) -> Self {
        Self { local: Some(model), ..Self::new(name) }
    }

    /// Counts a request as in flight for as long as the guard lives.
    pub fn begin(&self) -> InFlight {
        self.health.begin()
    }

    /// How tools reach this model: as the setting says, else as the server was found to need it.
    pub fn tools_mode(&self, profile: &ModelProfile) -> ToolsMode {
        self.tools.unwrap_or_else(|| profile.tools_mode())
    }

    /// Records a complete reply.
    pub fn succeeded(&self) {
        metrics::upstream_reply(&self.url, "ok");
        self.health.succeeded();
    }

    /// Records that a request got no complete reply. Each failure is recorded once, where it is found.
    pub fn failed(&self, request_id: &str, failure: &Failure) {
        tracing::warn!(request_id, upstream = self.url, %failure, "upstream failed");
        metrics::upstream_reply(&self.url, failure.label());
        self.supervised.iter().filter(|_| failure.is_lost_connection()).for_each(SupervisedServer::doubt);
        self.count(failure);
    }

    /// Counts a failure that is the server's.
    fn count(&self, failure: &Failure) {
        if failure.is_upstream_fault() && self.health.failed(Instant::now()) {
            tracing::warn!(upstream = self.url, "upstream set aside after repeated failures");
        }
    }

    /// How many requests are in flight.
    pub fn in_flight(&self) -> usize {
        self.health.in_flight()
    }

    /// True while it is set aside.
    pub fn is_set_aside(&self) -> bool {
        self.health.is_set_aside(Instant::now())
    }

    /// It was started, and answers.
    pub(super) fn reset_breaker(&self) {
        self.health.succeeded();
    }

    /// The names in its settings: of its aliases, and the patterns of its models.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.aliases.iter().map(|alias| alias.name.as_str()).chain(self.models.iter().map(String::as_str))
    }

    pub(super) fn load(&self) -> (bool, usize) {
        (self.is_set_aside() || !self.is_running(), self.health.in_flight())
    }
}

/// All configured servers.
#[derive(Debug, Clone)]
pub struct Upstreams {
    list: Arc<[Arc<Upstream>]>,
    models: Arc<ModelLists>,
}

impl Upstreams {
    /// The servers in the order of the configuration.
    pub fn new(list: Vec<Upstream>) -> Self {
        Self { list: list.into_iter().map(Arc::new).collect(), models: Arc::default() }
    }

    /// The servers.
    pub fn list(&self) -> &[Arc<Upstream>] {
        &self.list
    }

    /// The servers for a model, best first: not set aside, and with the fewest requests in flight.
    pub async fn routes(
        &self,
        model: &str,
        client: &Client,
        authorization: Option<&HeaderValue>,
    ) -> Result<Vec<Route>, NoRoute> {
        if self.list.is_empty() {
            return Err(ApiError::no_upstream().into());
        }
        if let Some(own) = self.own_model(model) {
            return Ok(vec![Route::new(Arc::clone(own), model.to_owned())]);
        }
        let mut search = Search { model, client, authorization, routes: Vec::new(), known: Vec::new(), failure: None };
        let (running, others): (Vec<_>, Vec<_>) = self.list.iter().enumerate().partition(|(_, one)| one.is_running());
        for (number, _) in running {
            self.consider(number, &mut search).await;
        }
        for (number, upstream) in others {
            if search.routes.is_empty() && upstream.list_is_needed(model) && !self.is_only(upstream) {
                upstream.start().await;
            }
            self.consider(number, &mut search).await;
        }
        search.finish()
    }

    /// The only server there is, for a request that names no model.
    pub fn only_route(&self) -> Option<Route> {
        let only = self.list.iter().find(|upstream| upstream.local.is_none() && self.is_only(upstream))?;
        Some(Route::new(Arc::clone(only), String::new()))
    }

    /// Whether there is any server, or only the models in this process.
    pub fn has_server(&self) -> bool {
        self.list.iter().any(|upstream| upstream.local.is_none())
    }

    /// A local model by its name. Only an alias can give that name to a server.
    fn own_model(&self, model: &str) -> Option<&Arc<Upstream>> {
        let is_alias = self.list.iter().any(|upstream| upstream.aliases.iter().any(|alias| alias.name == model));
        self.list.iter().find(|upstream| upstream.local.is_some() && upstream.url == model).filter(|_| !is_alias)
    }

    async fn consider(&self, number: usize, search: &mut Search<'_>) {
        let Some(upstream) = self.list.get(number) else { return };
        let mut served = |model: String| search.routes.push(Route::new(Arc::clone(upstream), model));
        match upstream.claim(search.model) {
            Claim::Served(model) => served(model),
            Claim::Foreign if !self.offers(upstream) => {}
            Claim::Foreign => search.known.extend(upstream.names().map(str::to_owned)),
            Claim::Unknown if self.is_only(upstream) => served(search.model.to_owned()),
            Claim::Unknown => match self.known_list(number, upstream, search).await {
                Ok(list) if list.iter().any(|entry| model_list_cache::id_of(entry) == Some(search.model)) => {
                    search.routes.push(Route::new(Arc::clone(upstream), search.model.to_owned()));
                }
                Ok(list) => {
                    let listed = list.iter().filter_map(model_list_cache::id_of);
                    search.known.extend(upstream.names().chain(listed).map(str::to_owned));
                }
                Err(failure) => search.failure = Some(failure),
            },
        }
    }

    /// The list of a server that is not set aside, else its last one: a request must not wait for it to fail.
    async fn known_list(&self, number: usize, upstream: &Upstream, search: &Search<'_>) -> Result<Vec<Value>, Failure> {
        if upstream.is_set_aside() {
            let last = self.models.get_stale(number, Instant::now());
            let reason = "set aside after repeated failures";
            return last.ok_or_else(|| Failure::unreachable(reason).at(&upstream.url));
        }
        let list = self.list_of(number, search.client, search.authorization).await;
        if let Err(failure) = &list {
            tracing::warn!(upstream = upstream.url, %failure, "upstream does not list its models");
            upstream.count(failure);
        }
        list
    }

    /// True for the only server, or for a local model where there is no server.
    fn is_only(&self, upstream: &Upstream) -> bool {
        let servers = self.list.iter().filter(|upstream| upstream.local.is_none()).count();
        if upstream.local.is_some() { servers == 0 } else { servers == 1 }
    }

    /// The servers, and the local model where there is none.
    pub fn on_offer(&self) -> impl Iterator<Item = &Arc<Upstream>> {
        self.list.iter().filter(|upstream| self.offers(upstream))
    }

    /// Whether its models are on offer. A local model is where there is no server; else it is asked only by its name.
    fn offers(&self, upstream: &Upstream) -> bool {
        upstream.local.is_none() || self.is_only(upstream)
    }

    /// All models of all servers that answer; an error only when none does.
    pub async fn all_models(
        &self,
        client: &Client,
        authorization: Option<&HeaderValue>,
    ) -> Result<Vec<Value>, ApiError> {
        if self.list.is_empty() {
            return Err(ApiError::no_upstream());
        }
        match self.listed_once_started(client, authorization).await {
            (all, Some(failure)) if all.is_empty() => Err(failure.to_api()),
            (all, _) => Ok(all),
        }
    }

    /// The models on offer, each once, and the failure of a server that does not answer.
    async fn listed(&self, client: &Client, authorization: Option<&HeaderValue>) -> (Vec<Value>, Option<Failure>) {
        let (mut all, mut failure): (Vec<Value>, _) = (Vec::new(), None);
        for (number, upstream) in self.list.iter().enumerate().filter(|(_, upstream)| self.offers(upstream)) {
            all.extend(upstream.aliases.iter().map(|alias| entry(&alias.name)));
            match self.list_of(number, client, authorization).await {
                Ok(list) => all.extend(list),
                Err(error) => failure = Some(error),
            }
        }
        let mut seen = std::collections::HashSet::new();
        all.retain(|entry| model_list_cache::id_of(entry).is_some_and(|id| seen.insert(id.to_owned())));
        (all, failure)
    }

    /// The same, once a server was started where there are none without it.
    async fn listed_once_started(
        &self,
        client: &Client,
        authorization: Option<&HeaderValue>,
    ) -> (Vec<Value>, Option<Failure>) {
        let listed = self.listed(client, authorization).await;
        if listed.0.is_empty() && Box::pin(self.start_first()).await {
            return self.listed(client, authorization).await;
        }
        listed
    }

    /// The first model in the lists. A local model is no fallback for a server that does not answer.
    pub async fn first_model(&self, client: &Client, authorization: Option<&HeaderValue>) -> Result<String, ApiError> {
        let (all, failure) = self.listed_once_started(client, authorization).await;
        match (all.first().and_then(model_list_cache::id_of), failure) {
            (Some(first), _) => Ok(first.to_owned()),
            (None, None) if self.list.is_empty() => Err(ApiError::no_upstream()),
            (None, None | Some(Failure::Refused { .. })) => {
                let words = "it lists no models; name one with --model or in the character's MODEL";
                Err(ApiError::upstream_broken(words))
            }
            (None, Some(failure)) => Err(failure.to_api()),
        }
    }

    /// True when any server answers at all.
    pub async fn any_answers(&self, client: &Client) -> bool {
        for upstream in self.list.iter() {
            let is_there = match upstream.local {
                Some(_) => self.is_only(upstream),
                None => upstream.state(client).await.answers(),
            };
            if is_there {
                return true;
            }
        }
        false
    }

    /// Asks every server for its models, and logs which answer. A server that has not answered in time has no state.
    pub async fn states_within(&self, time: Duration, client: &Client) -> Vec<(Arc<Upstream>, Option<ServerState>)> {
        let servers = self.list.iter().filter(|upstream| upstream.local.is_none());
        let states = servers.map(|upstream| async {
            upstream.wait_until_started(time).await;
            let state = tokio::time::timeout(time, upstream.state(client)).await.ok();
            log_state(upstream, state.as_ref());
            (Arc::clone(upstream), state)
        });
        join_all(states).await
    }

    /// Checks whether servers that are set aside answer again.
    pub async fn probe(&self, client: &Client) {
        for upstream in self.list.iter().filter(|upstream| upstream.is_set_aside()) {
            if upstream.state(client).await.answers() {
                tracing::info!(upstream = upstream.url, "upstream is back");
                upstream.health.half_open();
            }
        }
    }

    async fn list_of(
        &self,
        number: usize,
        client: &Client,
        authorization: Option<&HeaderValue>,
    ) -> Result<Vec<Value>, Failure> {
        if let Some(list) = self.models.get(number, Instant::now()) {
            return Ok(list);
        }
        let Some(upstream) = self.list.get(number) else { return Ok(Vec::new()) };
        if upstream.local.is_some() {
            return Ok(vec![entry(&upstream.url)]);
        }
        match fetch_list(upstream, client, authorization).await {
            Ok(body) => {
                let list = model_list_cache::entries(&body);
                self.models.insert(number, &list, Instant::now());
                Ok(list)
            }
            Err(failure) => {
                let last = self.models.get_stale(number, Instant::now());
                last.or_else(|| upstream.models_before_start()).ok_or(failure)
            }
        }
    }
}

fn log_state(upstream: &Upstream, state: Option<&ServerState>) {
    match state {
        Some(state @ (ServerState::Lists(_) | ServerState::NotReady(_))) => {
            tracing::info!(upstream = upstream.url, "model server {state}");
        }
        Some(state) => tracing::warn!(upstream = upstream.url, "model server {state}"),
        None => tracing::warn!(upstream = upstream.url, "model server has not listed its models yet"),
    }
}

pub(super) fn entry(id: &str) -> Value {
    json!({"id": id, "object": "model", "created": 0, "owned_by": "callboard"})
}
