//! Error messages: each names the setting, its place, and the fix.

use super::setup::{Folder, Start, flags};
use crate::config::{ConfigError, Environment, load};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// The text of a file, and its error message.
const IN_THE_FILE: &[(&str, &str)] = &[
    (
        "[python]\ncolour = 1",
        "callboard.toml line 2: unknown key `python.colour`; known here: interpreter, memory_bytes, workers, import_seconds, rest_seconds, environment, sandbox",
    ),
    ("lisen = 'x'", "callboard.toml line 1: unknown key `lisen`; did you mean `listen`?"),
    (
        "\n[contract]\nmode = 'off'\nreask = 2",
        "callboard.toml line 4: unknown key `contract.reask`; did you mean `reasks`?",
    ),
    ("[timeout]\nidle_seconds = 1", "callboard.toml line 1: unknown key `timeout`; did you mean `timeouts`?"),
    (
        "colour = 1",
        "callboard.toml line 1: unknown key `colour`; known here: listen, threads, api_keys, hosts, passthrough_paths, cors_origins, characters, store, store_connections, log, log_format, upstream, contract, limits, timeouts, stage, keep, python, trace, otlp",
    ),
    ("mode = 'off'", "callboard.toml line 1: unknown key `mode`; `mode` belongs under [contract]"),
    (
        "[python]\nlisten = 'x'",
        "callboard.toml line 2: unknown key `python.listen`; `listen` belongs at the top of the file, before any section",
    ),
    (
        "[[upstream]]\nurl = 'http://a'\nkeyenv = 'X'",
        "callboard.toml line 3: unknown key `upstream.keyenv`; did you mean `key_env`?",
    ),
    (
        "zebra = 1\nabacus = 2",
        "callboard.toml line 1: unknown key `zebra`; known here: listen, threads, api_keys, hosts, passthrough_paths, cors_origins, characters, store, store_connections, log, log_format, upstream, contract, limits, timeouts, stage, keep, python, trace, otlp",
    ),
    (
        "[upstream]\nurl = 'http://a'",
        "callboard.toml line 1: `upstream` is a section: write [[upstream]] on a line of its own, and its keys below",
    ),
    (
        "upstream = ['http://a']",
        "callboard.toml line 1: `upstream` is a section: write [[upstream]] on a line of its own, and its keys below",
    ),
    (
        "contract = 'off'",
        "callboard.toml line 1: `contract` is a section: write [contract] on a line of its own, and its keys below",
    ),
    (
        "threads = 1\n\n[[upstream]]\nkey_env = 'X'",
        "callboard.toml line 3: this [[upstream]] has no url: write url = \"http://HOST:PORT/v1\", or the command that starts a server",
    ),
    (
        "[[upstream]]\nurl = 'http://a'\ndirectory = 'x'",
        "callboard.toml line 3: `directory` needs a command: write command = [\"PROGRAM\", …] in the same [[upstream]]",
    ),
    (
        "[[upstream]]\nurl = 'http://a:{port}'",
        "callboard.toml line 2: `url` needs a command: write command = [\"PROGRAM\", …] in the same [[upstream]]",
    ),
    (
        "[[upstream]]\ncommand = ['llama-server']",
        "callboard.toml line 2: the command does not say where the server listens: write {port} where the program takes its port, such as \"--port\", \"{port}\", or name a fixed one with url = \"http://127.0.0.1:PORT/v1\"",
    ),
    (
        "[[upstream]]\nurl = 'http://a'\ncommand = ['llama-server', '{port}']",
        "callboard.toml line 3: the command listens at a free {port}, so write {port} into the url too, or leave the url out",
    ),
    (
        "[[upstream]]\ncommand = 'llama-server --jinja'",
        "upstream.command = 'llama-server --jinja' (callboard.toml line 2) is not allowed: give a program and its arguments, such as [\"llama-server\", \"-m\", \"model.gguf\", \"--port\", \"{port}\"]",
    ),
    (
        "[contract]\nreasks = 9",
        "contract.reasks = 9 (callboard.toml line 2) is not allowed: give a whole number from 0 to 5",
    ),
    ("threads = '4'", "threads = '4' (callboard.toml line 1) is not allowed: give a whole number from 0 to 1024"),
    (
        "[timeouts]\nidle_seconds = nan",
        "timeouts.idle_seconds = nan (callboard.toml line 2) is not allowed: give a number of seconds from 0.001 to 86400",
    ),
    (
        "[contract]\nmode = 'strict'",
        "contract.mode = 'strict' (callboard.toml line 2) is not allowed: give enforce, observe or off",
    ),
    ("log = [\n1]", "log = [ 1] (callboard.toml line 1) is not allowed: give off, error, warn, info, debug or trace"),
    (
        "api_keys = 'sk-secret'",
        "api_keys = ******** (callboard.toml line 1) is not allowed: give a list of keys without spaces; a variable has commas between them",
    ),
    (
        "[otlp]\nheaders = ['Authorization: Basic c2VjcmV0']",
        "otlp.headers = ******** (callboard.toml line 2) is not allowed: give a list of headers, each name=value with %20 for a space; a variable has commas between them",
    ),
    (
        "store = 'postgress://me:hunter2@db'",
        "store = 'postgress://me:********@db' (callboard.toml line 1) is not allowed: give sqlite:FILE, sqlite::memory: or postgres://USER@HOST/DATABASE",
    ),
];

