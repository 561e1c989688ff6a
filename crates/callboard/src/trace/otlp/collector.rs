//! Where traces are sent: what the settings say, or else the environment variables that OpenTelemetry defines for it.

use http::{HeaderMap, HeaderName, HeaderValue};
use thiserror::Error;

use crate::config::{OtlpSettings, Secret};
use crate::percent;

const PATH: &str = "/v1/traces";
const NAME: &str = "callboard";

/// A collector.
#[derive(Debug, Clone)]
pub struct Collector {
    /// The whole URL.
    pub url: String,
    /// Headers for every request, such as a key.
    pub headers: HeaderMap,
    /// What this program is called there.
    pub service: String,
    /// More about where it runs, each a name and a value.
    pub resource: Vec<(String, String)>,
}

/// Why a collector cannot be used.
#[derive(Debug, Error)]
pub enum CollectorError {
    /// A header is not written as one.
    #[error("a header for the collector is not `name=value` (in otlp.headers or OTEL_EXPORTER_OTLP_HEADERS): {0:?}")]
    Header(String),
    /// The address is none.
    #[error("{0:?} is no address of a collector; write http://HOST:PORT or https://HOST/PATH")]
    Address(String),
}

impl Collector {
    /// The collector that the settings name, or that the environment names; none where nobody does.
    pub fn find(
        settings: &OtlpSettings,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, CollectorError> {
        let variable = |name: &str| environment(name).filter(|value| !value.trim().is_empty());
        let Some(url) = address(settings, &variable) else { return Ok(None) };
        if !matches!(url.parse::<http::Uri>(), Ok(uri) if uri.authority().is_some()) {
            return Err(CollectorError::Address(url));
        }
        Ok(Some(Self {
            url,
            headers: headers(settings, &variable)?,
            service: variable("OTEL_SERVICE_NAME").unwrap_or_else(|| NAME.to_owned()),
            resource: pairs(&variable("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default()).flatten().collect(),
        }))
    }

    /// True when it is reached over TLS.
    pub fn needs_tls(&self) -> bool {
        self.url.starts_with("https:")
    }
}

/// The variable for traces alone is a whole address; the others are followed by the path for traces.
fn address(settings: &OtlpSettings, variable: &impl Fn(&str) -> Option<String>) -> Option<String> {
    if let Some(endpoint) = &settings.endpoint {
        return Some(format!("{endpoint}{PATH}"));
    }
    if variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return None;
    }
    let base = || variable("OTEL_EXPORTER_OTLP_ENDPOINT").map(|base| format!("{}{PATH}", base.trim_end_matches('/')));
    variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").or_else(base)
}

fn headers(settings: &OtlpSettings, variable: &impl Fn(&str) -> Option<String>) -> Result<HeaderMap, CollectorError> {
    let own: Vec<&str> = settings.headers.iter().map(Secret::expose).collect();
    let text = match own.as_slice() {
        [] => variable("OTEL_EXPORTER_OTLP_TRACES_HEADERS").or_else(|| variable("OTEL_EXPORTER_OTLP_HEADERS")),
        own => Some(own.join(",")),
    };
    let mut headers = HeaderMap::new();
    for (number, pair) in pairs(&text.unwrap_or_default()).enumerate() {
        let header = pair.as_ref().and_then(|(name, value)| {
            let mut value = HeaderValue::from_str(value).ok()?;
            value.set_sensitive(true);
            Some((name.parse::<HeaderName>().ok()?, value))
        });
        // The header itself may be a key, so only its place is told.
        let (name, value) = header.ok_or_else(|| CollectorError::Header(format!("number {}", number + 1)))?;
        headers.insert(name, value);
    }
    Ok(headers)
}

/// The pairs of a list such as `name=value,other=two%20words`; nothing for what is no pair.
fn pairs(text: &str) -> impl Iterator<Item = Option<(String, String)>> {
    text.split(',').map(str::trim).filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=')?;
        Some((name.trim().to_owned(), percent::decoded(value.trim())?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(endpoint: Option<&str>, environment: &[(&str, &str)]) -> Result<Option<Collector>, CollectorError> {
        let settings = OtlpSettings { endpoint: endpoint.map(str::to_owned), headers: Vec::new() };
        let value = |name: &str| environment.iter().find(|(known, _)| *known == name);
        Collector::find(&settings, |name| value(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn the_settings_come_before_the_environment() {
        let base = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://base:4318/");
        let whole = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://whole/traces");
        let off = ("OTEL_SDK_DISABLED", "true");
        for (endpoint, environment, url) in [
            (None, &[][..], None),
            (None, &[("OTEL_EXPORTER_OTLP_ENDPOINT", "")], None),
            (None, &[base], Some("http://base:4318/v1/traces")),
            (None, &[base, whole], Some("http://whole/traces")),
            (None, &[base, whole, off], None),
            (Some("http://own/otel"), &[base, whole, off], Some("http://own/otel/v1/traces")),
        ] {
            assert_eq!(found(endpoint, environment).unwrap().map(|found| found.url).as_deref(), url);
        }
        assert!(matches!(found(None, &[("OTEL_EXPORTER_OTLP_ENDPOINT", "base")]), Err(CollectorError::Address(_))));
    }

    #[test]
    fn headers_and_names_are_read_as_opentelemetry_writes_them() {
        let all = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://base"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Basic%20YWI6Yw==, x-other = 1"),
            ("OTEL_SERVICE_NAME", "stage"),
            ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test,nonsense"),
        ];
        let collector = found(None, &all).unwrap().unwrap();
        assert_eq!(collector.headers["authorization"], "Basic YWI6Yw==");
        assert_eq!(collector.headers["x-other"], "1");
        assert_eq!(collector.service, "stage");
        assert_eq!(collector.resource, [("deployment.environment.name".to_owned(), "test".to_owned())]);
        for bad in ["nonsense", "a b=c", "a=%2", "a=%zz", "a=%0a"] {
            let environment = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://base"), ("OTEL_EXPORTER_OTLP_HEADERS", bad)];
            let error = found(None, &environment).unwrap_err().to_string();
            assert!(error.contains("number 1") && !error.contains(bad), "{error}");
        }
    }
}
