//! Many calls, one in ten killed for overrunning: each is answered, and nothing is left behind.
//!
//! `CALLBOARD_SOAK` says how many calls; without it there are few, to be quick.

#[cfg(test)]
#[path = "runtime/harness/process_tree.rs"]
mod process_tree;

#[cfg(test)]
mod soaking {
    use std::fs;
    use std::path::Path;

    use callboard_python::{CallError, CallOutcome, CallRequest, Character, HostSettings, PythonHost, ToolError};

    use crate::process_tree::{children, process_tree};

    const SOAKED: &str = r#"
import os
import time

CHARACTER_NAME = "Soaked"
INSTRUCTIONS = {}
TOOL_TIMEOUT_MS = {"hangs": 20, "answers": 10_000}


def answers() -> str:
    """Answers."""
    print("x")
    return "well"


def hangs() -> str:
    """Hangs."""
    time.sleep(600)


TOOLS = [answers, hangs]


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."
"#;

    const CALLS_AT_REST: usize = 100;

    struct Figures {
        processes: usize,
        open_files: usize,
        kilobytes: usize,
    }

    #[tokio::test]
    async fn nothing_is_left_behind() {
        let calls: usize = std::env::var("CALLBOARD_SOAK").map_or(400, |calls| calls.parse().unwrap());
        let host = PythonHost::start(HostSettings::new(interpreter())).unwrap();
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("soaked.py");
        fs::write(&path, SOAKED).unwrap();
        let soaked = host.load(&path, "soaked").await.unwrap();
        let run_calls = async |count: usize| {
            let lanes = 8;
            let mut running = tokio::task::JoinSet::new();
            for _ in 0..lanes {
                let soaked = soaked.clone();
                running.spawn(async move {
                    for number in 0..count / lanes {
                        answer_or_time_out(&soaked, number % 10 == 9).await;
                    }
                });
            }
            while let Some(lane) = running.join_next().await {
                lane.unwrap();
            }
        };
        run_calls(160).await;
        let before = settled_figures(&soaked).await;
        run_calls(calls).await;
        let after = settled_figures(&soaked).await;
        println!("{calls} calls: processes {} -> {}", before.processes, after.processes);
        println!(
            "open files {} -> {}, kilobytes {} -> {}",
            before.open_files, after.open_files, before.kilobytes, after.kilobytes
        );
        assert!(after.processes <= before.processes);
        assert!(after.open_files <= before.open_files);
        assert!(after.kilobytes < before.kilobytes + 8 * 1024);
    }

    async fn answer_or_time_out(soaked: &Character, overruns: bool) {
        let outcome = call(soaked, if overruns { "hangs" } else { "answers" }).await;
        match outcome.result {
            Ok(text) => assert!(!overruns && text == "well"),
            Err(CallError::Tool(ToolError::TimedOut { .. })) => assert!(overruns),
            Err(other) => panic!("{other:?}"),
        }
    }

    /// What is in use at rest: when nothing has changed over many calls, so that no worker is being replaced.
    async fn settled_figures(soaked: &Character) -> Figures {
        let mut same = 0;
        let mut last = (0, 0);
        while same < CALLS_AT_REST {
            call(soaked, "answers").await;
            let now = (count_processes(), open_files());
            same = if now == last { same + 1 } else { 0 };
            last = now;
        }
        let processes = children(std::process::id()).into_iter().flat_map(process_tree);
        let kilobytes = processes.chain([std::process::id()]).map(kilobytes_of).sum();
        Figures { processes: last.0, open_files: last.1, kilobytes }
    }

    fn kilobytes_of(pid: u32) -> usize {
        let status = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap();
        status.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4
    }

    async fn call(character: &Character, tool: &str) -> CallOutcome {
        character.call(CallRequest { tool, arguments: "{}", state: None, heard: None, conversation: "soak" }).await
    }

    fn interpreter() -> std::path::PathBuf {
        std::env::var_os("CALLBOARD_TEST_PYTHON").map_or_else(|| "python3".into(), Into::into)
    }

    fn count_processes() -> usize {
        children(std::process::id()).into_iter().map(|root| process_tree(root).len()).sum()
    }

    fn open_files() -> usize {
        fs::read_dir("/proc/self/fd").unwrap().count()
    }
}
