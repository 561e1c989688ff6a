//! Routes: which server a request goes to, and the aliases and patterns that decide it.

use std::sync::Arc;

use callboard_core::wire::ApiError;

use super::{Failure, Upstream};

/// A server, and the name that it knows the model by.
#[derive(Debug, Clone)]
pub struct Route {
    /// The server.
    pub upstream: Arc<Upstream>,
    /// The model's name there.
    pub model: String,
    /// True once its stream was empty: a reply that is not streamed has room for a reason.
    pub whole: bool,
    /// True once a pooled connection broke and the request was retried.
    pub reconnected: bool,
}

impl Route {
    pub(super) fn new(upstream: Arc<Upstream>, model: String) -> Self {
        Self { upstream, model, whole: false, reconnected: false }
    }

    /// True when this failure calls for one retry at the same server: on a new connection, or without streaming.
    pub fn has_another_way(&mut self, failure: &Failure) -> bool {
        match failure {
            Failure::Stale(_) => !std::mem::replace(&mut self.reconnected, true),
            Failure::Empty => !std::mem::replace(&mut self.whole, true),
            _ => false,
        }
    }
}

/// Why no server gets a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoRoute {
    /// No server has the model.
    UnknownModel {
        /// The name in the request.
        model: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// No server can be asked.
    Failed(Box<ApiError>),
}

impl NoRoute {
    /// The error for a client who may also name one of these.
    pub fn to_api(self, others: impl IntoIterator<Item = String>) -> ApiError {
        match self {
            Self::UnknownModel { model, known } => {
                let all: Vec<String> = others.into_iter().chain(known).collect();
                ApiError::model_not_found(&model, &all)
            }
            Self::Failed(error) => *error,
        }
    }
}

impl From<ApiError> for NoRoute {
    fn from(error: ApiError) -> Self {
        Self::Failed(Box::new(error))
    }
}

impl From<NoRoute> for ApiError {
    fn from(missing: NoRoute) -> Self {
        missing.to_api([])
    }
}

/// Another name for a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alias {
    /// The name that clients use.
    pub name: String,
    /// The name that the server knows.
    pub target: String,
}

impl Alias {
    /// Reads `name=target`.
    pub fn read(text: &str) -> Option<Self> {
        let (name, target) = text.split_once('=')?;
        let (name, target) = (name.trim().to_owned(), target.trim().to_owned());
        (!name.is_empty() && !target.is_empty()).then_some(Self { name, target })
    }
}

/// What the settings of a server say about a model.
pub(super) enum Claim {
    /// It is served here, under this name.
    Served(String),
    /// It is not.
    Foreign,
    /// The settings name no models: the server's own list decides.
    Unknown,
}

impl Upstream {
    /// Whether only its own list can say whether it has a model.
    pub(super) fn list_is_needed(&self, model: &str) -> bool {
        matches!(self.claim(model), Claim::Unknown)
    }

    pub(super) fn claim(&self, model: &str) -> Claim {
        if let Some(alias) = self.aliases.iter().find(|alias| alias.name == model) {
            return Claim::Served(alias.target.clone());
        }
        if self.models.is_empty() {
            return Claim::Unknown;
        }
        match self.models.iter().any(|pattern| fits(pattern, model)) {
            true => Claim::Served(model.to_owned()),
            false => Claim::Foreign,
        }
    }
}

/// A pattern in which `*` matches any text.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut last = None;
    for part in parts {
        if let Some(middle) = last.replace(part) {
            let Some(at) = rest.find(middle) else { return false };
            rest = rest.get(at + middle.len()..).unwrap_or_default();
        }
    }
    last.map_or(rest.is_empty(), |end| rest.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let table = [
            ("qwen3", "qwen3", true),
            ("qwen3", "qwen3:8b", false),
            ("qwen*", "qwen3:8b", true),
            ("*", "anything", true),
            ("*/qwen*-instruct", "org/qwen2-7b-instruct", true),
            ("*/qwen*-instruct", "org/qwen2-7b-base", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*a", "a", false),
            ("", "x", false),
        ];
        for (pattern, name, expected) in table {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn aliases() {
        assert_eq!(Alias::read("gpt-4 = qwen3:32b").map(|alias| alias.target), Some("qwen3:32b".to_owned()));
        assert!(Alias::read("gpt-4").is_none() && Alias::read("=x").is_none());
    }
}
