//! What is a character and what is not. Each file under `characters/refused` marks its problems where they are:
//! `# ! kind: words` at the end of the line that must be named, or `# ? kind: words` where no line can be.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use callboard_python::{CharacterLimits, HostError, LoadError, Manifest, Problem, ProblemKind, ReplyRules};
use serde_json::{Value, json};

use crate::harness::{TestHost, call, characters, scratch};

struct Mark {
    kind: String,
    line: Option<u32>,
    words: String,
}

#[tokio::test]
async fn every_rule_has_its_line_and_its_remedy() {
    let host = TestHost::start();
    let mut files = 0;
    for path in files_of("refused") {
        let marks = marks_of(&path);
        let failure = host.try_load(&path).await.expect_err(&path.display().to_string());
        let problems = failure.problems();
        assert_eq!(problems.len(), marks.len(), "{failure}");
        for mark in &marks {
            assert!(problems.iter().any(|problem| fits(problem, mark)), "`{}` is not in:\n{failure}", mark.words);
        }
        assert!(problems.iter().all(|problem| problem.file == path && !problem.remedy.is_empty()), "{failure}");
        files += 1;
    }
    assert!(files > 60, "{files}");
}

fn files_of(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(characters().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| is_character(path)).collect();
    files.sort();
    files
}

fn is_character(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap();
    name.ends_with(".py") && !name.starts_with('_')
}

fn marks_of(path: &Path) -> Vec<Mark> {
    let text = fs::read_to_string(path).unwrap();
    let marked = text.lines().zip(1..).filter_map(|(line, number)| {
        let (mark, line) = match line.split_once("# ! ") {
            Some((_, mark)) => (mark, Some(number)),
            None => (line.strip_prefix("# ? ")?, None),
        };
        let (kind, words) = mark.split_once(": ").unwrap();
        Some(Mark { kind: kind.to_owned(), line, words: words.to_owned() })
    });
    let marks: Vec<Mark> = marked.collect();
    assert!(!marks.is_empty(), "{} marks no problem", path.display());
    marks
}

fn fits(problem: &Problem, mark: &Mark) -> bool {
    let said = format!("{}; {}", problem.what, problem.remedy);
    problem.kind.label() == mark.kind && problem.line == mark.line && said.contains(&mark.words)
}

#[tokio::test]
async fn a_file_that_is_not_there_is_refused() {
    let host = TestHost::start();
    for (name, words) in [("no_such_file.py", "FileNotFoundError"), ("refused", "IsADirectoryError")] {
        let problem = host.problem(name).await;
        assert_eq!(problem.kind, ProblemKind::ImportError);
        assert!(problem.what.contains(words), "{problem}");
    }
    let path = scratch().join("latin.py");
    fs::write(&path, b"CHARACTER_NAME = '\xe9'\n").unwrap();
    let failure = host.try_load(&path).await.unwrap_err();
    assert!(failure.to_string().contains("UTF-8"), "{failure}");
}

#[tokio::test]
async fn a_manifest_says_what_the_file_says() {
    let host = TestHost::start();
    let Manifest { id, file, name, voice, instructions, metadata, tools, model, limits, reply, undo, view, .. } =
        host.load("narrator.py").await.manifest().clone();
    assert_eq!((id.as_str(), name.as_str()), ("narrator", "Narrator"));
    assert_eq!(file, characters().join("narrator.py"));
    assert_eq!(voice, Some(json!({"source_type": "file", "path_on_server": "voices/narrator.wav"})));
    assert_eq!(instructions, json!({"instruction_prompt": "Tell a story.", "language": "en"}));
    assert_eq!(metadata, Some(json!({"good": true, "comment": null, "season": 2})));
    let talks = ReplyRules { delivers_text: true, asks_again: false, confirms: false };
    assert_eq!((model, reply, undo, view), (None, talks, false, None));
    assert_eq!((limits.tools, limits.rounds), (10, None));
    let [tool] = tools.as_slice() else { panic!("{tools:?}") };
    assert_eq!((tool.name.as_str(), tool.timeout), ("log_story_event", Duration::from_secs(10)));
    assert_eq!(tool.description, "Log an important narrative event to the terminal");
    assert_eq!(tool.parameters["properties"]["importance"]["enum"], json!(["low", "medium", "high"]));
}

