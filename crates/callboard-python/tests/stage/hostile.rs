//! Characters that do what no character should. Each harms its own call or its own file, and nothing else.

use std::fs;
use std::path::Path;
use std::time::Duration;

use callboard_python::{
    CallOrder, CallOutcome, Character, Failure, Limits, LoadFailure, ProblemKind, StageFailure, ToolFault,
};

use crate::theatre::{Theatre, call, characters, is_dead, scratch, wait_until_dead};

/// What the model is told after each sabotage.
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
    let theatre = Theatre::open();
    let narrator = theatre.load("narrator.py").await;
    let saboteur = theatre.load("hostile/tools.py").await;
    for (tool, expected) in CALLS {
        let told = told(call(&saboteur, tool, "{}").await);
        assert_eq!(told, *expected, "{tool}");
        assert_eq!(told_by(&saboteur, "answers").await, "well", "after {tool}");
        let logged = call(&narrator, "log_story_event", r#"{"event":"calm"}"#).await;
        assert_eq!(logged.result.as_deref(), Ok("Logged: calm"), "after {tool}");
    }
}

fn told(outcome: CallOutcome) -> String {
    outcome.result.unwrap_or_else(|failure| failure.to_model_text())
}

async fn told_by(character: &Character, tool: &str) -> String {
    told(call(character, tool, "{}").await)
}

