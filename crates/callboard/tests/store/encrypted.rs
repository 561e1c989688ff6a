//! PostgreSQL over TLS: the certificate is verified, and nothing is sent unencrypted.

use callboard::store::{Address, Store, StoreError, StoreSettings};

use crate::databases::block_on;
use crate::test_server::Server;

fn open(url: &str) -> Result<Store, StoreError> {
    Store::open(&Address::read(url)?, StoreSettings::new("encrypted"))
}

#[test]
fn postgres_is_reached_over_tls() {
    let server = Server::start_own(&["ssl=on"]);
    let (url, authority) = (&server.url, server.folder.as_ref().unwrap().join("data/ca.crt"));
    let trusted = format!("{url}?sslmode=require&sslrootcert={}", authority.display());
    block_on(open(&trusted).unwrap().check()).unwrap();
    // This authority is not among the system's certificates.
    let refused = open(&format!("{url}?sslmode=require")).unwrap_err();
    assert!(matches!(&refused, StoreError::Unavailable(words) if words.contains("certificate")), "{refused}");
    block_on(open(url).unwrap().check()).unwrap();
}

#[test]
fn a_server_without_tls_is_refused_when_tls_is_required() {
    let server = Server::start_own(&[]);
    let refused = open(&format!("{}?sslmode=require", server.url)).unwrap_err();
    assert!(matches!(&refused, StoreError::Unavailable(_)), "{refused}");
}
