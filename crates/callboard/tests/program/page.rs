//! The page at `/`: open to browsers, closed to other pages, and never a way around the API keys.

use callboard_test_support::{Answer, Program, ask, greeting_server};

fn get(program: &Program, path: &str, headers: &[&str]) -> Answer {
    ask(&program.address, "GET", path, headers, "")
}

#[test]
fn the_page_is_served_without_a_key_and_data_is_not() {
    let program = Program::with_upstream(&greeting_server().url, &[("CALLBOARD_API_KEYS", "right")]);
    for (path, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/page/app.js", "text/javascript; charset=utf-8"),
        ("/page/look.css", "text/css; charset=utf-8"),
        ("/page/vendor/LICENSE-preact", "text/plain; charset=utf-8"),
    ] {
        let answer = get(&program, path, &[]);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(kind)), "{path}");
        assert!(answer.header("content-security-policy").unwrap().contains("frame-ancestors 'none'"), "{answer:?}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        let etag = answer.header("etag").unwrap();
        let known = get(&program, path, &[&format!("if-none-match: {etag}")]);
        assert_eq!((known.status, known.body.as_str()), (304, ""), "{path}");
    }
    for path in ["/v1/events", "/v1/characters", "/page/../v1/traces", "//v1/traces", "/page%2f..%2fv1/traces"] {
        assert_ne!(get(&program, path, &[]).status, 200, "{path}");
    }
    assert_eq!(get(&program, "/v1/events", &[]).status, 401);
    assert_eq!(get(&program, "/page/nothing.js", &[]).status, 404);
    assert_eq!(ask(&program.address, "POST", "/", &[], "").status, 405);
}

/// A link on another page opens the page, which holds no data; the host must be right all the same.
#[test]
fn links_lead_to_the_page_and_rebound_names_do_not() {
    let program = Program::with_upstream(&greeting_server().url, &[]);
    assert_eq!(get(&program, "/", &["sec-fetch-site: cross-site", "sec-fetch-mode: navigate"]).status, 200);
    assert_eq!(get(&program, "/", &["host: rebound.example:8787"]).status, 421);
    assert_eq!(get(&program, "/v1/events", &["sec-fetch-site: cross-site"]).status, 403);
    assert_eq!(get(&program, "/v1/events", &["origin: https://page.example"]).status, 403);
}
