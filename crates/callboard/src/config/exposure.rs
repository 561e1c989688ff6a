//! The rule about who may reach the program: without keys, only this machine.

use super::error::ConfigError;
use super::secret::Secret;
use std::net::SocketAddr;

/// Refuses an address that others can reach as long as no keys are set.
pub fn check_exposure(listen: SocketAddr, api_keys: &[Secret]) -> Result<(), ConfigError> {
    // An IPv4 address written as IPv6 reaches the same interface.
    if api_keys.is_empty() && !listen.ip().to_canonical().is_loopback() {
        return Err(ConfigError::Exposed { listen });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_served_without_keys() {
        let keys = [Secret::new("sk-secret").unwrap()];
        for (listen, allowed) in [
            ("127.0.0.1:8787", true),
            ("127.8.8.8:0", true),
            ("[::1]:8787", true),
            ("[::ffff:127.0.0.1]:8787", true),
            ("0.0.0.0:8787", false),
            ("[::]:8787", false),
            ("192.168.0.7:8787", false),
            ("[::ffff:10.0.0.1]:8787", false),
            ("[fe80::1]:8787", false),
        ] {
            let listen: SocketAddr = listen.parse().unwrap();
            assert_eq!(check_exposure(listen, &[]).is_ok(), allowed, "{listen}");
            assert!(check_exposure(listen, &keys).is_ok(), "{listen}");
        }
    }

    #[test]
    fn the_refusal_says_what_to_do() {
        let refusal = check_exposure("0.0.0.0:8787".parse().unwrap(), &[]).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "listening on 0.0.0.0:8787 would let others in without a key: set CALLBOARD_API_KEYS, or listen on 127.0.0.1"
        );
    }
}
