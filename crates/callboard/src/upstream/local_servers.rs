//! Detects model servers on this machine at their default ports.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http::Uri;

use super::model_list_cache;
use super::server_state::MOST_LIST_BYTES;
use super::{Client, Upstream};

/// Ollama, vLLM, llama.cpp, LM Studio, SGLang.
const PORTS: [u16; 5] = [11434, 8000, 8080, 1234, 30000];
const TIMEOUT: Duration = Duration::from_millis(300);

/// The base URLs of the servers on this machine that list models, in the order of the ports.
pub async fn local_servers(client: &Client) -> Vec<String> {
    servers_at(&PORTS, client).await
}

async fn servers_at(ports: &[u16], client: &Client) -> Vec<String> {
    let mut found = Vec::new();
    for port in ports {
        let url = format!("http://127.0.0.1:{port}/v1");
        let upstream = Arc::new(Upstream::new(url.clone()));
        let asked = tokio::time::timeout(TIMEOUT, client.get(&upstream, "/models", None, MOST_LIST_BYTES)).await;
        if let Ok(Ok(body)) = asked
            && !model_list_cache::entries(&body).is_empty()
        {
            found.push(url);
        }
    }
    found
}

/// True for a base URL at which Callboard itself listens, as an `OPENAI_BASE_URL` for its clients is.
pub fn is_own_address(url: &str, listen: SocketAddr) -> bool {
    let Ok(uri) = url.parse::<Uri>() else { return false };
    let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let is_here = match host.parse::<IpAddr>() {
        Ok(address) => address == listen.ip() || address.is_loopback() || address.is_unspecified(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    };
    is_here && port == listen.port()
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::super::Tls;
    use super::*;

    /// Answers one request with this body.
    fn server(body: &'static str) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]).unwrap();
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
        });
        port
    }

    #[test]
    fn servers_that_list_models_are_found() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let ports = [
            server(r#"{"data":[{"id":"m"}]}"#),
            server(r#"{"data":[]}"#),
            server("<html>"),
            silent.local_addr().unwrap().port(),
            server(r#"{"object":"list","data":[{"id":"n"}]}"#),
        ];
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let client = Client::new(&Tls::load(false).unwrap(), TIMEOUT, TIMEOUT);
        let found = runtime.block_on(servers_at(&ports, &client));
        assert_eq!(found, [ports[0], ports[4]].map(|port| format!("http://127.0.0.1:{port}/v1")));
    }

    #[test]
    fn callboard_is_not_its_own_model_server() {
        let listen = "127.0.0.1:8787".parse().unwrap();
        for (url, own) in [
            ("http://127.0.0.1:8787/v1", true),
            ("http://localhost:8787/v1", true),
            ("http://[::1]:8787/v1", true),
            ("http://0.0.0.0:8787", true),
            ("http://127.0.0.1:8000/v1", false),
            ("http://10.0.0.5:8787/v1", false),
            ("https://api.openai.com/v1", false),
            ("nonsense", false),
        ] {
            assert_eq!(is_own_address(url, listen), own, "{url}");
        }
        assert!(is_own_address("http://10.0.0.5:80/v1", "10.0.0.5:80".parse().unwrap()));
    }
}