const PLAIN: &str = "CHARACTER_NAME = 'Plain'\nINSTRUCTIONS = {}\n\nclass PromptGenerator:\n    def __init__(self, \
                     instructions):\n        pass\n\n    def make_system_prompt(self):\n        return 'Be brief.'\n";

#[tokio::test]
async fn no_tools_can_be_said_in_many_ways() {
    let host = TestHost::start();
    let handler = "\n    def handle_tool_call(self, tool_name, tool_input):\n        return ''\n";
    for tools in ["", "\nTOOLS = None\n", "\nTOOLS = []\n"] {
        for handler in ["", handler] {
            let character = host.load_text(&format!("{PLAIN}{handler}{tools}")).await;
            assert!(character.manifest().tools.is_empty() && character.manifest().warnings.is_empty());
            assert_eq!(character.start_conversation().await.unwrap().tools, None);
        }
    }
}

#[tokio::test]
async fn every_variable_reaches_the_manifest() {
    let host = TestHost::start();
    let text = "MODEL = 'small'\nLIMITS = {'tools': 20, 'rounds': 3, 'result': 500}\nREPLY = 'tools_only'\nUNDO = \
                True\nVIEW = {'title': 'Score', 'parts': [{'show': 'list', 'path': '/scores'}]}\nMETADATA = None\nVOICE_SOURCE = None\n";
    let manifest = host.load_text(&format!("{PLAIN}{text}")).await.manifest().clone();
    assert_eq!(manifest.model.as_deref(), Some("small"));
    let tools_only = ReplyRules { delivers_text: false, asks_again: true, confirms: false };
    assert_eq!((manifest.reply, manifest.undo), (tools_only, true));
    assert_eq!(manifest.view, Some(json!({"title": "Score", "parts": [{"show": "list", "path": "/scores"}]})));
    let CharacterLimits { tools, properties, rounds, result, arguments, .. } = manifest.limits;
    assert_eq!((tools, properties, rounds, result, arguments), (20, 10, Some(3), Some(500), None));
    assert_eq!((manifest.metadata, manifest.voice), (None, None));
}

/// What is run in a fork at load is waited for, also where the file has asked the system to reap its children.
#[tokio::test]
async fn a_file_may_ignore_the_end_of_its_children() {
    let ignoring = "import signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n";
    let context = "    def make_turn_context(self):\n        return 'now'\n";
    let character = TestHost::start().load_text(&format!("{ignoring}{PLAIN}{context}")).await;
    assert!(character.manifest().has_turn_context);
}

#[tokio::test]
async fn odd_things_are_warned_of() {
    let host = TestHost::start();
    let rows = [
        ("INSTRUCTIONS = {'language': 'tlh'}", "the language 'tlh' is not known; known are en, fr, en/fr, fr/en"),
        (
            "def roll() -> str:\n    return '4'\n\nTOOLS = [{'type': 'function', 'function': {'name': 'roll', \
             'description': 'Roll', 'parameter': {}}}]",
            "tool `roll` has the unknown key 'parameter'; known are name, description, parameters, strict",
        ),
        (
            "TOOL_CHOICE = 'required'",
            "TOOL_CHOICE is 'required', and there are no tools to call; list some in TOOLS, or leave it out",
        ),
        (
            "REPLY = 'tools_only'",
            "REPLY delivers no text, and there are no tools to act with; list some in TOOLS, or leave it out",
        ),
    ];
    for (text, warning) in rows {
        let character = host.load_text(&format!("{PLAIN}\n{text}\n")).await;
        assert_eq!(character.manifest().warnings, [warning]);
    }
}

