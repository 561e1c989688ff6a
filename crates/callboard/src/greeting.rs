//! What a start prints: where clients connect, which model server answers, where conversations are kept.
//!
//! An address such as 0.0.0.0 is one to listen on, not one to connect to; clients get one that they can use.

use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use crate::config::Settings;

/// Writes it, for people and for programs that wait for it. Stdout may be closed.
pub fn print(settings: &Settings, listening: SocketAddr) {
    let mut out = std::io::stdout().lock();
    let text = greeting(settings, listening, address_in_network(listening.ip()));
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn greeting(settings: &Settings, listening: SocketAddr, in_network: Option<IpAddr>) -> String {
    let urls: Vec<&str> = settings.upstreams.iter().map(|upstream| upstream.url.as_str()).collect();
    let servers = match urls.as_slice() {
        [] => "no model server found: the built-in rehearsal model plays; connect a real one with --upstream URL"
            .to_owned(),
        urls => format!("model server: {}", urls.join(", ")),
    };
    let (version, store) = (env!("CARGO_PKG_VERSION"), &settings.store);
    let local = SocketAddr::new(address_on_this_machine(listening.ip()), listening.port());
    let others = in_network.filter(|_| listening.ip().to_canonical().is_unspecified()).map_or_else(String::new, |ip| {
        let address = SocketAddr::new(ip, listening.port());
        format!("  clients on other machines: http://{address}/v1\n")
    });
    let folder = &settings.characters;
    let awaited = match folder.to_str() {
        Some("characters") => String::new(),
        _ if folder.is_dir() => String::new(),
        _ => format!("  characters are loaded once the folder {} exists\n", folder.display()),
    };
    format!(
        "Callboard {version} listening on http://{local}\n  {servers}\n  conversations are kept in {store:?}\n  \
         point any OpenAI client at http://{local}/v1\n{others}{awaited}"
    )
}

/// The address at which a program on this machine reaches a listener.
pub(crate) fn address_on_this_machine(listening: IpAddr) -> IpAddr {
    match listening.to_canonical() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    }
}

/// The address that this machine sends from; none without a network. Nothing is sent to the addresses here, which are reserved for
/// documentation.
fn address_in_network(listening: IpAddr) -> Option<IpAddr> {
    let sender = |own: &str, other: &str| {
        let socket = UdpSocket::bind(own).ok()?;
        socket.connect(other).ok()?;
        Some(socket.local_addr().ok()?.ip()).filter(|ip| !ip.is_unspecified() && !ip.is_loopback())
    };
    let by_ipv6 = || listening.is_ipv6().then(|| sender("[::]:0", "[2001:db8::1]:9")).flatten();
    listening.to_canonical().is_unspecified().then(|| sender("0.0.0.0:0", "192.0.2.1:9").or_else(by_ipv6)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Environment, Flags, load};

    #[test]
    fn clients_get_an_address_that_they_can_connect_to() {
        let nowhere = std::path::Path::new("no such folder");
        let settings = load(&Flags::default(), &Environment::default(), nowhere).unwrap().settings;
        let lan = Some(IpAddr::from([192, 168, 1, 5]));
        for (listening, local, others) in [
            ("127.0.0.1:8787", "http://127.0.0.1:8787", None),
            ("0.0.0.0:80", "http://127.0.0.1:80", Some("http://192.168.1.5:80/v1")),
            ("[::]:80", "http://[::1]:80", Some("http://192.168.1.5:80/v1")),
            ("[::ffff:127.0.0.1]:80", "http://127.0.0.1:80", None),
            ("192.168.1.7:80", "http://192.168.1.7:80", None),
        ] {
            let text = greeting(&settings, listening.parse().unwrap(), lan);
            assert!(text.contains(&format!("listening on {local}\n")), "{text}");
            assert!(text.contains(&format!("point any OpenAI client at {local}/v1\n")), "{text}");
            match others {
                Some(others) => assert!(text.contains(&format!("clients on other machines: {others}\n")), "{text}"),
                None => assert!(!text.contains("other machines"), "{text}"),
            }
        }
    }
}
