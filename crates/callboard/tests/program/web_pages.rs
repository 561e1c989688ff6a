//! Attacks from web pages on a program without API keys: rebound DNS names, posts that browsers send without asking, sockets.

use callboard_test_support::{COUNTER, CharacterFolder, Program, Script, ask, greeting_server, new_conversation};
use serde_json::Value;

const CHAT: &str = r#"{"model":"m","messages":[{"role":"user","content":"Hi"}]}"#;

/// Every route of the program.
const ROUTES: [(&str, &str); 33] = [
    ("POST", "/v1/chat/completions"),
    ("POST", "/v1/responses"),
    ("GET", "/v1/responses"),
    ("GET", "/v1/responses/resp_a"),
    ("POST", "/v1/responses/compact"),
    ("DELETE", "/v1/responses/resp_a"),
    ("GET", "/v1/responses/resp_a/input_items"),
    ("POST", "/v1/responses/resp_a/cancel"),
    ("POST", "/v1/conversations"),
    ("GET", "/v1/conversations"),
    ("GET", "/v1/conversations/conv_a"),
    ("POST", "/v1/conversations/conv_a"),
    ("DELETE", "/v1/conversations/conv_a"),
    ("POST", "/v1/conversations/conv_a/items"),
    ("DELETE", "/v1/conversations/conv_a/items/msg_a"),
    ("GET", "/v1/conversations/conv_a/items/msg_a"),
    ("GET", "/v1/conversations/conv_a/state"),
    ("GET", "/v1/conversations/conv_a/journal"),
    ("POST", "/v1/conversations/conv_a/undo"),
    ("GET", "/v1/models"),
    ("GET", "/v1/characters"),
    ("GET", "/v1/characters/counter"),
    ("POST", "/v1/characters/reload"),
    ("POST", "/v1/characters/counter/tools/add"),
    ("POST", "/v1/embeddings"),
    ("GET", "/v1/upstreams"),
    ("GET", "/v1/events"),
    ("GET", "/v1/traces"),
    ("GET", "/v1/traces/a"),
    ("GET", "/metrics"),
    ("GET", "/health"),
    ("GET", "/ready"),
    ("GET", "/unknown"),
];

#[test]
fn rebound_names_are_refused_on_every_route() {
    let program = Program::with_upstream(&greeting_server().url, &[]);
    for (method, path) in ROUTES {
        let refused = ask(&program.address, method, path, &["host: rebound.example:8787"], "");
        assert_eq!((refused.status, refused.error("code").as_str()), (421, "host_not_allowed"), "{method} {path}");
        assert!(
            refused.error("message").contains("rebound.example:8787") && refused.error("message").contains("hosts")
        );
        let refused = ask(&program.address, method, path, &["sec-fetch-site: cross-site"], "");
        assert_eq!((refused.status, refused.error("code").as_str()), (403, "origin_not_allowed"), "{method} {path}");
        for origin in ["https://page.example", "null"] {
            let refused = ask(&program.address, method, path, &[&format!("origin: {origin}")], "");
            assert_eq!(
                (refused.status, refused.error("code").as_str()),
                (403, "origin_not_allowed"),
                "{method} {path}"
            );
        }
    }
    assert_eq!(ask(&program.address, "GET", "/metrics", &["host: 127.0.0.1:1"], "").status, 200);
}

