//! What a sandboxed character is refused. Each row is tried without the sandbox too, where it works.

use std::fs;

use callboard_python::{Character, LoadError};

use crate::harness::{TestHost, call, characters, scratch};

/// Code that sets `result`, in a folder that is not the character's, and whether the sandbox refuses it.
const TRIES: &[(&str, bool)] = &[
    ("result = open('PLACE/file').read()", true),
    ("result = os.listdir('PLACE')", true),
    ("open('PLACE/new', 'w')\nresult = 1", true),
    ("os.remove('PLACE/gone')\nresult = 1", true),
    ("os.mkdir('PLACE/folder')\nresult = 1", true),
    ("os.chmod('PLACE/file', 0o600)\nresult = 1", true),
    ("result = open('/etc/passwd').read(1)", true),
    ("result = tempfile.mkdtemp()", true),
    ("result = socket.socket(socket.AF_INET)", true),
    ("result = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)", true),
    ("result = socket.socket(socket.AF_UNIX)", true),
    ("result = subprocess.run(['true']).returncode", true),
    ("result = os.kill(GRANDPARENT, 0)", true),
    ("assert libc.ptrace(0, 0, 0, 0) == 0 or os._exit(1)\nresult = 1", true),
    ("assert libc.unshare(0x10000000) == 0\nresult = 1", true),
    ("open(os.devnull, 'w').write('x')\nresult = 1", false),
    ("result = os.urandom(1)", false),
    ("result = socket.socketpair()", false),
    ("asyncio.run(asyncio.sleep(0))\nresult = 1", false),
    (
        "import threading\nthread = threading.Thread(target=len, args=('',))\nthread.start()\nthread.join()\nresult = 1",
        false,
    ),
    ("result = len(os.listdir(OWN_FOLDER))", false),
    ("import wave, sqlite3, decimal\nresult = sqlite3.connect(':memory:').execute('select 1').fetchall()", false),
];

const SETUP: &str = "\
OWN_FOLDER = os.path.dirname(os.path.abspath('OWN_FILE'))
GRANDPARENT = int(open(f'/proc/{os.getppid()}/stat').read().rpartition(')')[2].split()[1])
";

async fn tries(character: &Character, code: &str) -> String {
    let file = characters().join("hostile/prying.py");
    let code = format!("{SETUP}{code}").replace("OWN_FILE", file.to_str().unwrap());
    let outcome = call(character, "tries", &serde_json::json!({ "code": code }).to_string()).await;
    outcome.result.unwrap_or_else(|failure| failure.to_model_text())
}

#[tokio::test]
async fn a_sandboxed_character_has_its_folder_and_nothing_else() {
    let free = TestHost::start();
    let sandboxed = TestHost::configured(|settings| settings.sandbox = true);
    let (free, sandboxed) = (free.load("hostile/prying.py").await, sandboxed.load("hostile/prying.py").await);
    for (code, is_refused) in TRIES {
        for (character, expected) in [(&free, false), (&sandboxed, *is_refused)] {
            let folder = scratch();
            for name in ["file", "gone"] {
                fs::write(folder.join(name), "x").unwrap();
            }
            let said = tries(character, &code.replace("PLACE", folder.to_str().unwrap())).await;
            assert_eq!(said.starts_with("Error:"), expected, "{code}: {said}");
        }
    }
}

/// The harm that the suite of hostile characters knows is as limited as without the sandbox.
#[tokio::test]
async fn the_sandbox_does_not_disturb_the_host() {
    let host = TestHost::configured(|settings| settings.sandbox = true);
    let escapist = host.load("hostile/escapes.py").await;
    for (tool, expected) in [("exits_hard", "Error: Tool execution failed - the tool crashed"), ("answers", "well")] {
        let outcome = call(&escapist, tool, "{}").await;
        assert_eq!(outcome.result.unwrap_or_else(|failure| failure.to_model_text()), expected, "{tool}");
    }
    let stopped = call(&escapist, "stops_its_parent", "{}").await;
    assert_eq!(stopped.result.as_deref(), Ok("stopped"));
    assert_eq!(call(&escapist, "answers", "{}").await.result.as_deref(), Ok("well"));
}

#[tokio::test]
async fn an_import_is_sandboxed_too() {
    let host = TestHost::configured(|settings| settings.sandbox = true);
    let path = scratch().join("reader.py");
    fs::write(&path, "open('/etc/passwd')\n").unwrap();
    let Err(LoadError::Invalid(problems)) = host.try_load(&path).await else { panic!("it loads") };
    assert!(problems[0].what.contains("PermissionError"), "{}", problems[0]);
}

#[tokio::test]
async fn what_the_kernel_enforces_is_reported() {
    let lines = TestHost::start().python.kernel().describe();
    assert!(lines[0].starts_with("enforced: files"), "{lines:?}");
}
