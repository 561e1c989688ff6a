//! All configured model servers: which of them a request may go to, and in which order.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use callboard_core::wire::ApiError;
use http::HeaderValue;
use serde_json::{Value, json};

use super::health::{Busy, Health};
use super::learned::Learned;
use super::models::{self, ModelList};
use super::routing::{Alias, Claim, Route};
use super::{Client, Failure, LocalModel, Rehearsal};
use crate::config::ContractMode;

const MOST_LIST_BYTES: usize = 4 << 20;
const LIST_PATIENCE: Duration = Duration::from_secs(5);
const REHEARSAL: &str = "rehearsal";

/// One model server.
#[derive(Debug)]
pub struct Upstream {
    /// Its base URL, without a slash at the end; the model's name where it lives in this process.
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
    /// What it was found to refuse.
    pub learned: Learned,
    health: Health,
}

impl Upstream {
    /// A server at a base URL, about which nothing is known yet.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            key: None,
            contract: ContractMode::Enforce,
            local: None,
            models: Vec::new(),
            aliases: Vec::new(),
            learned: Learned::default(),
            health: Health::default(),
        }
    }

    /// A model that lives in this process.
    pub fn local(name: &str, model: Arc<dyn LocalModel>) -> Self {
        Self { local: Some(model), ..Self::new(name) }
    }

    /// The rehearsal model. Beside other servers it is asked only by its name.
    pub fn rehearsal(alone: bool) -> Self {
        let models = if alone { Vec::new() } else { vec![REHEARSAL.to_owned()] };
        Self { models, ..Self::local(REHEARSAL, Arc::new(Rehearsal)) }
    }

    /// Counts a request for as long as the guard lives.
    pub fn begin(&self) -> Busy {
        self.health.begin()
    }

    /// Notes how a request came out.
    pub fn note(&self, failure: Option<&Failure>) {
        match failure {
            None => self.health.succeeded(),
            Some(failure) if failure.is_the_servers() => {
                if self.health.failed(Instant::now()) {
                    tracing::warn!(upstream = self.url, "the model server is set aside for a while");
                }
            }
            Some(_) => {}
        }
    }

    /// How many requests it is busy with.
    pub fn in_flight(&self) -> usize {
        self.health.in_flight()
    }

    /// True while it is set aside.
    pub fn is_aside(&self) -> bool {
        self.health.is_aside(Instant::now())
    }

    fn load(&self) -> (bool, usize) {
        (self.is_aside(), self.health.in_flight())
    }
}

/// All of them.
#[derive(Debug, Clone)]
pub struct Upstreams {
    list: Arc<[Arc<Upstream>]>,
    models: Arc<ModelList>,
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

    /// The servers for a model, the one to ask first in front: not set aside, and with the least to do.
    pub async fn routes(
        &self,
        model: &str,
        client: &Client,
        authorization: Option<&HeaderValue>,
    ) -> Result<Vec<Route>, ApiError> {
        if self.list.is_empty() {
            return Err(ApiError::no_upstream());
        }
        if let Some(own) = self.own_model(model) {
            return Ok(vec![Route::new(Arc::clone(own), model.to_owned())]);
        }
        let mut search = Search { model, client, authorization, routes: Vec::new(), known: Vec::new(), failure: None };
        for number in 0..self.list.len() {
            self.consider(number, &mut search).await;
        }
        search.finish()
    }

    /// A model of this process by its name, which no other server has by chance; only an alias can give it to one.
    fn own_model(&self, model: &str) -> Option<&Arc<Upstream>> {
        let is_alias = self.list.iter().any(|upstream| upstream.aliases.iter().any(|alias| alias.name == model));
        self.list.iter().find(|upstream| upstream.local.is_some() && upstream.url == model).filter(|_| !is_alias)
    }

    async fn consider(&self, number: usize, search: &mut Search<'_>) {
        let Some(upstream) = self.list.get(number) else { return };
        let mut served = |model: String| search.routes.push(Route::new(Arc::clone(upstream), model));
        match upstream.claim(search.model) {
            Claim::Served(model) => served(model),
            Claim::Foreign => search.known.extend(upstream.models.iter().cloned()),
            Claim::Unsaid if self.is_only(upstream) => served(search.model.to_owned()),
            Claim::Unsaid => match self.known_list(number, upstream, search).await {
                Ok(list) if list.iter().any(|entry| models::id_of(entry) == Some(search.model)) => {
                    search.routes.push(Route::new(Arc::clone(upstream), search.model.to_owned()));
                }
                Ok(list) => search.known.extend(list.iter().filter_map(models::id_of).map(str::to_owned)),
                Err(failure) => search.failure = Some(failure),
            },
        }
    }

    /// A server that is set aside is not asked: that would cost every request the time that it takes to fail.
    async fn known_list(&self, number: usize, upstream: &Upstream, search: &Search<'_>) -> Result<Vec<Value>, Failure> {
        if upstream.is_aside() {
            let last = self.models.missed(number, Instant::now());
            return last.ok_or_else(|| Failure::Unreachable("it is set aside".to_owned()));
        }
        let list = self.list_of(number, search.client, search.authorization).await;
        if let Err(failure) = &list {
            upstream.note(Some(failure));
        }
        list
    }

