//! Characters that do what no character should. Each harms its own call or its own file, and nothing else.

use std::fs;
use std::path::Path;
use std::time::Duration;

use callboard_python::{
    CallError, CallOutcome, CallRequest, Character, HostError, Limits, LoadError, ProblemKind, ToolError,
};

use crate::harness::{TestHost, call, characters, has_exited, scratch, wait_for_exit};

/// The text that the model receives from each tool.
const CALLS: &[(&str, &str)] = &[
    ("loops", "Error: Tool execution timed out"),
    ("sleeps_in_c", "Error: Tool execution timed out"),
    ("ignores_signals", "Error: Tool execution timed out"),
    ("exits", "Error: SystemExit: 3"),
    ("exits_hard", "Error: Tool execution failed - the tool crashed"),
    ("segfaults", "Error: Tool execution failed - the tool crashed"),
    ("overflows_the_stack", "Error: RecursionError: maximum recursion depth exceeded"),
    ("kills_itself", "Error: Tool execution failed - the tool crashed"),
    ("kills_its_parent", "Error: Tool execution failed - the tool crashed"),
    ("forks", "parent"),
    ("forks_below_python", "parent"),
    ("eats_memory", "Error: MemoryError"),
    ("eats_memory_slowly", "Error: MemoryError"),
    ("prints_100_megabytes", "printed"),
    ("closes_everything", "Error: Tool execution failed - the tool crashed"),
    ("opens_many_files", "Error: OSError: [Errno 24] Too many open files: '/dev/null'"),
    ("returns_none", "Error: Tool must return string"),
    ("returns_a_number", "Error: Tool must return string"),
    ("returns_a_list", "Error: Tool must return string"),
    ("returns_a_dict", "Error: Tool must return string"),
    ("returns_bytes", "Error: Tool must return string"),
    ("returns_half_a_character", "a?b"),
    ("returns_too_much", "Error: Tool result too large - 2097152 bytes, at most 1048576 are allowed"),
    ("raises_without_words", "Error: Unspeakable: (its message cannot be read: RuntimeError)"),
    ("no_such_tool", "Error: Unknown tool: no_such_tool"),
];

