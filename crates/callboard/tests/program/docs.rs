//! The pages for authors are tests: every complete file on them is written, every command on them is run, in page order.

use std::path::Path;
use std::process::Command;

use callboard_test_support::{Program, binary, post};
use tempfile::TempDir;

/// One fenced block of a page.
struct Block {
    language: String,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```").filter(|language| !language.is_empty()) {
            let text: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            blocks.push(Block { language: language.to_owned(), text: text.join("\n") + "\n" });
        }
    }
    blocks
}

/// The file that a block is, if its first line names one: `# characters/dice.py`.
fn file_of(block: &Block) -> Option<&str> {
    let first = block.text.lines().next()?;
    first.strip_prefix("# ").filter(|name| name.starts_with("characters/") && !name.contains(' '))
}

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::create_dir(folder.path().join("characters")).unwrap();
    folder
}

fn run(folder: &Path, command: &str) -> Result<(), String> {
    let program = binary();
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh").args(["-c", command]).current_dir(folder).env("PATH", path).output().unwrap();
    let words = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() { Ok(()) } else { Err(format!("`{command}` failed:\n{words}")) }
}

#[test]
fn every_file_and_command_of_the_characters_page_works() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/characters.md")).unwrap();
    let (blocks, folder) = (blocks(&page), folder());
    let files: Vec<_> = blocks.iter().filter_map(|block| Some((file_of(block)?, block))).collect();
    assert!(files.len() >= 3, "the page shows complete files");
    for (name, block) in files {
        std::fs::write(folder.path().join(name), &block.text).unwrap();
    }
    let console = blocks.iter().filter(|block| block.language == "console");
    let commands: Vec<&str> =
        console.flat_map(|block| block.text.lines()).filter_map(|line| line.strip_prefix("$ ")).collect();
    assert!(commands.len() >= 8, "the page shows commands");
    let faults: Vec<String> = commands.iter().filter_map(|command| run(folder.path(), command).err()).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The commands run against a separate Callboard with the rehearsal model only.
#[test]
fn every_command_of_the_traces_page_works() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/traces.md")).unwrap();
    let folder = folder();
    let store = format!("sqlite:{}", folder.path().join("callboard.db").display());
    let program = Program::start(&["--store", &store, "--model", "rehearsal"], &[]);
    let console: Vec<Block> = blocks(&page).into_iter().filter(|block| block.language == "console").collect();
    let commands: Vec<&str> =
        console.iter().flat_map(|block| block.text.lines()).filter_map(|line| line.strip_prefix("$ ")).collect();
    assert!(commands.len() >= 5, "the page shows commands");
    for command in commands {
        let command = command.replace("curl -s", "curl --fail -sS").replace("127.0.0.1:8787", &program.address);
        run(folder.path(), &command).unwrap();
    }
}

/// Also where no model server is.
#[test]
fn the_first_request_of_the_readme_gets_a_call() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap();
    let body = page.split("/v1/chat/completions -H 'content-type: application/json' -d '").nth(1).unwrap();
    let program = Program::start(&[], &[]);
    let answer = post(&program.address, body.split('\'').next().unwrap()).ok();
    let call = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!(
        (call["name"].as_str(), call["arguments"].as_str()),
        (Some("get_weather"), Some("{\"city\":\"Paris\"}"))
    );
}

#[test]
fn the_shipped_characters_pass_their_scenarios() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    run(&folder, "callboard check && callboard test").unwrap();
}
