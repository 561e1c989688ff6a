//! Each key in each layer, and which layer wins.

use super::setup::{Folder, Start, flags, in_effect, pair};
use crate::config::table::keys;
use crate::config::{
    ContractMode, ContractSettings, Environment, KeepSettings, Limits, OtlpSettings, PythonSettings, Settings,
    StageSettings, StoreUrl, Timeouts, TraceSettings, load,
};
use std::time::Duration;

/// Path of a key, a value in the file, a value in the environment, and both as they are printed.
const SAMPLES: &[(&str, &str, &str, &str, &str)] = &[
    ("listen", "\"127.0.0.1:1\"", "[::1]:2", "\"127.0.0.1:1\"", "\"[::1]:2\""),
    ("threads", "2", "3", "2", "3"),
    ("api_keys", "[\"a\"]", "b,c", "[\"********\"]", "[\"********\", \"********\"]"),
    ("passthrough_paths", "[\"/v1/a\"]", "/v1/b,/c", "[\"/v1/a\"]", "[\"/v1/b\", \"/c\"]"),
    ("hosts", "[\"a\"]", "b,c.example", "[\"a\"]", "[\"b\", \"c.example\"]"),
    ("cors_origins", "[\"https://a\"]", "http://b:1,https://c", "[\"https://a\"]", "[\"http://b:1\", \"https://c\"]"),
    ("characters", "\"cast\"", "other cast", "\"cast\"", "\"other cast\""),
    ("store", "\"sqlite:a.db\"", "sqlite::memory:", "\"sqlite:a.db\"", "\"sqlite::memory:\""),
    ("store_connections", "4", "12", "4", "12"),
    ("log", "\"warn\"", "trace", "\"warn\"", "\"trace\""),
    ("log_format", "\"json\"", "text", "\"json\"", "\"text\""),
    ("contract.mode", "\"observe\"", "off", "\"observe\"", "\"off\""),
    ("contract.reasks", "0", "5", "0", "5"),
    ("contract.stream_arguments", "true", "true", "true", "true"),
    ("limits.body_bytes", "\"1 MiB\"", "2 MiB", "\"1 MiB\"", "\"2 MiB\""),
    ("limits.history_bytes", "\"1 MiB\"", "2 MiB", "\"1 MiB\"", "\"2 MiB\""),
    ("limits.tools", "1", "2", "1", "2"),
    ("limits.schema_depth", "3", "4", "3", "4"),
    ("limits.schema_properties", "5", "6", "5", "6"),
    ("limits.schema_nodes", "7", "8", "7", "8"),
    ("limits.schema_enum_values", "9", "10", "9", "10"),
    ("limits.schema_patterns", "0", "1", "0", "1"),
    ("limits.schema_pattern_bytes", "\"1 MiB\"", "2 MiB", "\"1 MiB\"", "\"2 MiB\""),
    ("limits.validation_steps", "1000", "2000", "1000", "2000"),
    ("limits.arguments_bytes", "1_024", "2048", "\"1 KiB\"", "\"2 KiB\""),
    ("limits.reply_bytes", "0x10", "100 B", "16", "100"),
    ("limits.reply_calls", "1", "2", "1", "2"),
    ("limits.in_flight", "7", "8", "7", "8"),
    ("limits.request_memory_bytes", "\"1 MiB\"", "2 MiB", "\"1 MiB\"", "\"2 MiB\""),
    ("limits.memory_bytes", "\"1 MiB\"", "2 MiB", "\"1 MiB\"", "\"2 MiB\""),
    ("limits.sockets", "7", "8", "7", "8"),
    ("limits.retries", "0", "5", "0", "5"),
    ("timeouts.connect_seconds", "1.5", "2", "1.5", "2"),
    ("timeouts.first_byte_seconds", "3", "0.5", "3", "0.5"),
    ("timeouts.start_seconds", "3", "0.5", "3", "0.5"),
    ("timeouts.idle_seconds", "4", "5", "4", "5"),
    ("timeouts.keep_alive_seconds", "6", "7", "6", "7"),
    ("timeouts.body_seconds", "8", "9", "8", "9"),
    ("timeouts.head_seconds", "1", "2.5", "1", "2.5"),
    ("timeouts.socket_seconds", "1", "2.5", "1", "2.5"),
    ("timeouts.socket_life_seconds", "1", "2.5", "1", "2.5"),
    ("timeouts.client_seconds", "1", "2.5", "1", "2.5"),
    ("timeouts.busy_seconds", "1", "2.5", "1", "2.5"),
    ("timeouts.drain_seconds", "0", "9", "0", "9"),
    ("stage.model", "\"qwen\"", "llama", "\"qwen\"", "\"llama\""),
    ("stage.rounds", "1", "2", "1", "2"),
    ("stage.turn_seconds", "1", "2", "1", "2"),
    ("stage.arguments_bytes", "1", "2", "1", "2"),
    ("stage.result_characters", "1", "2", "1", "2"),
    ("keep.conversation_days", "1", "2", "1", "2"),
    ("keep.response_days", "1", "2", "1", "2"),
    ("keep.history_days", "1", "2", "1", "2"),
    ("keep.finding_days", "1", "2", "1", "2"),
    ("keep.trace_days", "1", "2", "1", "2"),
    ("python.memory_bytes", "\"1 MiB\"", "2 MiB", "\"1 MiB\"", "\"2 MiB\""),
    ("python.workers", "1", "2", "1", "2"),
    ("python.import_seconds", "1", "2", "1", "2"),
    ("python.rest_seconds", "0", "2", "0", "2"),
    ("python.environment", "[\"A\"]", "B,C_*", "[\"A\"]", "[\"B\", \"C_*\"]"),
    ("python.sandbox", "\"on\"", "off", "\"on\"", "\"off\""),
    ("python.interpreter", "\"/opt/python\"", "python3.13", "\"/opt/python\"", "\"python3.13\""),
    ("trace.record_percent", "50", "0", "50", "0"),
    ("trace.content", "true", "false", "true", "false"),
    ("otlp.endpoint", "\"http://a:4318\"", "https://b/otel/", "\"http://a:4318\"", "\"https://b/otel\""),
    ("otlp.headers", "[\"a=1\"]", "a=1,b=2", "[\"a=********\"]", "[\"a=********\", \"b=********\"]"),
    ("upstream.url", "\"http://a\"", "http://b/v1/", "\"http://a/v1\"", "\"http://b/v1\""),
];