#[tokio::test]
async fn a_call_harms_itself_only() {
    let host = TestHost::start();
    let narrator = host.load("narrator.py").await;
    let hostile = host.load("hostile/tools.py").await;
    for (tool, expected) in CALLS {
        assert_eq!(call_text(&hostile, tool).await, *expected, "{tool}");
        assert_eq!(call_text(&hostile, "answers").await, "well", "after {tool}");
        let logged = call(&narrator, "log_story_event", r#"{"event":"calm"}"#).await;
        assert_eq!(logged.result.as_deref(), Ok("Logged: calm"), "after {tool}");
    }
}

fn model_text(outcome: CallOutcome) -> String {
    outcome.result.unwrap_or_else(|failure| failure.to_model_text())
}

async fn call_text(character: &Character, tool: &str) -> String {
    model_text(call(character, tool, "{}").await)
}

#[tokio::test]
async fn a_crash_is_explained() {
    let host = TestHost::start();
    let hostile = host.load("hostile/tools.py").await;
    let rows = [
        ("exits_hard", "exited with status 7", "goodbye"),
        ("segfaults", "ended by a segmentation fault (SIGSEGV)", "in segfaults"),
        ("kills_itself", "was killed (SIGKILL), perhaps because the machine ran out of memory", ""),
    ];
    for (tool, expected_how, expected_tail) in rows {
        match call(&hostile, tool, "{}").await.result {
            Err(CallError::Tool(ToolError::Crashed { how, stderr_tail })) => {
                assert_eq!(how, expected_how);
                assert!(stderr_tail.contains(expected_tail), "{stderr_tail}");
            }
            other => panic!("{tool}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_huge_message_is_cut() {
    let host = TestHost::start();
    let limits = "TOOL_TIMEOUT_MS = 20_000\n";
    let hostile = fs::read_to_string(characters().join("hostile/tools.py")).unwrap();
    let hostile = host.load_text(&format!("{hostile}\n{limits}")).await;
    let Err(CallError::Tool(ToolError::Raised { exception, message, place, traceback })) =
        call(&hostile, "raises_a_huge_message", "{}").await.result
    else {
        panic!("it raises");
    };
    assert_eq!(exception, "ValueError");
    assert!(message.starts_with("yyyy") && message.ends_with("(49998000 more characters)"), "{}", message.len());
    assert!(message.len() < 3000 && traceback.len() < 10_000);
    let place = place.expect("it was raised in the file");
    assert!(place.to_string().ends_with("character.py:211 in raises_a_huge_message"), "{place}");
}

#[tokio::test]
async fn nothing_happens_after_a_deadline() {
    let host = TestHost::start();
    let hostile = host.load("hostile/tools.py").await;
    let folder = scratch();
    let outcome = call(&hostile, "writes_after_its_deadline", &in_folder(&folder)).await;
    assert_eq!(outcome.result, Err(CallError::Tool(ToolError::TimedOut { limit: Duration::from_secs(1) })));
    assert!(outcome.took >= Duration::from_secs(1));
    // The process has ended by the time we get the result, so what was not written never will be.
    assert!(has_exited(pid_in(&folder, "before")));
    assert!(!folder.join("after").exists());
}

#[tokio::test]
async fn what_a_killed_call_forked_dies_with_it() {
    let host = TestHost::start();
    let hostile = host.load("hostile/tools.py").await;
    for (tool, name) in [("forks_and_hangs", "child"), ("leaves_a_daemon", "daemon")] {
        let folder = scratch();
        assert_eq!(model_text(call(&hostile, tool, &in_folder(&folder)).await), "Error: Tool execution timed out");
        wait_for_exit(pid_in(&folder, name));
    }
}

#[tokio::test]
async fn what_a_call_leaves_behind_costs_the_worker() {
    let host = TestHost::start();
    let hostile = host.load("hostile/tools.py").await;
    let worker = call_text(&hostile, "says_who_it_is").await;
    assert_eq!(call_text(&hostile, "says_who_it_is").await, worker, "a worker that behaves is kept");

    let threaded = call_text(&hostile, "leaves_a_thread").await;
    assert_eq!(threaded, worker);
    wait_for_exit(threaded.parse().unwrap());

    let program = call_text(&hostile, "leaves_a_program").await;
    wait_for_exit(program.parse().unwrap());

    let closed = call_text(&hostile, "closes_stdout").await;
    wait_for_exit(closed.parse().unwrap());
    assert_eq!(call_text(&hostile, "answers").await, "well");
}

#[tokio::test]
async fn printing_is_cut() {
    let host = TestHost::start();
    let hostile = host.load("hostile/tools.py").await;
    assert_eq!(call_text(&hostile, "prints_100_megabytes").await, "printed");
    let lines = host.lines();
    let printed: usize = lines.iter().map(String::len).sum();
    assert!(printed < 70_000, "{printed}");
    let last = lines.last().unwrap();
    assert_eq!(last, "[tools] … 99934464 bytes more were cut (at most 65536 are shown)");
}

/// Files that end or hang while they are imported.
const IMPORTS: &[(&str, ProblemKind, Option<u32>, &str)] = &[
    ("import_loops.py", ProblemKind::Timeout, Some(2), "importing the file took longer than 1000 ms"),
    ("import_exits.py", ProblemKind::ImportError, Some(3), "sys.exit(nothing to see here)"),
    ("import_exits_hard.py", ProblemKind::Crash, None, "the interpreter exited with status 4"),
    ("import_segfaults.py", ProblemKind::Crash, Some(3), "ended by a segmentation fault (SIGSEGV)"),
    ("import_eats_memory.py", ProblemKind::ImportError, Some(1), "MemoryError"),
    ("import_floods.py", ProblemKind::ImportError, Some(5), "RuntimeError: flooded"),
    ("import_closes_everything.py", ProblemKind::Crash, None, "while it imported the file"),
];

#[tokio::test]
async fn an_import_harms_its_own_file_only() {
    let host = TestHost::start();
    let short_import = TestHost::with_limits(Limits { import: Duration::from_secs(1), ..Limits::default() });
    for (name, kind, line, words) in IMPORTS {
        let host = if *kind == ProblemKind::Timeout { &short_import } else { &host };
        let narrator = host.load("narrator.py").await;
        let problem = host.problem(&format!("hostile/{name}")).await;
        assert_eq!((problem.kind, problem.line), (*kind, *line), "{problem}");
        assert!(problem.what.contains(words) && !problem.remedy.is_empty(), "{problem}");
        let logged = call(&narrator, "log_story_event", r#"{"event":"calm"}"#).await;
        assert_eq!(logged.result.as_deref(), Ok("Logged: calm"), "after {name}");
    }
}

#[tokio::test]
async fn odd_imports_that_do_no_harm_load() {
    let host = TestHost::start();
    for name in ["import_forks.py", "import_leaves_a_thread.py"] {
        let odd = host.load(&format!("hostile/{name}")).await;
        assert_eq!(odd.start_conversation().await.unwrap().system_prompt, "Break things.", "{name}");
    }
}

#[tokio::test]
async fn a_request_that_no_worker_survives_fails() {
    let host = TestHost::start();
    let narrator = host.load("narrator.py").await;
    let deep = format!(r#"{{"event":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    let failure = call(&narrator, "log_story_event", &deep).await.result.unwrap_err();
    assert!(matches!(failure, CallError::Host(HostError::Protocol(_) | HostError::InvalidRequest(_))), "{failure:?}");
    assert_eq!(failure.to_model_text(), "Error: Tool execution failed - internal error");
    let logged = call(&narrator, "log_story_event", r#"{"event":"calm"}"#).await;
    assert_eq!(logged.result.as_deref(), Ok("Logged: calm"));
}

/// One worker, and more calls than it can be sent at once, some of them too large to be sent ahead.
#[tokio::test]
async fn calls_behind_a_killed_one_are_still_answered() {
    let host = TestHost::with_limits(Limits { workers_per_character: 1, ..Limits::default() });
    let hostile = host.load("hostile/tools.py").await;
    for _ in 0..20 {
        assert_eq!(call_text(&hostile, "answers").await, "well");
    }
    let large = format!(r#"{{"big":"{}"}}"#, "x".repeat(500_000));
    let state = ["null", "null", &large, "null", &large];
    let others = state.map(|state| {
        let request =
            CallRequest { tool: "answers", arguments: "{}", state: Some(state), heard: None, conversation: "test" };
        hostile.call(request)
    });
    let (looped, others) = tokio::join!(call(&hostile, "loops", "{}"), futures_util::future::join_all(others));
    assert_eq!(model_text(looped), "Error: Tool execution timed out");
    for outcome in others {
        assert_eq!(outcome.result.as_deref(), Ok("well"));
    }
}

#[tokio::test]
async fn an_abandoned_call_is_killed() {
    let host = TestHost::start();
    let hostile = host.load_text(&hanging()).await;
    let folder = scratch();
    let arguments = in_folder(&folder);
    let hanging = call(&hostile, "hangs", &arguments);
    let started = async {
        while !folder.join("started").exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        outcome = hanging => panic!("{outcome:?}"),
        () = started => {}
    }
    wait_for_exit(pid_in(&folder, "started"));
    assert_eq!(call_text(&hostile, "answers").await, "well");
}

fn hanging() -> String {
    let common = fs::read_to_string(characters().join("hostile/tools.py")).unwrap();
    format!(
        "{common}\ndef hangs(folder: str) -> str:\n    \"\"\"Hangs.\"\"\"\n    note(folder, 'started', os.getpid())\n    \
         time.sleep(600)\n\nTOOLS.append(hangs)\nTOOL_TIMEOUT_MS = 600_000\n"
    )
}

#[tokio::test]
async fn shutdown_leaves_no_process() {
    let host = TestHost::start();
    let narrator = host.load("narrator.py").await;
    let hostile = host.load_text(&hanging()).await;
    narrator.start_conversation().await.unwrap();
    let folder = scratch();
    let arguments = in_folder(&folder);
    let hanging = call(&hostile, "hangs", &arguments);
    let shutdown = async {
        while !folder.join("started").exists() {
            tokio::task::yield_now().await;
        }
        let processes = host.processes();
        assert!(processes.len() >= 5 && processes.contains(&pid_in(&folder, "started")), "{processes:?}");
        host.python.shutdown().await;
        processes
    };
    let (outcome, processes) = tokio::join!(hanging, shutdown);
    assert_eq!(outcome.result, Err(CallError::Host(HostError::Closed)));
    for pid in processes {
        wait_for_exit(pid);
    }
    assert_eq!(narrator.start_conversation().await, Err(CallError::Host(HostError::Closed)));
    let late = host.try_load(&characters().join("narrator.py")).await;
    assert!(matches!(late, Err(LoadError::Host(HostError::Closed))));
}

/// Its workers introduce themselves with the number of another process, which Callboard would kill at their end.
#[tokio::test]
async fn no_process_is_killed_on_the_word_of_a_character() {
    let mut victim = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let lie = format!("os.register_at_fork(after_in_child=lambda: setattr(os, 'getpid', lambda: {}))\n", victim.id());
    let host = TestHost::start();
    let hostile = fs::read_to_string(characters().join("hostile/tools.py")).unwrap();
    let hostile = host.load_text(&format!("{hostile}\n{lie}")).await;
    assert!(hostile.start_conversation().await.is_err());
    host.python.shutdown().await;
    assert!(victim.try_wait().unwrap().is_none(), "it was killed");
    victim.kill().unwrap();
    victim.wait().unwrap();
}

fn in_folder(folder: &Path) -> String {
    serde_json::json!({ "folder": folder }).to_string()
}

fn pid_in(folder: &Path, name: &str) -> u32 {
    fs::read_to_string(folder.join(name)).unwrap().parse().unwrap()
}
