//! How a server is reached: the address with what it does not say, and TLS where it is asked for.
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

use super::super::error::StoreError;
use crate::percent;

const CONNECT: Duration = Duration::from_secs(5);
const SILENCE: Duration = Duration::from_secs(20);
const AUTHORITIES: &str = "sslrootcert=";

/// The way to a server.
pub(super) struct Access {
    pub(super) config: Config,
    pub(super) tls: Option<MakeRustlsConnect>,
}

impl Access {
    /// Reads a URL.
    pub(super) fn read(url: &str) -> Result<Self, StoreError> {
        let (url, authorities) = without_authorities(url);
        let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| unreadable(&error))?;
        let wants_tls = config.get_ssl_mode() == SslMode::Require;
        if authorities.is_some() && !wants_tls {
            let remedy = "add sslmode=require; without it nothing is encrypted".to_owned();
            return Err(StoreError::Address { given: "sslrootcert".to_owned(), remedy });
        }
        if !wants_tls {
            config.ssl_mode(SslMode::Disable);
        }
        fill_in(&mut config);
        let tls = wants_tls.then(|| tls(authorities.as_deref())).transpose()?;
        Ok(Self { config, tls: tls.map(MakeRustlsConnect::new) })
    }
}

fn fill_in(config: &mut Config) {
    if config.get_application_name().is_none() {
        config.application_name("callboard");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(SILENCE);
    }
}

/// The URL without the file of authorities, which the database client does not know, and that file.
fn without_authorities(url: &str) -> (String, Option<String>) {
    let Some((address, query)) = url.split_once('?') else { return (url.to_owned(), None) };
    let (ours, others): (Vec<&str>, Vec<&str>) = query.split('&').partition(|pair| pair.starts_with(AUTHORITIES));
    let file = ours.first().and_then(|pair| percent::decoded(pair.strip_prefix(AUTHORITIES)?));
    (format!("{address}?{}", others.join("&")), file)
}

fn tls(authorities: Option<&str>) -> Result<ClientConfig, StoreError> {
    let unusable = |error: &dyn std::fmt::Display| StoreError::Unavailable(format!("TLS cannot be used: {error}"));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(&error))?;
    let builder = match authorities {
        None => builder.with_native_roots().map_err(|error| unusable(&error))?,
        Some(file) => builder.with_root_certificates(roots(file)?),
    };
    Ok(builder.with_no_client_auth())
}

fn roots(file: &str) -> Result<RootCertStore, StoreError> {
    let unreadable = |error: &dyn std::fmt::Display| StoreError::Address {
        given: format!("{AUTHORITIES}{file}"),
        remedy: format!("name a file of certificates in PEM form: {error}"),
    };
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(|error| unreadable(&error))? {
        let certificate = certificate.map_err(|error| unreadable(&error))?;
        store.add(certificate).map_err(|error| unreadable(&error))?;
    }
    if store.is_empty() { Err(unreadable(&"it holds none")) } else { Ok(store) }
}

fn unreadable(error: &tokio_postgres::Error) -> StoreError {
    let remedy = format!("{error}; write postgres://USER:PASSWORD@HOST:PORT/DATABASE");
    StoreError::Address { given: "postgres://…".to_owned(), remedy }
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
            assert_eq!(Access::read(url).unwrap().tls.is_some(), encrypted, "{url}");
        }
        let bad = [
            "postgres://u@h:x/d",
            "postgres://u@h/d?colour=red",
            "postgres://u@h/d?sslrootcert=/nowhere.pem",
            "postgres://u@h/d?sslmode=require&sslrootcert=/nowhere.pem",
        ];
        for url in bad {
            assert!(matches!(Access::read(url), Err(StoreError::Address { .. })), "{url}");
        }
    }
}
