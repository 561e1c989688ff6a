//! All configured model servers, and which of them a model belongs to.

use std::sync::Arc;

use callboard_core::wire::ApiError;
use http::HeaderValue;
use serde_json::{Value, json};

use super::models::{self, ModelList};
use super::{Client, Failure, LocalModel};
use crate::config::ContractMode;

const MOST_LIST_BYTES: usize = 4 << 20;

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

    /// The server for a model: the only one there is, or the first that lists the model.
    pub async fn pick(
        &self,
        model: &str,
        client: &Client,
        authorization: Option<&HeaderValue>,
    ) -> Result<Arc<Upstream>, ApiError> {
        match self.list.as_ref() {
            [] => Err(ApiError::no_upstream()),
            [only] => Ok(Arc::clone(only)),
            several => self.search(several, model, client, authorization).await,
        }
    }

    async fn search(
        &self,
        several: &[Arc<Upstream>],
        model: &str,
        client: &Client,
        authorization: Option<&HeaderValue>,
    ) -> Result<Arc<Upstream>, ApiError> {
        let (mut known, mut failure) = (Vec::new(), None);
        for (number, upstream) in several.iter().enumerate() {
            match self.list_of(number, client, authorization).await {
                Ok(list) if list.iter().any(|entry| models::id_of(entry) == Some(model)) => {
                    return Ok(Arc::clone(upstream));
                }
                Ok(list) => known.extend(list.iter().filter_map(models::id_of).map(str::to_owned)),
                Err(error) => failure = Some(error),
            }
        }
        match failure {
            Some(failure) if known.is_empty() => Err(failure.to_api()),
            _ => Err(ApiError::model_not_found(model, &known)),
        }
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
        let (mut all, mut failure): (Vec<Value>, _) = (Vec::new(), None);
        for number in 0..self.list.len() {
            match self.list_of(number, client, authorization).await {
                Ok(list) => {
                    let new = list
                        .into_iter()
                        .filter(|entry| !all.iter().any(|known| models::id_of(known) == models::id_of(entry)));
                    let new: Vec<Value> = new.collect();
                    all.extend(new);
                }
                Err(error) => failure = Some(error),
            }
        }
        match failure {
            Some(failure) if all.is_empty() => Err(failure.to_api()),
            _ => Ok(all),
        }
    }

    /// The first model on offer, for those who need just one.
    pub async fn first_model(&self, client: &Client, authorization: Option<&HeaderValue>) -> Result<String, ApiError> {
        let all = self.all_models(client, authorization).await?;
        let first = all.first().and_then(models::id_of).map(str::to_owned);
        first.ok_or_else(|| {
            ApiError::upstream_broken("it lists no models; name one with --model or in the character's MODEL")
        })
    }

    /// True when any server answers at all.
    pub async fn any_answers(&self, client: &Client) -> bool {
        for upstream in self.list.iter() {
            if upstream.local.is_some() {
                return true;
            }
            match client.get(upstream, "/models", None, MOST_LIST_BYTES).await {
                Ok(_) | Err(Failure::Refused { .. }) => return true,
                Err(_) => {}
            }
        }
        false
    }

    async fn list_of(
        &self,
        number: usize,
        client: &Client,
        authorization: Option<&HeaderValue>,
    ) -> Result<Vec<Value>, Failure> {
        if let Some(list) = self.models.fresh(number) {
            return Ok(list);
        }
        let Some(upstream) = self.list.get(number) else { return Ok(Vec::new()) };
        if upstream.local.is_some() {
            return Ok(vec![json!({"id": upstream.url, "object": "model", "created": 0, "owned_by": "callboard"})]);
        }
        let body = client.get(upstream, "/models", authorization, MOST_LIST_BYTES).await?;
        let list = models::entries(&body);
        self.models.keep(number, &list);
        Ok(list)
    }
}
