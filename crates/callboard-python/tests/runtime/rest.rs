//! Rest: processes end when nothing uses them, and the next call starts them again.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use callboard_python::Character;
use rustix::fs::{FlockOperation, flock};

use crate::harness::{TestHost, call, scratch};

/// How long what must happen may take, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

const COUNTER: &str = r#"
import time

CHARACTER_NAME = "Counter"
INSTRUCTIONS = {}
TOOL_TIMEOUT_MS = 15_000


def nap(seconds: float) -> str:
    """Sleep."""
    time.sleep(seconds)
    return "slept"


class PromptGenerator:
    def __init__(self, instructions):
        self.count = 0

    def make_system_prompt(self):
        return "Count."


TOOLS = [nap]
"#;

fn resting_after(milliseconds: u64) -> TestHost {
    TestHost::configured(|settings| settings.rest_after = Some(Duration::from_millis(milliseconds)))
}

async fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        tokio::task::yield_now().await;
    }
}

async fn wait_for_rest(character: &Character) {
    wait_until("the character does not rest", || character.is_at_rest()).await;
}

#[tokio::test]
async fn unused_processes_end_and_the_next_call_starts_others() {
    let host = resting_after(50);
    let (narrator, counter) = (host.load("narrator.py").await, host.load_text(COUNTER).await);
    for _ in 0..2 {
        let outcome = call(&narrator, "log_story_event", r#"{"event":"x"}"#).await;
        assert_eq!(outcome.result.as_deref(), Ok("Logged: x"));
        assert_eq!(counter.start_conversation().await.unwrap().system_prompt, "Count.");
        wait_for_rest(&narrator).await;
        wait_for_rest(&counter).await;
        // Not even the root process is left.
        host.wait_for_at_most(0).await;
    }
}

#[tokio::test]
async fn without_the_setting_nothing_rests() {
    let host = TestHost::start();
    let narrator = host.load("narrator.py").await;
    let resting = resting_after(1);
    wait_for_rest(&resting.load("narrator.py").await).await;
    assert!(!narrator.is_at_rest());
    host.wait_for_at_most(2).await;
    assert_eq!(host.processes().len(), 2, "a root and a zygote");
}

#[tokio::test]
async fn the_deadline_of_a_call_begins_after_its_processes_have_started() {
    let host = resting_after(20);
    let slow = COUNTER.replace("import time\n", "import time\ntime.sleep(2)\n").replace("15_000", "1_500");
    let counter = host.load_text(&slow).await;
    wait_for_rest(&counter).await;
    let outcome = call(&counter, "nap", r#"{"seconds":0}"#).await;
    assert_eq!(outcome.result.as_deref(), Ok("slept"));
    assert!(outcome.queued >= Duration::from_secs(2), "{outcome:?}");
}

#[tokio::test]
async fn a_call_that_runs_keeps_its_processes() {
    let host = resting_after(20);
    let counter = host.load_text(COUNTER).await;
    let outcome = call(&counter, "nap", r#"{"seconds":0.5}"#).await;
    assert_eq!(outcome.result.as_deref(), Ok("slept"));
}

#[tokio::test]
async fn calls_at_the_moment_of_rest_are_answered() {
    let host = resting_after(1);
    let narrator = host.load("narrator.py").await;
    for pause in 0..10 {
        let pause = Instant::now() + Duration::from_micros(pause * 100);
        wait_until("time stands still", || Instant::now() >= pause).await;
        let outcome = call(&narrator, "log_story_event", r#"{"event":"x"}"#).await;
        assert_eq!(outcome.result.as_deref(), Ok("Logged: x"));
    }
}

#[tokio::test]
async fn a_character_can_be_woken_before_its_call() {
    let host = resting_after(300);
    let counter = host.load_text(COUNTER).await;
    // A character that is awake leaves no wish to be woken behind.
    counter.wake();
    wait_for_rest(&counter).await;
    host.wait_for_at_most(0).await;
    assert!(counter.is_at_rest());
    counter.wake();
    wait_until("the character does not wake", || !counter.is_at_rest()).await;
    wait_for_rest(&counter).await;
}

#[tokio::test]
async fn what_was_loaded_runs_again_after_its_files_have_changed() {
    let host = resting_after(20);
    let folder = scratch();
    let file = folder.join("reader.py");
    let greeting = "def greet() -> str:\n    \"\"\"Greet.\"\"\"\n    import _late\n    return 'hello' + _late.MARK\n";
    std::fs::write(folder.join("_late.py"), "MARK = '!'\n").unwrap();
    std::fs::write(folder.join("_greeting.py"), format!("import _late\n{greeting}")).unwrap();
    let text =
        COUNTER.replace("import time\n", "import time\nfrom _greeting import greet\n").replace("[nap]", "[greet]");
    std::fs::write(&file, text).unwrap();
    let reader = host.try_load(&file).await.unwrap();
    std::fs::write(folder.join("_late.py"), "MARK = '?'\n").unwrap();
    std::fs::write(folder.join("_greeting.py"), "this is not Python\n").unwrap();
    std::fs::remove_file(&file).unwrap();
    for _ in 0..2 {
        wait_for_rest(&reader).await;
        assert_eq!(call(&reader, "greet", "{}").await.result.as_deref(), Ok("hello!"));
    }
}

/// What a file starts at import is left alone while its zygote runs, and ends with it.
#[tokio::test]
async fn what_was_started_at_import_ends_at_rest() {
    let host = resting_after(50);
    let lock = scratch().join("lock");
    let daemon = format!(
        "import time\nimport fcntl, os\nif os.fork() == 0:\n    held = open({lock:?}, 'w')\n    fcntl.flock(held, fcntl.LOCK_EX)\n    \
         os.setsid()\n    os.close(0)\n    time.sleep(600)\n    os._exit(0)\nwhile not os.path.exists({lock:?}):\n    pass\n"
    );
    let counter = host.load_text(&COUNTER.replace("import time\n", &daemon)).await;
    assert!(lock.exists());
    wait_for_rest(&counter).await;
    wait_until("a process is left", || is_free(&lock)).await;
}

fn is_free(lock: &Path) -> bool {
    flock(File::open(lock).unwrap(), FlockOperation::NonBlockingLockExclusive).is_ok()
}