#[test]
fn defaults_apply_when_nothing_is_set() {
    let expected = Settings {
        listen: "127.0.0.1:8787".parse().unwrap(),
        threads: 0,
        api_keys: Vec::new(),
        hosts: Vec::new(),
        passthrough_paths: Vec::new(),
        cors_origins: Vec::new(),
        characters: "characters".into(),
        store: StoreUrl::new("sqlite:callboard.db").unwrap(),
        store_connections: 16,
        log: "info",
        log_format: "text",
        upstreams: Vec::new(),
        contract: ContractSettings { mode: ContractMode::Enforce, reasks: 1, stream_arguments: false },
        limits: Limits {
            body_bytes: 8 * 1024 * 1024,
            history_bytes: 8 * 1024 * 1024,
            tools: 128,
            schema_depth: 32,
            schema_properties: 1000,
            schema_nodes: 50_000,
            schema_enum_values: 10_000,
            schema_patterns: 500,
            schema_pattern_bytes: 4 << 20,
            validation_steps: 2_000_000,
            arguments_bytes: 256 * 1024,
            reply_bytes: 32 * 1024 * 1024,
            reply_calls: 10_000,
            in_flight: 1024,
            request_memory_bytes: 256 << 20,
            memory_bytes: 1 << 30,
            sockets: 1024,
            retries: 2,
        },
        timeouts: Timeouts {
            connect: Duration::from_secs(5),
            first_byte: Duration::from_secs(600),
            start: Duration::from_secs(600),
            idle: Duration::from_secs(60),
            keep_alive: Duration::from_secs(15),
            body: Duration::from_secs(120),
            head: Duration::from_secs(30),
            socket: Duration::from_secs(3600),
            socket_life: Duration::from_secs(3600),
            client: Duration::from_secs(60),
            busy: Duration::from_secs(60),
            drain: Duration::from_secs(30),
        },
        stage: StageSettings {
            model: String::new(),
            rounds: 8,
            turn: Duration::from_secs(60),
            arguments_bytes: 2048,
            result_characters: 1000,
        },
        keep: KeepSettings {
            conversation_days: 0,
            response_days: 30,
            history_days: 30,
            trace_days: 7,
            finding_days: 30,
        },
        python: PythonSettings {
            interpreter: "python3".into(),
            memory_bytes: 512 << 20,
            workers: 4,
            import: Duration::from_secs(5),
            rest: Duration::from_secs(60),
            environment: Vec::new(),
            sandbox: "off",
        },
        trace: TraceSettings { record_percent: 100, content: false },
        otlp: OtlpSettings { endpoint: None, headers: Vec::new() },
    };
    let loaded = Start::default().load().unwrap();
    assert_eq!(loaded.settings, expected);
    assert!(loaded.entries.iter().all(|entry| entry.origin.to_string() == "default"));
}

