//! Errors about models, characters and the model servers behind them.

use super::ApiError;
use crate::wire::near_names::unknown_name;

impl ApiError {
    /// A model that no upstream serves. The nearest of the `known` names come first.
    #[must_use]
    pub fn model_not_found(model: &str, known: &[String]) -> Self {
        let mut error = Self::new(404, "model_not_found", unknown_name("the model", model, known));
        error.param = Some("model".to_owned());
        error
    }

    /// A model that does not take requests of this path.
    #[must_use]
    pub fn model_not_supported(what: &str, model: &str, path: &str) -> Self {
        let message = format!(
            "{model:?} is {what}, which takes /v1/chat/completions and /v1/responses; {path} needs a model of a model server: GET \
             /v1/models lists them"
        );
        let mut error = Self::new(400, "model_not_supported", message);
        error.param = Some("model".to_owned());
        error
    }

    /// A character that is not loaded.
    #[must_use]
    pub fn character_not_found(id: &str, known: &[String]) -> Self {
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Self::new(404, "character_not_found", format!("there is no character {id:?}; loaded are: {known}"))
    }

    /// A character whose file cannot be loaded. No model answers under its name.
    #[must_use]
    pub fn character_not_loaded(id: &str) -> Self {
        let message = format!(
            "the file of the character {id:?} cannot be loaded; GET /v1/characters and `callboard check` tell what is wrong with it"
        );
        let mut error = Self::new(404, "character_not_loaded", message);
        error.param = Some("model".to_owned());
        error
    }

    /// No model server is configured.
    #[must_use]
    pub fn no_upstream() -> Self {
        let message = "no model server is configured; start Callboard with --upstream URL, for instance http://127.0.0.1:11434/v1";
        Self::new(503, "no_upstream", message)
    }

    /// The model server cannot be reached.
    #[must_use]
    pub fn upstream_unreachable(url: &str, reason: &str) -> Self {
        let message = format!("the model server at {url} cannot be reached: {reason}; is it running?");
        Self::new(503, "upstream_unavailable", message).with_retry_after(2)
    }

    /// A model server that Callboard starts does not run.
    #[must_use]
    pub fn upstream_not_running(server: &str, reason: &str) -> Self {
        let message = format!("the model server {server} is not running: {reason}");
        Self::new(503, "upstream_unavailable", message).with_retry_after(2)
    }

    /// None of the configured model servers answers.
    #[must_use]
    pub fn no_upstream_answers(urls: &str) -> Self {
        Self::new(503, "upstream_unavailable", format!("no model server answers: {urls}")).with_retry_after(2)
    }

    /// The model server took too long.
    #[must_use]
    pub fn upstream_timeout(what: &str, seconds: f64) -> Self {
        let message = format!("the model server sent nothing for {seconds} s ({what})");
        Self::new(504, "upstream_timeout", message).with_retry_after(2)
    }

    /// The model server's reply broke off or cannot be read.
    #[must_use]
    pub fn upstream_broken(what: &str) -> Self {
        Self::new(502, "upstream_error", format!("the model server's reply cannot be used: {what}"))
    }
}