#[tokio::test]
async fn a_crash_is_explained() {
    let theatre = Theatre::open();
    let saboteur = theatre.load("hostile/tools.py").await;
    let rows = [
        ("exits_hard", "exited with status 7", "goodbye"),
        ("segfaults", "ended by a segmentation fault (SIGSEGV)", "in segfaults"),
        ("kills_itself", "was killed (SIGKILL), perhaps because the machine ran out of memory", ""),
    ];
    for (tool, expected_how, expected_tail) in rows {
        match call(&saboteur, tool, "{}").await.result {
            Err(Failure::Fault(ToolFault::Crashed { how, stderr_tail })) => {
                assert_eq!(how, expected_how);
                assert!(stderr_tail.contains(expected_tail), "{stderr_tail}");
            }
            other => panic!("{tool}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_huge_message_is_cut() {
    let theatre = Theatre::open();
    let limits = "TOOL_TIMEOUT_MS = 20_000\n";
    let saboteur = fs::read_to_string(characters().join("hostile/tools.py")).unwrap();
    let saboteur = theatre.load_text(&format!("{saboteur}\n{limits}")).await;
    let Err(Failure::Fault(ToolFault::Raised { exception, message, traceback })) =
        call(&saboteur, "raises_a_huge_message", "{}").await.result
    else {
        panic!("it raises");
    };
    assert_eq!(exception, "ValueError");
    assert!(message.starts_with("yyyy") && message.ends_with("(49998000 more characters)"), "{}", message.len());
    assert!(message.len() < 3000 && traceback.len() < 10_000);
}

#[tokio::test]
async fn nothing_happens_after_a_deadline() {
    let theatre = Theatre::open();
    let saboteur = theatre.load("hostile/tools.py").await;
    let folder = scratch();
    let outcome = call(&saboteur, "writes_after_its_deadline", &in_folder(&folder)).await;
    assert_eq!(outcome.result, Err(Failure::Fault(ToolFault::TimedOut { limit: Duration::from_millis(100) })));
    assert!(outcome.took >= Duration::from_millis(100));
    // The process is dead by the time we are told, so what was not written never will be.
    assert!(is_dead(noted(&folder, "before")));
    assert!(!folder.join("after").exists());
}

#[tokio::test]
async fn what_a_killed_call_forked_dies_with_it() {
    let theatre = Theatre::open();
    let saboteur = theatre.load("hostile/tools.py").await;
    for (tool, name) in [("forks_and_hangs", "child"), ("leaves_a_daemon", "daemon")] {
        let folder = scratch();
        assert_eq!(told(call(&saboteur, tool, &in_folder(&folder)).await), "Error: Tool execution timed out");
        wait_until_dead(noted(&folder, name));
    }
}

#[tokio::test]
async fn what_a_call_leaves_behind_costs_the_worker() {
    let theatre = Theatre::open();
    let saboteur = theatre.load("hostile/tools.py").await;
    let worker = told_by(&saboteur, "says_who_it_is").await;
    assert_eq!(told_by(&saboteur, "says_who_it_is").await, worker, "a worker that behaves is kept");

    let threaded = told_by(&saboteur, "leaves_a_thread").await;
    assert_eq!(threaded, worker);
    wait_until_dead(threaded.parse().unwrap());

    let program = told_by(&saboteur, "leaves_a_program").await;
    wait_until_dead(program.parse().unwrap());

    let closed = told_by(&saboteur, "closes_stdout").await;
    wait_until_dead(closed.parse().unwrap());
    assert_eq!(told_by(&saboteur, "answers").await, "well");
}

#[tokio::test]
async fn printing_is_cut() {
    let theatre = Theatre::open();
    let saboteur = theatre.load("hostile/tools.py").await;
    assert_eq!(told_by(&saboteur, "prints_100_megabytes").await, "printed");
    let lines = theatre.lines();
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
    let theatre = Theatre::with(Limits { import: Duration::from_secs(1), ..Limits::default() });
    let narrator = theatre.load("narrator.py").await;
    for (name, kind, line, words) in IMPORTS {
        let problem = theatre.problem(&format!("hostile/{name}")).await;
        assert_eq!((problem.kind, problem.line), (*kind, *line), "{problem}");
        assert!(problem.what.contains(words) && !problem.remedy.is_empty(), "{problem}");
        let logged = call(&narrator, "log_story_event", r#"{"event":"calm"}"#).await;
        assert_eq!(logged.result.as_deref(), Ok("Logged: calm"), "after {name}");
    }
}

#[tokio::test]
async fn odd_imports_that_do_no_harm_load() {
    let theatre = Theatre::open();
    for name in ["import_forks.py", "import_leaves_a_thread.py"] {
        let odd = theatre.load(&format!("hostile/{name}")).await;
        assert_eq!(odd.open().await.unwrap().system_prompt, "Break things.", "{name}");
    }
}

#[tokio::test]
async fn an_order_that_no_worker_survives_is_given_up() {
    let theatre = Theatre::open();
    let narrator = theatre.load("narrator.py").await;
    let deep = format!(r#"{{"event":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    let failure = call(&narrator, "log_story_event", &deep).await.result.unwrap_err();
    assert!(
        matches!(failure, Failure::Stage(StageFailure::Protocol(_) | StageFailure::InvalidOrder(_))),
        "{failure:?}"
    );
    assert_eq!(failure.to_model_text(), "Error: Tool execution failed - internal error");
    let logged = call(&narrator, "log_story_event", r#"{"event":"calm"}"#).await;
    assert_eq!(logged.result.as_deref(), Ok("Logged: calm"));
}

/// One worker, and more calls than it can be sent at once, some of them too large to be sent ahead.
#[tokio::test]
async fn calls_behind_a_killed_one_are_still_answered() {
    let theatre = Theatre::with(Limits { workers_per_character: 1, ..Limits::default() });
    let saboteur = theatre.load("hostile/tools.py").await;
    for _ in 0..20 {
        assert_eq!(told_by(&saboteur, "answers").await, "well");
    }
    let large = format!(r#"{{"big":"{}"}}"#, "x".repeat(500_000));
    let state = ["null", "null", &large, "null", &large];
    let others = state.map(|state| {
        let order = CallOrder { tool: "answers", arguments: "{}", state: Some(state), conversation: "test" };
        saboteur.call(order)
    });
    let (looped, others) = tokio::join!(call(&saboteur, "loops", "{}"), futures_util::future::join_all(others));
    assert_eq!(told(looped), "Error: Tool execution timed out");
    for outcome in others {
        assert_eq!(outcome.result.as_deref(), Ok("well"));
    }
}

#[tokio::test]
async fn an_abandoned_call_is_killed() {
    let theatre = Theatre::open();
    let saboteur = theatre.load_text(&hanging()).await;
    let folder = scratch();
    let arguments = in_folder(&folder);
    let hanging = call(&saboteur, "hangs", &arguments);
    let begun = async {
        while !folder.join("begun").exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        outcome = hanging => panic!("{outcome:?}"),
        () = begun => {}
    }
    wait_until_dead(noted(&folder, "begun"));
    assert_eq!(told_by(&saboteur, "answers").await, "well");
}

fn hanging() -> String {
    let common = fs::read_to_string(characters().join("hostile/tools.py")).unwrap();
    format!(
        "{common}\ndef hangs(folder: str) -> str:\n    \"\"\"Hangs.\"\"\"\n    note(folder, 'begun', os.getpid())\n    \
         time.sleep(600)\n\nTOOLS.append(hangs)\nTOOL_TIMEOUT_MS = 600_000\n"
    )
}

#[tokio::test]
async fn a_company_that_is_shut_down_leaves_nothing() {
    let theatre = Theatre::open();
    let narrator = theatre.load("narrator.py").await;
    let saboteur = theatre.load_text(&hanging()).await;
    narrator.open().await.unwrap();
    let folder = scratch();
    let arguments = in_folder(&folder);
    let hanging = call(&saboteur, "hangs", &arguments);
    let shutdown = async {
        while !folder.join("begun").exists() {
            tokio::task::yield_now().await;
        }
        let family = theatre.family();
        assert!(family.len() >= 5 && family.contains(&noted(&folder, "begun")), "{family:?}");
        theatre.company.shutdown().await;
        family
    };
    let (outcome, family) = tokio::join!(hanging, shutdown);
    assert_eq!(outcome.result, Err(Failure::Stage(StageFailure::Closed)));
    for pid in family {
        wait_until_dead(pid);
    }
    assert_eq!(narrator.open().await, Err(Failure::Stage(StageFailure::Closed)));
    let late = theatre.try_load(&characters().join("narrator.py")).await;
    assert!(matches!(late, Err(LoadFailure::Stage(StageFailure::Closed))));
}

fn in_folder(folder: &Path) -> String {
    serde_json::json!({ "folder": folder }).to_string()
}

fn noted(folder: &Path, name: &str) -> u32 {
    fs::read_to_string(folder.join(name)).unwrap().parse().unwrap()
}