#[test]
fn every_key_has_a_sample() {
    let sampled = SAMPLES.iter().map(|(path, ..)| (*path).to_owned());
    let sampled: Vec<String> = sampled
        .chain(
            [
                "command",
                "start",
                "directory",
                "environment",
                "key_env",
                "contract",
                "models",
                "aliases",
                "tools",
                "probe",
            ]
            .map(|name| format!("upstream.{name}")),
        )
        .collect();
    for key in keys() {
        assert!(sampled.contains(&key.path()), "{}", key.path());
    }
}

#[test]
fn the_file_wins_over_defaults_and_the_environment_over_the_file() {
    for (path, in_file, in_variable, file_holds, variable_holds) in SAMPLES {
        let (header, name) = match path.split_once('.') {
            Some(("upstream", name)) => ("[[upstream]]".to_owned(), name),
            Some((section, name)) => (format!("[{section}]"), name),
            None => (String::new(), *path),
        };
        let file = format!("# a comment\n{header}\n{name} = {in_file}\n");
        let loaded = Start { file: &file, ..Start::default() }.load().unwrap();
        assert_eq!(in_effect(&loaded, path), pair(file_holds, "callboard.toml line 3"));

        let key = keys().find(|key| key.path() == *path).unwrap();
        let variable = key.variable().unwrap();
        let environment = [(variable.as_str(), *in_variable)];
        let loaded = Start { file: &file, environment: &environment, ..Start::default() }.load().unwrap();
        assert_eq!(in_effect(&loaded, path), pair(variable_holds, &format!("environment {variable}")));

        let empty = [(variable.as_str(), "")];
        let loaded = Start { file: &file, environment: &empty, ..Start::default() }.load().unwrap();
        assert_eq!(in_effect(&loaded, path), pair(file_holds, "callboard.toml line 3"));
    }
}

#[test]
fn flags_win_over_the_environment() {
    for (path, words, variable, value, holds) in [
        ("listen", ["--listen", "127.0.0.1:0"], "CALLBOARD_LISTEN", "127.0.0.1:1", "\"127.0.0.1:0\""),
        ("characters", ["--characters", "a"], "CALLBOARD_CHARACTERS", "b", "\"a\""),
        ("store", ["--store", "sqlite:a"], "CALLBOARD_STORE", "sqlite:b", "\"sqlite:a\""),
        ("log", ["--log", "debug"], "CALLBOARD_LOG", "warn", "\"debug\""),
        ("upstream.url", ["--upstream", "http://a"], "CALLBOARD_UPSTREAM", "http://b", "\"http://a/v1\""),
    ] {
        let start = Start { flags: &words, environment: &[(variable, value)], ..Start::default() };
        let origin = format!("command line {}", words[0]);
        assert_eq!(in_effect(&start.load().unwrap(), path), pair(holds, &origin));
    }
}

#[test]
fn the_file_is_named_by_flag_then_variable_then_default() {
    let folder = Folder::new();
    folder.write("callboard.toml", "threads = 1");
    folder.write("by-variable.toml", "threads = 2");
    folder.write("by-flag.toml", "threads = 3");
    let absolute = folder.0.join("by-flag.toml").display().to_string();
    for (words, variables, threads, origin) in [
        (&[][..], &[][..], "1", "callboard.toml line 1"),
        (&[], &[("CALLBOARD_CONFIG", "")], "1", "callboard.toml line 1"),
        (&[], &[("CALLBOARD_CONFIG", "by-variable.toml")], "2", "by-variable.toml line 1"),
        (&["--config", "by-flag.toml"], &[("CALLBOARD_CONFIG", "by-variable.toml")], "3", "by-flag.toml line 1"),
        (&["--config", &absolute], &[], "3", &format!("{absolute} line 1")),
    ] {
        let environment = Environment::new(variables.iter().copied());
        let loaded = load(&flags(words), &environment, &folder.0).unwrap();
        assert_eq!(in_effect(&loaded, "threads"), pair(threads, origin));
    }
}

#[test]
fn variables_of_other_programs_are_ignored() {
    let service = [
        ("KUBERNETES_SERVICE_HOST", "10.0.0.1"),
        ("CALLBOARD_PORT", "tcp://10.0.0.2:80"),
        ("CALLBOARD_PORT_80_TCP_ADDR", "10.0.0.2"),
        ("CALLBOARD_SERVICE_HOST", "10.0.0.2"),
        ("CALLBOARD_SERVICE_PORT_HTTP", "80"),
        ("CALLBOARDS", "many"),
    ];
    assert!(Start { environment: &service, ..Start::default() }.load().is_ok());
    assert!(Start { environment: &service[1..], ..Start::default() }.load().is_err());
}
