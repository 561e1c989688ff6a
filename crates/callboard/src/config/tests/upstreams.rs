//! Upstreams from each layer, their keys and their contract.

use super::setup::{Start, in_effect, pair};
use crate::config::ContractMode;

#[test]
fn upstreams_are_replaced_as_a_whole() {
    let file = "[[upstream]]\nurl = 'http://one'\n[[upstream]]\nurl = 'http://two/v2/'\n";
    let variables = [("CALLBOARD_UPSTREAM", "http://three, http://four:4")];
    let words = ["--upstream", "http://five", "--upstream", "http://six"];
    for (environment, flags, expected) in [
        (&[][..], &[][..], ["http://one/v1", "http://two/v2"]),
        (&variables, &[], ["http://three/v1", "http://four:4/v1"]),
        (&variables, &words, ["http://five/v1", "http://six/v1"]),
    ] {
        let settings = Start { file, environment, flags }.load().unwrap().settings;
        let urls: Vec<&str> = settings.upstreams.iter().map(|upstream| upstream.url.as_str()).collect();
        assert_eq!(urls, expected);
    }
}

#[test]
fn an_upstream_inherits_the_contract_mode_unless_it_sets_one() {
    let file = "[[upstream]]\nurl = 'http://a'\n[contract]\nmode = 'observe'\n";
    let loaded = Start { file, ..Start::default() }.load().unwrap();
    assert_eq!(loaded.settings.upstreams[0].contract, ContractMode::Observe);
    assert_eq!(in_effect(&loaded, "upstream.contract"), pair("\"observe\"", "callboard.toml line 4"));

    let file = "[[upstream]]\nurl = 'http://a'\ncontract = 'off'\n[contract]\nmode = 'observe'\n";
    let loaded = Start { file, ..Start::default() }.load().unwrap();
    assert_eq!(loaded.settings.upstreams[0].contract, ContractMode::Off);
    assert_eq!(in_effect(&loaded, "upstream.contract"), pair("\"off\"", "callboard.toml line 3"));

    let loaded = Start { flags: &["--upstream", "http://a"], ..Start::default() }.load().unwrap();
    assert_eq!(in_effect(&loaded, "upstream.contract"), pair("\"enforce\"", "default"));
}

#[test]
fn an_upstream_says_how_tools_reach_its_models() {
    let file = "[[upstream]]\nurl = 'http://a'\ntools = 'constrained'\n[[upstream]]\nurl = 'http://b'\n";
    let settings = Start { file, ..Start::default() }.load().unwrap().settings;
    assert_eq!([settings.upstreams[0].tools, settings.upstreams[1].tools], ["constrained", "auto"]);
    let file = "[[upstream]]\nurl = 'http://a'\ntools = 'always'\n";
    let error = Start { file, ..Start::default() }.load().unwrap_err().to_string();
    assert!(error.contains("line 3") && error.contains("auto, native, prompt or constrained"), "{error}");
}

#[test]
fn an_upstream_gets_the_key_that_its_variable_holds() {
    let file = "[[upstream]]\nurl = 'http://a'\nkey_env = 'KEY_A'\n";
    let keys = [("KEY_A", "sk-a"), ("KEY_B", " sk-b\n")];
    let by_variable = [keys[0], keys[1], ("CALLBOARD_UPSTREAM", "http://b"), ("CALLBOARD_UPSTREAM_KEY_ENV", "KEY_A")];
    for (file, environment, flags, expected) in [
        (file, &keys[..], &[][..], Some("sk-a")),
        ("", &keys, &["--upstream", "http://b"], None),
        ("", &keys, &["--upstream", "http://b", "--upstream-key-env", "KEY_B"], Some("sk-b")),
        ("", &by_variable, &[], Some("sk-a")),
        ("", &by_variable, &["--upstream-key-env", "KEY_B"], Some("sk-b")),
        ("", &by_variable, &["--upstream", "http://c"], Some("sk-a")),
    ] {
        let settings = Start { file, environment, flags }.load().unwrap().settings;
        let key = settings.upstreams[0].key.as_ref();
        assert_eq!(key.map(|key| key.expose()), expected);
    }
}

#[test]
fn a_command_says_where_its_server_listens() {
    for (keys, url) in [
        ("command = ['a', '{port}']", "http://127.0.0.1:{port}/v1"),
        ("command = ['a']\nenvironment = ['AT=127.0.0.1:{port}']", "http://127.0.0.1:{port}/v1"),
        ("command = ['a', '{port}']\nurl = 'http://[::1]:{port}'", "http://[::1]:{port}/v1"),
        ("command = ['a']\nurl = 'http://127.0.0.1:8080'", "http://127.0.0.1:8080/v1"),
    ] {
        let file = format!("[[upstream]]\n{keys}\nstart = 'on_demand'\ndirectory = 'x'\n");
        let settings = Start { file: &file, ..Start::default() }.load().unwrap().settings;
        let upstream = &settings.upstreams[0];
        assert_eq!((upstream.url.as_str(), upstream.start), (url, "on_demand"), "{keys}");
        assert_eq!((upstream.command[0].as_str(), upstream.command_place.as_str()), ("a", "callboard.toml line 2"));
    }
}