/// Without CORS a page cannot read the replies to such posts, but they would be carried out.
#[test]
fn posts_that_browsers_send_without_asking_change_nothing() {
    let folder = CharacterFolder::with("counter", COUNTER);
    let (_, server) = Script::start([]);
    let program = folder.serve(&server);
    let conversation = new_conversation(&program.address);
    let (items, undo) =
        (format!("/v1/conversations/{conversation}/items"), format!("/v1/conversations/{conversation}/undo"));
    let call = format!("{{\"conversation\":\"{conversation}\"}}");
    let item = r#"{"items":[{"type":"message","role":"user","content":"planted"}]}"#;
    let paths = [
        ("/v1/chat/completions", CHAT),
        ("/v1/responses", r#"{"model":"m","input":"Hi"}"#),
        ("/v1/characters/reload", ""),
        (&items, item),
        (&undo, r#"{"last":1}"#),
        ("/v1/characters/counter/tools/add", &call),
    ];
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        for (path, body) in paths {
            let refused = ask(&program.address, "POST", path, &[&format!("content-type: {kind}")], body);
            assert_eq!(
                (refused.status, refused.error("code").as_str()),
                (415, "unsupported_media_type"),
                "{path} {kind}"
            );
            assert!(refused.error("message").contains("application/json"), "{refused:?}");
        }
    }
    for (path, body) in paths {
        let refused = ask(&program.address, "POST", path, &["origin: http://localhost:3000"], body);
        assert_eq!(refused.status, 415, "{path}: a page that declares no type");
    }
    let list: Value = ask(&program.address, "GET", &items, &[], "").ok();
    assert_eq!(list["data"], Value::Array(Vec::new()), "nothing was carried out");
    let state = ask(&program.address, "GET", &format!("/v1/conversations/{conversation}/state"), &[], "").ok();
    assert_eq!(state["version"], 0, "nothing was carried out");
}

/// A page that chose the host of its own handshake, too.
#[test]
fn sockets_of_rebound_pages_are_refused() {
    let program = Program::with_upstream(&greeting_server().url, &[]);
    let open = |host: &str, origin: &str| {
        let (host, origin) = (format!("host: {host}"), format!("origin: {origin}"));
        let upgrade = ["upgrade: websocket", "connection: upgrade", "sec-websocket-version: 13"];
        let key = ["sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==", &host, &origin];
        ask(&program.address, "GET", "/v1/responses", &[upgrade, key].concat(), "").status
    };
    assert_eq!(open("rebound.example", "http://rebound.example"), 421);
    assert_eq!(open(&program.address, "https://page.example"), 403);
    assert_eq!(open(&program.address, "null"), 403);
    assert_eq!(open(&program.address, "http://127.0.0.1:1"), 403, "another port is another origin");
}

#[test]
fn configured_hosts_and_plain_clients_are_served() {
    let program = Program::with_upstream(&greeting_server().url, &[("CALLBOARD_HOSTS", "callboard.example")]);
    for headers in [
        &[][..],
        &["content-type: application/json"],
        &["content-type: application/json; charset=utf-8", "host: localhost:8787"],
        &["host: callboard.example", "origin: https://callboard.example", "content-type: application/json"],
    ] {
        assert_eq!(ask(&program.address, "POST", "/v1/chat/completions", headers, CHAT).status, 200, "{headers:?}");
    }
    assert_eq!(ask(&program.address, "GET", "/v1/models", &["host: other.example"], "").status, 421);
}

fn preflight(program: &Program, origin: &str) -> (u16, String, String) {
    let origin = format!("origin: {origin}");
    let asked = [&*origin, "access-control-request-method: POST", "access-control-request-headers: authorization,x-a"];
    let answer = ask(&program.address, "OPTIONS", "/v1/chat/completions", &asked, "");
    let header = |name: &str| answer.header(name).unwrap_or_default().to_owned();
    (answer.status, header("access-control-allow-origin"), header("access-control-allow-headers"))
}

#[test]
fn pages_of_other_origins_are_served_only_where_they_are_configured() {
    let page = "https://app.example";
    let send = |program: &Program, origin: &str, key: &str| {
        let headers =
            [&*format!("origin: {origin}"), "sec-fetch-site: cross-site", "content-type: application/json", key];
        let answer = ask(&program.address, "POST", "/v1/chat/completions", &headers, CHAT);
        (answer.status, answer.header("access-control-allow-origin").unwrap_or_default().to_owned())
    };
    let server = greeting_server();
    let off = Program::with_upstream(&server.url, &[]);
    assert_eq!(preflight(&off, page).0, 403);
    let plain = ask(&off.address, "OPTIONS", "/v1/chat/completions", &[], "");
    assert_eq!((plain.status, plain.header("access-control-allow-origin")), (405, None));
    let on = Program::with_upstream(&server.url, &[("CALLBOARD_CORS_ORIGINS", page)]);
    assert_eq!(preflight(&on, page), (204, page.to_owned(), "authorization,x-a".to_owned()));
    assert_eq!(send(&on, page, "x-a: 1"), (200, page.to_owned()));
    assert_eq!(send(&on, "https://other.example", "x-a: 1"), (403, String::new()));
    let keys = [("CALLBOARD_CORS_ORIGINS", page), ("CALLBOARD_API_KEYS", "one")];
    let keyed = Program::with_upstream(&server.url, &keys);
    assert_eq!(preflight(&keyed, page).0, 204, "a browser sends no key when it asks");
    assert_eq!(send(&keyed, page, "authorization: Bearer one"), (200, page.to_owned()));
    assert_eq!(send(&keyed, page, "x-a: 1"), (401, page.to_owned()), "a page can read its error");
    assert_eq!(send(&keyed, "https://other.example", "authorization: Bearer one"), (200, String::new()));
    let any = Program::with_upstream(&server.url, &[("CALLBOARD_CORS_ORIGINS", "*")]);
    assert_eq!(send(&any, page, "x-a: 1"), (200, page.to_owned()));
}

/// A page cannot know a key.
#[test]
fn with_keys_any_host_is_served() {
    let program = Program::with_upstream(&greeting_server().url, &[("CALLBOARD_API_KEYS", "one")]);
    let page =
        ["host: any.example", "origin: https://page.example", "sec-fetch-site: cross-site", "content-type: text/plain"];
    assert_eq!(ask(&program.address, "POST", "/v1/chat/completions", &page, CHAT).status, 401);
    let known = [&page[..], &["authorization: Bearer one"]].concat();
    assert_eq!(ask(&program.address, "POST", "/v1/chat/completions", &known, CHAT).status, 200);
    assert_eq!(ask(&program.address, "GET", "/health", &page[..1], "").status, 200, "a load balancer sends no key");
}