#[test]
fn mistakes_in_the_file() {
    for &(file, message) in IN_THE_FILE {
        assert_eq!(Start { file, ..Start::default() }.message(), message);
    }
}

#[test]
fn a_file_that_is_not_toml_is_refused_with_its_line() {
    for (file, line) in [("threads = 1\nlog = ", 2), ("threads = 1\nthreads = 2", 2), ("\n\n[limits\n", 3)] {
        let message = Start { file, ..Start::default() }.message();
        assert!(message.starts_with(&format!("callboard.toml line {line}: ")), "{message}");
    }
}

/// A variable, its value, and the error message.
const IN_THE_ENVIRONMENT: &[(&str, &str, &str)] = &[
    ("CALLBOARD_LISTN", "x", "unknown environment variable CALLBOARD_LISTN; did you mean CALLBOARD_LISTEN?"),
    ("CALLBOARD_API_KEY", "x", "unknown environment variable CALLBOARD_API_KEY; did you mean CALLBOARD_API_KEYS?"),
    (
        "CALLBOARD_BODY_BYTES",
        "1",
        "unknown environment variable CALLBOARD_BODY_BYTES; did you mean CALLBOARD_LIMITS_BODY_BYTES?",
    ),
    ("CALLBOARD_CONFG", "x", "unknown environment variable CALLBOARD_CONFG; did you mean CALLBOARD_CONFIG?"),
    (
        "CALLBOARD_COLOUR",
        "",
        "unknown environment variable CALLBOARD_COLOUR; unset it, or find the name you need in docs/settings.md",
    ),
    (
        "CALLBOARD_LISTEN",
        "8787",
        "listen = 8787 (environment CALLBOARD_LISTEN) is not allowed: give an address and a port, such as 127.0.0.1:8787 or [::1]:8787",
    ),
    (
        "CALLBOARD_LIMITS_BODY_BYTES",
        "8 MB",
        "limits.body_bytes = 8 MB (environment CALLBOARD_LIMITS_BODY_BYTES) is not allowed: give a number of bytes or a size such as \"8 MiB\", from 1 to 1 TiB",
    ),
    (
        "CALLBOARD_UPSTREAM",
        "http://a,localhost:80",
        "upstream.url = localhost:80 (environment CALLBOARD_UPSTREAM) is not allowed: give http://HOST:PORT/PATH or https://…, without user, query or fragment",
    ),
    (
        "CALLBOARD_UPSTREAM_KEY_ENV",
        "KEY",
        "environment CALLBOARD_UPSTREAM_KEY_ENV names a key for upstreams given by --upstream or CALLBOARD_UPSTREAM, and there is none: in a settings file, write key_env under [[upstream]]",
    ),
    (
        "CALLBOARD_CONFIG",
        "missing.toml",
        "the settings file missing.toml (environment CALLBOARD_CONFIG) does not exist",
    ),
];

