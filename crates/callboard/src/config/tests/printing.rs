//! What `callboard config` prints.

use super::setup::Start;

#[test]
fn settings_are_printed_with_their_origins() {
    let start = Start {
        file: "threads = 2\n[[upstream]]\nurl = 'http://127.0.0.1:8000'\ncontract = 'off'\n[limits]\ntools = 20\n",
        environment: &[("CALLBOARD_API_KEYS", "sk-one,sk-two"), ("CALLBOARD_TIMEOUTS_IDLE_SECONDS", "0.5")],
        flags: &["--listen", "0.0.0.0:0"],
    };
    let expected = r#"listen               = "0.0.0.0:0"                 # command line --listen
threads              = 2                           # callboard.toml line 1
api_keys             = ["********", "********"]    # environment CALLBOARD_API_KEYS
hosts                = []                          # default
passthrough_paths    = []                          # default
cors_origins         = []                          # default
characters           = "characters"                # default
store                = "sqlite:callboard.db"       # default
store_connections    = 16                          # default
log                  = "info"                      # default
log_format           = "text"                      # default

[[upstream]]
url                  = "http://127.0.0.1:8000/v1"  # callboard.toml line 3
contract             = "off"                       # callboard.toml line 4
tools                = "auto"                      # default
probe                = "auto"                      # default

[contract]
mode                 = "enforce"                   # default
reasks               = 1                           # default
stream_arguments     = false                       # default

[limits]
body_bytes           = "8 MiB"                     # default
history_bytes        = "8 MiB"                     # default
tools                = 20                          # callboard.toml line 6
schema_depth         = 32                          # default
schema_properties    = 1000                        # default
schema_nodes         = 50000                       # default
schema_enum_values   = 10000                       # default
schema_patterns      = 500                         # default
schema_pattern_bytes = "4 MiB"                     # default
validation_steps     = 2000000                     # default
arguments_bytes      = "256 KiB"                   # default
reply_bytes          = "32 MiB"                    # default
reply_calls          = 10000                       # default
in_flight            = 1024                        # default
request_memory_bytes = "256 MiB"                   # default
memory_bytes         = "1 GiB"                     # default
sockets              = 1024                        # default
retries              = 2                           # default

[timeouts]
connect_seconds      = 5                           # default
first_byte_seconds   = 600                         # default
start_seconds        = 600                         # default
idle_seconds         = 0.5                         # environment CALLBOARD_TIMEOUTS_IDLE_SECONDS
keep_alive_seconds   = 15                          # default
body_seconds         = 120                         # default
head_seconds         = 30                          # default
socket_seconds       = 3600                        # default
socket_life_seconds  = 3600                        # default
client_seconds       = 60                          # default
busy_seconds         = 60                          # default
drain_seconds        = 30                          # default

[stage]
model                = ""                          # default
rounds               = 8                           # default
turn_seconds         = 60                          # default
arguments_bytes      = "2 KiB"                     # default
result_characters    = 1000                        # default

[keep]
conversation_days    = 0                           # default
response_days        = 30                          # default
history_days         = 30                          # default
finding_days         = 30                          # default
trace_days           = 7                           # default

[python]
interpreter          = "python3"                   # default
memory_bytes         = "512 MiB"                   # default
workers              = 4                           # default
import_seconds       = 5                           # default
rest_seconds         = 60                          # default
environment          = []                          # default
sandbox              = "off"                       # default

[trace]
record_percent       = 100                         # default
content              = false                       # default

[otlp]
headers              = []                          # default
"#;
    assert_eq!(start.load().unwrap().to_toml(), expected);
}

#[test]
fn the_printed_settings_can_be_loaded_again() {
    let keys = &[("KEY", "sk-secret")];
    for (file, flags) in [
        ("", &[][..]),
        ("characters = 'a \"quoted\" \\ path'\n[timeouts]\ndrain_seconds = 0.001", &["--upstream", "http://a"]),
        (
            "[[upstream]]\nurl = 'http://a'\nkey_env = 'KEY'\n[[upstream]]\nurl = 'http://b'\n[limits]\nbody_bytes = 1001",
            &["--store", "sqlite::memory:"],
        ),
    ] {
        let first = Start { file, flags, environment: keys }.load().unwrap();
        let again = Start { file: &first.to_toml(), environment: keys, ..Start::default() }.load().unwrap();
        assert_eq!(again.settings, first.settings);
    }
}

#[test]
fn no_secret_is_printed() {
    let start = Start {
        file: "api_keys = ['sk-secret']\nstore = 'postgres://me:secret@db/calls'",
        environment: &[("KEY", "upstream-secret")],
        flags: &["--upstream", "http://a", "--upstream-key-env", "KEY"],
    };
    let loaded = start.load().unwrap();
    for text in [loaded.to_toml(), format!("{loaded:?}")] {
        assert!(text.contains("********") && text.contains("KEY"), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
}

#[test]
fn missing_upstreams_are_printed_as_a_comment() {
    let page = Start::default().load().unwrap().to_toml();
    assert!(page.contains("\n# no [[upstream]] was given\n"), "{page}");
}
