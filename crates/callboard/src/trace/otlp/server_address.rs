//! Host, port and provider of a model server, as the semantic conventions name them.

use http::Uri;

use crate::upstream::REHEARSAL;

/// Hosts or their suffixes, and the provider's name.
const KNOWN: [(&str, &str); 11] = [
    ("api.anthropic.com", "anthropic"),
    ("openai.azure.com", "azure.ai.openai"),
    ("models.inference.ai.azure.com", "azure.ai.inference"),
    ("api.cohere.com", "cohere"),
    ("api.deepseek.com", "deepseek"),
    ("generativelanguage.googleapis.com", "gcp.gemini"),
    ("aiplatform.googleapis.com", "gcp.vertex_ai"),
    ("api.groq.com", "groq"),
    ("api.mistral.ai", "mistral_ai"),
    ("api.perplexity.ai", "perplexity"),
    ("api.x.ai", "x_ai"),
];

/// The server that a request was sent to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ServerAddress {
    pub(super) provider: &'static str,
    pub(super) host: Option<String>,
    pub(super) port: Option<u16>,
}

impl ServerAddress {
    /// The server of a base URL. Unknown servers speak OpenAI's wire, so their provider is `openai`, and so do those that Callboard starts,
    /// which have a name instead of a URL.
    pub(super) fn of(url: &str) -> Self {
        let uri: Option<Uri> = url.parse().ok().filter(|uri: &Uri| uri.scheme().is_some());
        let Some((uri, host)) = uri.as_ref().and_then(|uri| Some((uri, uri.host()?))) else {
            let provider = if url == REHEARSAL { "callboard" } else { "openai" };
            return Self { provider, host: None, port: None };
        };
        let matches =
            |name: &str| host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with(['.', '-']));
        let provider = KNOWN.iter().find(|(name, _)| matches(name)).map_or("openai", |(_, provider)| *provider);
        let default_port = if uri.scheme_str() == Some("https") { 443 } else { 80 };
        Self { provider, host: Some(host.to_owned()), port: Some(uri.port_u16().unwrap_or(default_port)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_determine_the_provider() {
        for (url, provider, host, port) in [
            ("https://api.openai.com/v1", "openai", Some("api.openai.com"), Some(443)),
            ("http://127.0.0.1:11434/v1", "openai", Some("127.0.0.1"), Some(11434)),
            ("https://mine.openai.azure.com/openai/v1", "azure.ai.openai", Some("mine.openai.azure.com"), Some(443)),
            (
                "https://europe-aiplatform.googleapis.com/v1",
                "gcp.vertex_ai",
                Some("europe-aiplatform.googleapis.com"),
                Some(443),
            ),
            ("http://notapi.x.ai/v1", "openai", Some("notapi.x.ai"), Some(80)),
            ("rehearsal", "callboard", None, None),
            ("llama-server", "openai", None, None),
        ] {
            assert_eq!(
                ServerAddress::of(url),
                ServerAddress { provider, host: host.map(str::to_owned), port },
                "{url}"
            );
        }
    }
}
