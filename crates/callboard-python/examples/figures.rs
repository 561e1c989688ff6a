//! Measures this crate: `cargo run --release -p callboard-python --example figures`.
//!
//! `PYTHON` selects the interpreter. Times depend on the machine: compare only runs on the same one.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use callboard_python::{CallRequest, Character, HostSettings, Limits, PythonHost};
use futures_util::future::join_all;

const CALLS: u32 = 20_000;
const KILLS: u32 = 50;
const FILES: u32 = 100;

const SOURCE: &str = r#"
import time

CHARACTER_NAME = "Measured"
INSTRUCTIONS = {"instruction_prompt": "Be brief.", "language": "en"}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "log_story_event",
            "description": "Log an event",
            "parameters": {
                "type": "object",
                "properties": {
                    "event": {"type": "string"},
                    "importance": {"type": "string", "enum": ["low", "high"], "default": "low"},
                },
                "required": ["event"],
            },
        },
    },
    {"type": "function", "function": {"name": "hangs", "description": "Hang"}},
]


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions
        self.count = 0

    def make_system_prompt(self):
        return self.instructions["instruction_prompt"]

    def handle_tool_call(self, tool_name, tool_input):
        if tool_name == "log_story_event":
            self.count += 1
            return "Logged: " + tool_input["event"]
        if tool_name == "hangs":
            time.sleep(600)
        raise ValueError(tool_name)
"#;

fn main() -> Result<()> {
    let folder = std::env::temp_dir().join(format!("callboard-figures-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let path = folder.join("measured.py");
    fs::write(&path, SOURCE)?;
    let measured = tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(measure(&path));
    fs::remove_dir_all(&folder)?;
    measured
}

async fn measure(path: &Path) -> Result<()> {
    let began = Instant::now();
    let host = start(Limits::default())?;
    say(&format!("interpreter started in {:?}", began.elapsed()))?;
    loads(&host, path).await?;
    let character = host.load(path, "measured").await?;
    round_trips(&character).await?;
    for lanes in [1, 2, 4, 8, 32] {
        throughput(&character, lanes).await?;
    }
    kills(path).await
}

fn start(limits: Limits) -> Result<PythonHost> {
    let interpreter = std::env::var_os("PYTHON").map_or_else(|| "python3".into(), PathBuf::from);
    Ok(PythonHost::start(HostSettings { limits, ..HostSettings::new(interpreter) })?)
}

async fn loads(host: &PythonHost, path: &Path) -> Result<()> {
    let (began, used) = (Instant::now(), processor_time()?);
    let loaded = join_all((0..FILES).map(|_| host.load(path, "measured"))).await;
    let (took, used) = (began.elapsed(), processor_time()? - used);
    ensure!(loaded.iter().all(Result::is_ok), "a file did not load");
    say(&format!("{FILES} files loaded in {took:?}, with {used:?} of processor time"))
}

async fn round_trips(character: &Character) -> Result<()> {
    let mut times = Vec::new();
    for _ in 0..CALLS / 4 {
        let began = Instant::now();
        ensure!(log(character).await);
        times.push(began.elapsed());
    }
    say(&format!("one call after another: {}", summary(&mut times)))
}

async fn throughput(character: &Character, lanes: u32) -> Result<()> {
    let began = Instant::now();
    let lane = || async {
        for _ in 0..CALLS / lanes {
            log(character).await;
        }
    };
    join_all((0..lanes).map(|_| lane())).await;
    say(&format!("{lanes} at a time: {:.0} calls/s", f64::from(CALLS) / began.elapsed().as_secs_f64()))
}

/// One worker only, so that the next call is answered by the replacement of the one that was killed.
async fn kills(path: &Path) -> Result<()> {
    let host = start(Limits { workers_per_character: 1, ..Limits::default() })?;
    let character = host.load(path, "measured").await?;
    let limit = character.manifest().timeout_of("hangs");
    let (mut late, mut succeeded) = (Vec::new(), Vec::new());
    for _ in 0..KILLS {
        ensure!(log(&character).await);
        let began = Instant::now();
        let request = CallRequest { tool: "hangs", arguments: "{}", state: None, heard: None, conversation: "figures" };
        ensure!(character.call(request).await.result.is_err());
        late.push(began.elapsed().saturating_sub(limit));
        let began = Instant::now();
        ensure!(log(&character).await);
        succeeded.push(began.elapsed());
    }
    say(&format!("killed after its deadline: {}", summary(&mut late)))?;
    say(&format!("answered by the replacement: {}", summary(&mut succeeded)))
}

async fn log(character: &Character) -> bool {
    let arguments = r#"{"event":"The door opens"}"#;
    let request = CallRequest {
        tool: "log_story_event",
        arguments,
        state: Some(r#"{"count":4}"#),
        heard: None,
        conversation: "figures",
    };
    character.call(request).await.result.is_ok()
}

fn summary(times: &mut [Duration]) -> String {
    times.sort();
    let at = |share: usize| times.get((times.len() * share / 100).min(times.len() - 1)).copied().unwrap_or_default();
    format!("median {:?}, 99 % under {:?}, at most {:?}", at(50), at(99), at(100))
}

/// What this process and all below it have used so far; those that have ended do not count.
fn processor_time() -> Result<Duration> {
    let mut waiting = vec![std::process::id()];
    let mut total = Duration::ZERO;
    while let Some(pid) = waiting.pop() {
        for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
            let thread = thread?.path();
            let used = fs::read_to_string(thread.join("schedstat"))?;
            total += Duration::from_nanos(used.split(' ').next().unwrap_or("0").parse()?);
            let children = fs::read_to_string(thread.join("children"))?;
            for child in children.split_whitespace() {
                waiting.push(child.parse()?);
            }
        }
    }
    Ok(total)
}

fn say(line: &str) -> Result<()> {
    Ok(writeln!(std::io::stdout().lock(), "{line}")?)
}