#[test]
fn mistakes_in_the_environment() {
    for &(name, value, message) in IN_THE_ENVIRONMENT {
        assert_eq!(Start { environment: &[(name, value)], ..Start::default() }.message(), message);
    }
}

#[test]
fn mistakes_in_flags() {
    let upstream = ["--upstream", "http://me:hunter2@a"];
    let pasted_key = ["--upstream", "http://a", "--upstream-key-env", "sk-secret"];
    let unset_key = ["--upstream", "http://a", "--upstream-key-env", "KEY"];
    for (flags, message) in [
        (&["--config", "missing.toml"][..], "the settings file missing.toml (command line --config) does not exist"),
        (
            &["--log", "loud"],
            "log = loud (command line --log) is not allowed: give off, error, warn, info, debug or trace",
        ),
        (&["--characters", ""], "characters =  (command line --characters) is not allowed: give a path"),
        (
            &upstream,
            "upstream.url = http://me:********@a (command line --upstream) is not allowed: give http://HOST:PORT/PATH or https://…, without user, query or fragment",
        ),
        (
            &pasted_key,
            "upstream.key_env = ******** (command line --upstream-key-env) is not allowed: give the name of an environment variable, not the key itself",
        ),
        (&unset_key, "the upstream http://a/v1 takes its key from the environment variable KEY, which is not set"),
        (
            &["--listen", "0.0.0.0:0"],
            "listening on 0.0.0.0:0 would let others in without a key: set CALLBOARD_API_KEYS, or listen on 127.0.0.1",
        ),
    ] {
        assert_eq!(Start { flags, ..Start::default() }.message(), message);
    }
    let environment = [("KEY", "two words")];
    assert_eq!(
        Start { flags: &unset_key, environment: &environment, ..Start::default() }.message(),
        "the upstream http://a/v1 takes its key from the environment variable KEY, which holds no usable key: spaces and special letters cannot be sent"
    );
}

#[test]
fn listening_beyond_loopback_requires_keys() {
    let flags = &["--listen", "0.0.0.0:0"];
    assert!(Start { flags, file: "api_keys = ['a']", ..Start::default() }.load().is_ok());
    assert!(Start { flags, environment: &[("CALLBOARD_API_KEYS", "a")], ..Start::default() }.load().is_ok());
    let none = Start { flags, environment: &[("CALLBOARD_API_KEYS", " , ")], ..Start::default() };
    assert!(matches!(none.load(), Err(ConfigError::Exposed { .. })));
}

#[test]
fn any_page_is_allowed_only_without_keys() {
    let file = "cors_origins = ['https://a.example', '*']";
    assert!(Start { file, ..Start::default() }.load().is_ok());
    let keyed = Start { file, environment: &[("CALLBOARD_API_KEYS", "a")], ..Start::default() };
    assert!(matches!(keyed.load(), Err(ConfigError::AnyOriginWithKeys)));
}

#[test]
fn unreadable_input_is_reported() {
    let folder = Folder::new();
    std::fs::create_dir(folder.0.join("callboard.toml")).unwrap();
    let error = load(&flags(&[]), &Environment::default(), &folder.0).map(|_| ()).unwrap_err();
    assert!(error.to_string().starts_with("the settings file callboard.toml cannot be read: "), "{error}");

    let strange = OsString::from_vec(vec![0xff]);
    let environment = Environment::new([(OsString::from("CALLBOARD_LISTEN"), strange)]);
    let error = load(&flags(&[]), &environment, &Folder::new().0).map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "the environment variable CALLBOARD_LISTEN is not valid Unicode");
}
