//! The options of a connection: the address with defaults for what it leaves out, and TLS where it is asked for.
//!
//! `sslmode=require` means TLS with a certificate that is checked: against the system's authorities, or against those in the file that
//! `sslrootcert` names. Without it nothing is encrypted, which is right on one machine and inside a private network only.

use std::sync::Arc;
use std::time::Duration;

use hyper_rustls::ConfigBuilderExt as _;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::super::address::without_password;
use super::super::error::StoreError;
use crate::percent;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(20);
const ROOT_CERT: &str = "sslrootcert=";
/// What may follow the `?` of an address.
const PARAMETERS: [&str; 20] = [
    "sslmode",
    "sslrootcert",
    "sslnegotiation",
    "channel_binding",
    "application_name",
    "options",
    "connect_timeout",
    "tcp_user_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "target_session_attrs",
    "load_balance_hosts",
    "host",
    "hostaddr",
    "port",
    "user",
    "password",
    "dbname",
];

/// How a server is reached.
pub(super) struct ConnectOptions {
    pub(super) config: Config,
    pub(super) tls: Option<MakeRustlsConnect>,
}

/// Shows nothing: it may hold a password.
impl std::fmt::Debug for ConnectOptions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ConnectOptions").finish_non_exhaustive()
    }
}

impl ConnectOptions {
    /// Reads a URL.
    pub(super) fn read(url: &str) -> Result<Self, StoreError> {
        check_parameters(url)?;
        let (plain, root_cert) = without_root_cert(url);
        let mut config: Config = plain.parse().map_err(|error: tokio_postgres::Error| unreadable(url, &error))?;
        let wants_tls = config.get_ssl_mode() == SslMode::Require;
        if root_cert.is_some() && !wants_tls {
            return Err(StoreError::part("sslrootcert", "add sslmode=require; without it nothing is encrypted"));
        }
        if !wants_tls {
            config.ssl_mode(SslMode::Disable);
        }
        set_defaults(&mut config);
        let tls = wants_tls.then(|| tls(root_cert.as_deref())).transpose()?;
        Ok(Self { config, tls: tls.map(MakeRustlsConnect::new) })
    }

    /// The address names the timeout for each host.
    pub(super) fn connect_timeout(&self) -> Duration {
        let hosts = u32::try_from(self.config.get_hosts().len().max(1)).unwrap_or(u32::MAX);
        self.config.get_connect_timeout().copied().unwrap_or(CONNECT_TIMEOUT).saturating_mul(hosts)
    }
}

fn set_defaults(config: &mut Config) {
    if config.get_application_name().is_none() {
        config.application_name("callboard");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(TCP_USER_TIMEOUT);
    }
}

/// The URL without `sslrootcert`, which the database client does not know, and the file that it names.
fn without_root_cert(url: &str) -> (String, Option<String>) {
    let Some((address, query)) = url.split_once('?') else { return (url.to_owned(), None) };
    let (ours, others): (Vec<&str>, Vec<&str>) = query.split('&').partition(|pair| pair.starts_with(ROOT_CERT));
    let file = ours.first().and_then(|pair| percent::decoded(pair.strip_prefix(ROOT_CERT)?));
    (format!("{address}?{}", others.join("&")), file)
}

fn tls(root_cert: Option<&str>) -> Result<ClientConfig, StoreError> {
    let unusable = |error: &dyn std::fmt::Display| StoreError::Unavailable(format!("TLS cannot be used: {error}"));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(&error))?;
    let builder = match root_cert {
        None => builder.with_native_roots().map_err(|error| unusable(&error))?,
        Some(file) => builder.with_root_certificates(roots(file)?),
    };
    Ok(builder.with_no_client_auth())
}

fn roots(file: &str) -> Result<RootCertStore, StoreError> {
    let unreadable = |error: &dyn std::fmt::Display| StoreError::AddressPart {
        part: format!("{ROOT_CERT}{file}"),
        remedy: format!("name a file of certificates in PEM form: {error}"),
    };
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(|error| unreadable(&error))? {
        let certificate = certificate.map_err(|error| unreadable(&error))?;
        store.add(certificate).map_err(|error| unreadable(&error))?;
    }
    if store.is_empty() { Err(unreadable(&"it holds none")) } else { Ok(store) }
}

