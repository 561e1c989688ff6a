//! Who stands behind a model server's address, in the words of the semantic conventions.

use http::Uri;

/// Hosts, or what they end with, and the provider's name.
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

/// Where a request went.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) provider: &'static str,
    pub(super) host: Option<String>,
    pub(super) port: Option<u16>,
}

/// The place of a base URL. Servers that nobody knows speak OpenAI's wire, which is what the provider's name then says; a model
/// without an address lives in this process.
pub(super) fn place(url: &str) -> Place {
    let uri: Option<Uri> = url.parse().ok().filter(|uri: &Uri| uri.scheme().is_some());
    let Some((uri, host)) = uri.as_ref().and_then(|uri| Some((uri, uri.host()?))) else {
        return Place { provider: "callboard", host: None, port: None };
    };
    let is_own = |name: &str| host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with(['.', '-']));
    let provider = KNOWN.iter().find(|(name, _)| is_own(name)).map_or("openai", |(_, provider)| *provider);
    let usual = if uri.scheme_str() == Some("https") { 443 } else { 80 };
    Place { provider, host: Some(host.to_owned()), port: Some(uri.port_u16().unwrap_or(usual)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_tell_the_provider() {
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
        ] {
            assert_eq!(place(url), Place { provider, host: host.map(str::to_owned), port }, "{url}");
        }
    }
}