    /// True for the one server there is besides models in this process, or for one of these when there is nothing else.
    fn is_only(&self, upstream: &Upstream) -> bool {
        let servers = self.list.iter().filter(|upstream| upstream.local.is_none()).count();
        if upstream.local.is_some() { servers == 0 } else { servers == 1 }
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
        match self.listed(client, authorization, |_| true).await {
            (all, Some(failure)) if all.is_empty() => Err(failure.to_api()),
            (all, _) => Ok(all),
        }
    }

    /// The models of some servers, each once, and the failure of one of these that does not answer.
    async fn listed(
        &self,
        client: &Client,
        authorization: Option<&HeaderValue>,
        wanted: impl Fn(&Upstream) -> bool,
    ) -> (Vec<Value>, Option<Failure>) {
        let (mut all, mut failure): (Vec<Value>, _) = (Vec::new(), None);
        for (number, upstream) in self.list.iter().enumerate().filter(|(_, upstream)| wanted(upstream)) {
            all.extend(upstream.aliases.iter().map(|alias| entry(&alias.name)));
            match self.list_of(number, client, authorization).await {
                Ok(list) => all.extend(list),
                Err(error) => failure = Some(error),
            }
        }
        let mut seen = std::collections::HashSet::new();
        all.retain(|entry| models::id_of(entry).is_some_and(|id| seen.insert(id.to_owned())));
        (all, failure)
    }

    /// The first model on offer, for those who need just one. A model of this process does not step in for a server that is away.
    pub async fn first_model(&self, client: &Client, authorization: Option<&HeaderValue>) -> Result<String, ApiError> {
        let wanted = |upstream: &Upstream| upstream.local.is_none() || self.is_only(upstream);
        let (all, failure) = self.listed(client, authorization, wanted).await;
        match (all.first().and_then(models::id_of), failure) {
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
                None => answers(upstream, client).await,
            };
            if is_there {
                return true;
            }
        }
        false
    }

    /// Asks the servers that are set aside whether they are back.
    pub async fn probe(&self, client: &Client) {
        for upstream in self.list.iter().filter(|upstream| upstream.is_aside()) {
            if answers(upstream, client).await {
                tracing::info!(upstream = upstream.url, "the model server answers again");
                upstream.health.answers();
            }
        }
    }

    async fn list_of(
        &self,
        number: usize,
        client: &Client,
        authorization: Option<&HeaderValue>,
    ) -> Result<Vec<Value>, Failure> {
        if let Some(list) = self.models.fresh(number, Instant::now()) {
            return Ok(list);
        }
        let Some(upstream) = self.list.get(number) else { return Ok(Vec::new()) };
        if upstream.local.is_some() {
            return Ok(vec![entry(&upstream.url)]);
        }
        match ask_for_list(upstream, client, authorization).await {
            Ok(body) => {
                let list = models::entries(&body);
                self.models.keep(number, &list, Instant::now());
                Ok(list)
            }
            Err(failure) => self.models.missed(number, Instant::now()).ok_or(failure),
        }
    }
}

/// A list is short, so that a server which does not answer soon does not answer.
async fn ask_for_list(
    upstream: &Upstream,
    client: &Client,
    authorization: Option<&HeaderValue>,
) -> Result<Bytes, Failure> {
    let asked = client.get(upstream, "/models", authorization, MOST_LIST_BYTES);
    let late = |_| Failure::Timeout { phase: "waiting for the list of models", seconds: LIST_PATIENCE.as_secs_f64() };
    tokio::time::timeout(LIST_PATIENCE, asked).await.map_err(late)?
}

async fn answers(upstream: &Upstream, client: &Client) -> bool {
    match ask_for_list(upstream, client, None).await {
        Ok(_) => true,
        // One that has no such list answers all the same; one that is still loading, or has a proxy before it, does not.
        Err(Failure::Refused { status, .. }) => !matches!(status.as_u16(), 502..=504),
        Err(_) => false,
    }
}

fn entry(id: &str) -> Value {
    json!({"id": id, "object": "model", "created": 0, "owned_by": "callboard"})
}

/// What a search for a model has come to.
struct Search<'a> {
    model: &'a str,
    client: &'a Client,
    authorization: Option<&'a HeaderValue>,
    routes: Vec<Route>,
    known: Vec<String>,
    failure: Option<Failure>,
}

impl Search<'_> {
    fn finish(mut self) -> Result<Vec<Route>, ApiError> {
        if !self.routes.is_empty() {
            self.routes.sort_by_key(|route| route.upstream.load());
            return Ok(self.routes);
        }
        // A server that has never said what it has might have it.
        match self.failure {
            Some(failure) => Err(failure.to_api()),
            None => Err(ApiError::model_not_found(self.model, &self.known)),
        }
    }
}