#[tokio::test]
async fn instructions_may_hold_anything() {
    let host = TestHost::start();
    let text = "INSTRUCTIONS = {'moods': ('calm', 'wild'), 3: object, 'when': 1.5}\n";
    let character = host.load_text(&format!("{PLAIN}{text}")).await;
    let shown = &character.manifest().instructions;
    assert_eq!((&shown["moods"], &shown["when"]), (&json!(["calm", "wild"]), &json!(1.5)));
    assert!(shown["3"].as_str().is_some_and(|text| text.contains("object")), "{shown}");
    assert_eq!(character.start_conversation().await.unwrap().system_prompt, "Be brief.");
}

#[tokio::test]
async fn a_folders_own_modules_are_in_reach() {
    let host = TestHost::start();
    let rows = ["one", "two"];
    let mut loaded = Vec::new();
    for folder in rows.map(|name| scratch().join(name)) {
        fs::create_dir_all(&folder).unwrap();
        let name = folder.file_name().unwrap().to_str().unwrap();
        fs::write(folder.join("_lines.py"), format!("LINE = 'from {name}'\n")).unwrap();
        fs::write(folder.join("json.py"), "raise SystemExit('the wrong module')\n").unwrap();
        let text = PLAIN.replace("'Be brief.'", "_lines.LINE");
        fs::write(folder.join("épique-2.py"), format!("import _lines, json\njson.dumps(1)\n{text}")).unwrap();
        loaded.push(host.try_load(&folder.join("épique-2.py")).await.unwrap());
    }
    for (character, name) in loaded.iter().zip(rows) {
        assert_eq!(character.start_conversation().await.unwrap().system_prompt, format!("from {name}"));
        assert_eq!(character.manifest().id, "épique-2");
    }
}

#[tokio::test]
async fn a_new_version_leaves_the_old_one_as_it_is() {
    let host = TestHost::start();
    let path = scratch().join("changing.py");
    let write = |prompt: &str| fs::write(&path, PLAIN.replace("Be brief.", prompt)).unwrap();
    write("First.");
    let first = host.try_load(&path).await.unwrap();
    write("Second.");
    let second = host.try_load(&path).await.unwrap();
    fs::write(&path, "def (").unwrap();
    let broken = host.try_load(&path).await.unwrap_err();
    assert_eq!(broken.problems().len(), 1);
    assert_eq!(first.start_conversation().await.unwrap().system_prompt, "First.");
    assert_eq!(second.start_conversation().await.unwrap().system_prompt, "Second.");
}

#[tokio::test]
async fn a_hundred_files_load_side_by_side() {
    let host = TestHost::start();
    let folder = scratch();
    let narrator = fs::read_to_string(characters().join("narrator.py")).unwrap();
    let mut loads = tokio::task::JoinSet::new();
    for number in 0..100 {
        let path = folder.join(format!("narrator{number}.py"));
        let broken = number % 5 == 4;
        fs::write(&path, if broken { "import" } else { &narrator }).unwrap();
        let python = host.python.clone();
        loads.spawn(async move { (broken, python.load(&path, "narrator").await) });
    }
    let mut characters = Vec::new();
    while let Some(loaded) = loads.join_next().await {
        match loaded.unwrap() {
            (false, Ok(character)) => characters.push(character),
            (true, Err(LoadError::Invalid(_))) => {}
            (broken, other) => panic!("{broken}: {other:?}"),
        }
    }
    assert_eq!(characters.len(), 80);
    // More characters than workers: those that are idle make room.
    for character in &characters {
        let outcome = call(character, "log_story_event", r#"{"event":"one"}"#).await;
        assert_eq!(outcome.result.as_deref(), Ok("Logged: one"));
    }
}

#[tokio::test]
async fn what_is_handed_in_must_be_json() {
    let host = TestHost::start();
    let narrator = host.load("narrator.py").await;
    for arguments in ["", "[]", "null", "{\"event\":", "{\"event\":\"a\"} {}"] {
        let failure = call(&narrator, "log_story_event", arguments).await.result.unwrap_err();
        assert!(matches!(failure, callboard_python::CallError::Host(HostError::InvalidRequest(_))), "{failure:?}");
    }
    let value: Value = json!({"event": "e".repeat(300_000)});
    let outcome = call(&narrator, "log_story_event", &value.to_string()).await;
    assert_eq!(outcome.result.unwrap().len(), 300_000 + "Logged: ".len());
}
