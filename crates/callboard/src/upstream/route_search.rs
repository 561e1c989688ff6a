//! A search for the servers of a model, while they are asked one after the other.

use http::HeaderValue;

use super::route::{NoRoute, Route};
use super::{Client, Failure};

/// What has been found so far.
pub(super) struct Search<'a> {
    pub(super) model: &'a str,
    pub(super) client: &'a Client,
    pub(super) authorization: Option<&'a HeaderValue>,
    pub(super) routes: Vec<Route>,
    pub(super) known: Vec<String>,
    pub(super) failure: Option<Failure>,
}

impl Search<'_> {
    pub(super) fn finish(mut self) -> Result<Vec<Route>, NoRoute> {
        if !self.routes.is_empty() {
            self.routes.sort_by_key(|route| route.upstream.load());
            return Ok(self.routes);
        }
        // A server whose list is unknown might have the model.
        match self.failure {
            Some(failure) => Err(failure.to_api().into()),
            None => Err(NoRoute::UnknownModel { model: self.model.to_owned(), known: self.known }),
        }
    }
}