/// Names the parameter that is wrong. Where a password may reach into the query, nothing of it is shown.
fn check_parameters(url: &str) -> Result<(), StoreError> {
    let Some((_, query)) = url.split_once('?').filter(|(_, query)| !query.contains('@')) else { return Ok(()) };
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if !PARAMETERS.contains(&name) {
            return Err(StoreError::part(name, &format!("unknown parameter; known are: {}", PARAMETERS.join(", "))));
        }
        if name == "sslmode" && !["disable", "prefer", "require"].contains(&value) {
            let remedy = "write sslmode=require, which encrypts and checks the certificate, or sslmode=disable";
            return Err(StoreError::part(pair, remedy));
        }
    }
    Ok(())
}

/// The client's message names the part that it cannot read and not its value, except for an unknown parameter; those were checked
/// before, unless a password may be among them.
fn unreadable(url: &str, error: &tokio_postgres::Error) -> StoreError {
    let words = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    let place = if words.is_empty() || words.starts_with("unknown option") { error.to_string() } else { words };
    let remedy = format!(
        "{place}; write postgres://USER:PASSWORD@HOST:PORT/DATABASE, in the password %40 for @, %3A for :, %2F for / and %3F for ?"
    );
    StoreError::Address { given: without_password(url), remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_is_used_where_it_is_asked_for() {
        for (url, encrypted) in [
            ("postgres://u@h/d", false),
            ("postgres://u@h/d?sslmode=prefer", false),
            ("postgres://u@h/d?application_name=x&sslmode=require", true),
        ] {
            assert_eq!(ConnectOptions::read(url).unwrap().tls.is_some(), encrypted, "{url}");
        }
    }

    #[test]
    fn messages_name_the_part_that_is_wrong_and_no_password() {
        let unknown = "invalid \"colour\" in the store address: unknown parameter; known are: sslmode, sslrootcert, ";
        let mode = "invalid \"sslmode=verify-full\" in the store address: write sslmode=require, which encrypts";
        let known_port =
            "invalid store address \"postgres://…\": invalid value for option `port`; write postgres://USER";
        let doubtful = "invalid store address \"postgres://u@…\": invalid connection string; write postgres://USER";
        for (url, words) in [
            ("postgres://u:hunter2@h/d?colour=hunter2", unknown),
            ("postgres://u:hunter2@h/d?connect_timeout=5&colour", unknown),
            ("postgres://u:hunter2@h/d?sslmode=verify-full", mode),
            (
                "postgres://u:hunter2@h/d?connect_timeout=hunter2",
                "invalid store address \"postgres://u@h/d\": invalid value for",
            ),
            ("postgres://u@h:hunter2/d", &known_port.replace("://…", "://u@…")),
            ("postgres://u:hunter2", known_port),
            ("postgres://u:x@hunter2?hunter2=1@h/d", doubtful),
            ("postgres://u:hunter2@h/d?sslrootcert=/nowhere.pem", "invalid \"sslrootcert\" in the store address:"),
            (
                "postgres://u:hunter2@h/d?sslmode=require&sslrootcert=/nowhere.pem",
                "invalid \"sslrootcert=/nowhere.pem\" in the store address: name a file",
            ),
        ] {
            let message = ConnectOptions::read(url).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(message.starts_with(words) && !message.contains("hunter2"), "{url}: {message}");
        }
    }

    /// The database client accepts every parameter of the list.
    #[test]
    fn the_client_accepts_all_known_parameters() {
        for name in PARAMETERS.iter().filter(|name| **name != "sslrootcert") {
            let read = format!("postgres://u@h/d?{name}=x").parse::<Config>();
            let words = read.err().and_then(|error| std::error::Error::source(&error).map(ToString::to_string));
            assert!(!words.unwrap_or_default().starts_with("unknown option"), "{name}");
        }
    }
}
