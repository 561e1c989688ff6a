//! Where traces are sent: from the settings, or else from the environment variables that OpenTelemetry defines.

use http::{HeaderMap, HeaderName, HeaderValue};
use thiserror::Error;

use crate::config::{OtlpSettings, Secret, listed};
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
    /// The name of this program there.
    pub service: String,
    /// More attributes of this process, each a name and a value.
    pub resource: Vec<(String, String)>,
}

/// Why a collector cannot be used.
#[derive(Debug, Error)]
pub enum CollectorError {
    /// A header is malformed. It may be a key, so only its place is shown.
    #[error(
        "header {number} in {source_name} is not written as name=value; put %20 for a space, and commas between headers"
    )]
    Header {
        /// Which one, counted from 1.
        number: usize,
        /// The setting or the variable.
        source_name: &'static str,
    },
    /// The address is not a URL.
    #[error("{0:?} is not the address of a collector; write http://HOST:PORT or https://HOST/PATH")]
    Address(String),
}

impl Collector {
    /// The collector that the settings or the environment name, if any.
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
            resource: listed(&variable("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default()).filter_map(pair).collect(),
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
    if !own.is_empty() {
        return read_all("otlp.headers", own);
    }
    let found = ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"]
        .into_iter()
        .find_map(|name| variable(name).map(|text| (name, text)));
    found.map_or_else(|| Ok(HeaderMap::new()), |(name, text)| read_all(name, listed(&text)))
}

fn read_all<'a>(
    source_name: &'static str,
    pairs: impl IntoIterator<Item = &'a str>,
) -> Result<HeaderMap, CollectorError> {
    let read = |(place, pair)| header(pair).ok_or(CollectorError::Header { number: place + 1, source_name });
    pairs.into_iter().enumerate().map(read).collect()
}

/// A header written as `name=value`. Its value may be a key, so it is never printed.
fn header(text: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = pair(text)?;
    let mut value = HeaderValue::from_str(&value).ok()?;
    value.set_sensitive(true);
    Some((name.parse().ok()?, value))
}

/// One item of a list such as `name=value,other=two%20words`.
fn pair(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    Some((name.trim().to_owned(), percent::decoded(value.trim())?))
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
            assert!(
                error.starts_with("header 1 in OTEL_EXPORTER_OTLP_HEADERS is not") && !error.contains(bad),
                "{error}"
            );
        }
    }
}
