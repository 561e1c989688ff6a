//! What a start prints: the addresses of the page and for clients, which model server answers, which characters are loaded, and which are
//! not and why.
//!
//! An address such as 0.0.0.0 is one to listen on, not one to connect to; clients get one that they can use.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::Arc;

use crate::characters::CharacterRegistry;
use crate::config::Settings;
use crate::services::Services;
use crate::upstream::{ServerState, Upstream};

/// The most names in a line.
const MOST_NAMES: usize = 20;
/// The most problems of characters that are printed; `callboard check` prints all.
const MOST_PROBLEMS: usize = 5;

/// What was found at the start.
pub struct Start<'a> {
    /// The services.
    pub services: &'a Services,
    /// The model servers, with what they answered in time.
    pub servers: &'a [(Arc<Upstream>, Option<ServerState>)],
    /// The address of the listener.
    pub listening: SocketAddr,
}

/// Writes it, for people and for programs that wait for it. Stdout may be closed.
pub fn print(start: &Start<'_>) {
    let Start { services, servers, listening } = start;
    let text = addresses(*listening, address_in_network(listening.ip()))
        + &models(&services.settings, servers)
        + &characters(&services.settings.characters, &services.characters)
        + &format!("  store:         {:?} keeps conversations and traces\n", services.settings.store);
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn addresses(listening: SocketAddr, in_network: Option<IpAddr>) -> String {
    let local = SocketAddr::new(address_on_this_machine(listening.ip()), listening.port());
    let others = in_network.filter(|_| listening.ip().to_canonical().is_unspecified()).map_or_else(String::new, |ip| {
        let address = SocketAddr::new(ip, listening.port());
        format!("  in the network: http://{address}/v1\n")
    });
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "Callboard {version} listening on http://{local}\n  page:          http://{local}/  (open it in a browser)\n  \
         clients:       http://{local}/v1  (the base URL for any OpenAI client)\n{others}"
    )
}

fn models(settings: &Settings, servers: &[(Arc<Upstream>, Option<ServerState>)]) -> String {
    if servers.is_empty() {
        return "  model:         no model server found, so the built-in rehearsal model answers; connect a real one with --upstream URL\n"
            .to_owned();
    }
    let mut text = String::new();
    for (server, state) in servers {
        let words = state.as_ref().map_or_else(|| "has not answered yet".to_owned(), ToString::to_string);
        let _ = writeln!(text, "  model server:  {} {words}", server.url);
    }
    if let Some(model) = model_of_characters(settings, servers) {
        let _ = writeln!(text, "  model:         {model} (of characters that name none; another one with --model)");
    }
    text
}

/// The model that plays characters which do not name one.
fn model_of_characters(settings: &Settings, servers: &[(Arc<Upstream>, Option<ServerState>)]) -> Option<String> {
    let configured = Some(settings.stage.model.clone()).filter(|model| !model.is_empty());
    let listed = || {
        servers.iter().find_map(|(server, state)| match (server.aliases.first(), state) {
            (Some(alias), _) => Some(alias.name.clone()),
            (None, Some(ServerState::Lists(models))) => models.first().cloned(),
            _ => None,
        })
    };
    configured.or_else(listed)
}

fn characters(folder: &Path, registry: &CharacterRegistry) -> String {
    let (ids, failed) = (registry.ids(), registry.problems());
    let folder = folder.display();
    let mut text = match ids.as_slice() {
        [] if !registry.folder().is_dir() => {
            format!("  characters:    none, as there is no folder {folder}; create one with: callboard new bard\n")
        }
        [] => format!("  characters:    none loaded from {folder}; create one with: callboard new bard\n"),
        ids => format!("  characters:    {} loaded from {folder}: {}\n", ids.len(), names(ids)),
    };
    for problem in failed.iter().flat_map(|file| &file.problems).take(MOST_PROBLEMS) {
        let _ = writeln!(text, "  not loaded:    {problem}");
    }
    if failed.iter().map(|file| file.problems.len()).sum::<usize>() > MOST_PROBLEMS {
        text += "  not loaded:    more; all problems: callboard check\n";
    }
    text
}

fn names(ids: &[String]) -> String {
    let named = ids.iter().take(MOST_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    if ids.len() > MOST_NAMES { named + ", …" } else { named }
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
        let lan = Some(IpAddr::from([192, 168, 1, 5]));
        for (listening, local, others) in [
            ("127.0.0.1:8787", "http://127.0.0.1:8787", None),
            ("0.0.0.0:80", "http://127.0.0.1:80", Some("http://192.168.1.5:80/v1")),
            ("[::]:80", "http://[::1]:80", Some("http://192.168.1.5:80/v1")),
            ("[::ffff:127.0.0.1]:80", "http://127.0.0.1:80", None),
            ("192.168.1.7:80", "http://192.168.1.7:80", None),
        ] {
            let text = addresses(listening.parse().unwrap(), lan);
            assert!(text.contains(&format!("listening on {local}\n")), "{text}");
            assert!(text.contains(&format!("  page:          {local}/  (open")), "{text}");
            assert!(text.contains(&format!("  clients:       {local}/v1  (the base URL")), "{text}");
            match others {
                Some(others) => assert!(text.contains(&format!("  in the network: {others}\n")), "{text}"),
                None => assert!(!text.contains("in the network"), "{text}"),
            }
        }
    }

    #[test]
    fn it_says_which_model_answers() {
        let nowhere = Path::new("no such folder");
        let settings = load(&Flags::default(), &Environment::default(), nowhere).unwrap().settings;
        assert!(models(&settings, &[]).contains("the built-in rehearsal model answers"));
        let lists = Some(ServerState::Lists(vec!["qwen3:8b".to_owned(), "llama".to_owned()]));
        let servers = [(Arc::new(Upstream::new("http://a/v1")), None), (Arc::new(Upstream::new("http://b/v1")), lists)];
        let expected = "  model server:  http://a/v1 has not answered yet\n  \
            model server:  http://b/v1 answers, 2 models: qwen3:8b, llama\n  \
            model:         qwen3:8b (of characters that name none; another one with --model)\n";
        assert_eq!(models(&settings, &servers), expected);
    }
}
