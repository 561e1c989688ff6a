//! The pages are tests: every complete file on README.md and docs/*.md is written, and every command on them is run, in page order.
//!
//! A command is a line with `$ ` in a block of `console`, or a block of `sh` as a whole. It runs beside a Callboard with the shipped
//! characters, the rehearsal model and a model server. What needs more than that says so behind the language of its block:
//! "console needs: sqlite3"; a command of Callboard in it must still be one that it takes.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use callboard::cli::{self, Command as Subcommand};
use callboard_test_support::{ModelServer, Program, binary, calls, post, reply, text};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// The address and the model server of the pages.
const ADDRESS: &str = "127.0.0.1:8787";
const UPSTREAM: &str = "http://127.0.0.1:11434/v1";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// One fenced block of a page.
struct Block {
    language: String,
    /// What its commands need that a test does not have.
    needs: Option<String>,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(info) = line.trim_start().strip_prefix("```") {
            let (language, needs) = info.split_once(" needs: ").map_or((info, None), |(one, two)| (one, Some(two)));
            let text: Vec<&str> = lines.by_ref().take_while(|line| !line.trim_start().starts_with("```")).collect();
            let text = text.join("\n") + "\n";
            blocks.push(Block { language: language.to_owned(), needs: needs.map(str::to_owned), text });
        }
    }
    blocks
}

impl Block {
    /// The file that it is, if its first line names one: `# characters/dice.py`.
    fn file(&self) -> Option<&str> {
        let first = self.text.lines().next()?;
        first.strip_prefix("# ").filter(|name| name.starts_with("characters/") && !name.contains(' '))
    }

    fn commands(&self) -> Vec<String> {
        match self.language.as_str() {
            "sh" => vec![self.text.clone()],
            "console" => prompted(&self.text),
            _ => Vec::new(),
        }
    }
}

/// The commands behind `$ `. One goes on to the next line while a quotation is open.
fn prompted(text: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push(command.to_owned()),
            (None, Some(open)) if open.matches('\'').count() % 2 == 1 => {
                open.push('\n');
                open.push_str(line);
            }
            _ => {}
        }
    }
    commands
}

/// Calls the first tool where there are tools, else answers with text.
fn model_server() -> ModelServer {
    ModelServer::start(|mut exchange| {
        if exchange.path == "/v1/models" {
            let models = ["qwen3", "qwen3:8b"].map(|id| json!({"id": id, "object": "model"}));
            return exchange.json(200, &json!({"object": "list", "data": models}).to_string());
        }
        let request = exchange.request();
        let tool = &request["tools"][0]["function"];
        let answered =
            request["messages"].as_array().and_then(|list| list.last()).is_some_and(|last| last["role"] == "tool");
        let required = tool["parameters"]["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let arguments: Map<String, Value> = required.map(|name| (name.to_owned(), json!("Hamlet"))).collect();
        match tool["name"].as_str().filter(|_| !answered) {
            Some(name) => reply(&mut exchange, &calls("", &[(name, Value::Object(arguments))])),
            None => reply(&mut exchange, &text("Hello.")),
        }
    })
}

/// Where the commands of one page run.
struct Place {
    folder: TempDir,
    program: Program,
    upstream: ModelServer,
}

impl Place {
    /// A folder with the shipped characters, as in a clone, or with none.
    fn new(with_characters: bool) -> Self {
        let folder = TempDir::new().unwrap();
        let characters = folder.path().join("characters");
        std::fs::create_dir(&characters).unwrap();
        let shipped = std::fs::read_dir(root().join("characters")).unwrap().map(|entry| entry.unwrap().path());
        for file in shipped.filter(|path| with_characters && path.is_file()) {
            std::fs::copy(&file, characters.join(file.file_name().unwrap())).unwrap();
        }
        let (upstream, store) = (model_server(), store_in(&folder));
        let folders = ["--characters", characters.to_str().unwrap(), "--store", &store];
        let models = ["--upstream", &upstream.url, "--model", "rehearsal"];
        let program = Program::start(&[folders, models].concat(), &[]);
        Self { folder, program, upstream }
    }

    fn shell(&self, command: &str) -> Command {
        let path = format!("{}:{}", binary().parent().unwrap().display(), std::env::var("PATH").unwrap());
        let command = command.replace(UPSTREAM, &self.upstream.url).replace(ADDRESS, &self.program.address);
        let command = command.replace("curl ", "curl --fail-with-body -sS ");
        let mut shell = Command::new("sh");
        shell.args(["-ec", &command]).current_dir(self.folder.path()).env("PATH", path).stdin(Stdio::null());
        shell.env("CALLBOARD_STORE", store_in(&self.folder)).stdout(Stdio::piped()).stderr(Stdio::piped());
        shell
    }

    /// Runs a command to its end, or until it serves.
    fn run(&self, command: &str) -> Result<(), String> {
        if is_serving(command) {
            return starts(
                self.shell(&format!("exec env CALLBOARD_LISTEN=127.0.0.1:0 {command}")).spawn().unwrap(),
                command,
            );
        }
        let output = self.shell(command).env("CALLBOARD_LISTEN", &self.program.address).output().unwrap();
        if output.status.success() { Ok(()) } else { Err(failure(command, &output)) }
    }
}

fn store_in(folder: &TempDir) -> String {
    format!("sqlite:{}", folder.path().join("callboard.db").display())
}

fn failure(command: &str, output: &Output) -> String {
    let words = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat();
    format!("`{command}` failed:\n{words}")
}

fn starts(mut child: Child, command: &str) -> Result<(), String> {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    if line.contains("listening on http://") { Ok(()) } else { Err(failure(command, &output)) }
}

/// The words of a command of Callboard, without variables before it and the comment behind it.
fn words_of(command: &str) -> Option<Vec<String>> {
    let (mut words, mut open): (Vec<String>, Option<char>) = (vec![String::new()], None);
    for letter in command.chars() {
        match (letter, open) {
            ('\'' | '"', None) => open = Some(letter),
            (quote, Some(opened)) if quote == opened => open = None,
            ('#', None) if words.last().is_some_and(String::is_empty) => break,
            (space, None) if space.is_whitespace() => words.push(String::new()),
            (letter, _) => words.last_mut().unwrap().push(letter),
        }
    }
    let is_variable = |word: &String| word.split_once('=').is_some_and(|(name, _)| !name.starts_with('-'));
    let words: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).skip_while(is_variable).collect();
    (words.first()? == "callboard").then_some(words)
}

fn is_serving(command: &str) -> bool {
    let parsed = words_of(command).and_then(|words| cli::parse_from(words).ok());
    matches!(parsed, Some(Subcommand::Serve(_)))
}

/// Whether Callboard takes this command; help and version are no mistakes. Other programs' commands are not checked.
fn is_taken(command: &str) -> Result<(), String> {
    match words_of(command).map(cli::parse_from) {
        Some(Err(error)) if error.use_stderr() => Err(format!("`{command}`: {error}")),
        _ => Ok(()),
    }
}

fn pages() -> Vec<PathBuf> {
    let docs = std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> = docs.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.sort();
    pages.insert(0, root().join("README.md"));
    pages
}

/// Runs the commands of a page; how many there are.
fn run_page(name: &str, with_characters: bool, files: &[(&str, usize)]) -> usize {
    let page = std::fs::read_to_string(root().join(name)).unwrap();
    let (blocks, place) = (blocks(&page), Place::new(with_characters));
    let write = |file: &str, text: &str| std::fs::write(place.folder.path().join(file), text).unwrap();
    blocks.iter().filter_map(|block| Some((block.file()?, &block.text))).for_each(|(file, text)| write(file, text));
    let json: Vec<&Block> = blocks.iter().filter(|block| block.language == "json").collect();
    files.iter().for_each(|(file, number)| write(file, &json[*number].text));
    let (needing, running): (Vec<&Block>, Vec<&Block>) = blocks.iter().partition(|block| block.needs.is_some());
    let commands: Vec<String> = running.iter().flat_map(|block| block.commands()).collect();
    let refused = needing.iter().flat_map(|block| block.commands()).filter_map(|command| is_taken(&command).err());
    let failed = commands.iter().filter_map(|command| place.run(command).err());
    let faults: Vec<String> = failed.chain(refused).collect();
    assert!(faults.is_empty(), "{name}: {}", faults.join("\n"));
    commands.len()
}

#[test]
fn every_command_of_the_readme_works() {
    assert!(run_page("README.md", true, &[]) >= 7);
}

#[test]
fn every_file_and_command_of_the_characters_page_works() {
    assert!(run_page("docs/characters.md", false, &[]) >= 11);
}

#[test]
fn every_command_of_the_contract_page_works() {
    assert!(run_page("docs/contract.md", true, &[]) >= 1);
}

#[test]
fn every_command_of_the_eval_page_works() {
    assert!(run_page("docs/eval.md", true, &[("cases.json", 0)]) >= 5);
}

#[test]
fn every_command_of_the_responses_page_works() {
    assert!(run_page("docs/responses.md", true, &[]) >= 5);
}

#[test]
fn every_command_of_the_traces_page_works() {
    assert!(run_page("docs/traces.md", true, &[]) >= 6);
}

#[test]
fn every_command_of_the_other_pages_works() {
    const OWN_TEST: &[&str] = &["README", "characters", "contract", "eval", "responses", "traces"];
    for page in pages() {
        let name = page.file_stem().unwrap().to_str().unwrap();
        if !OWN_TEST.contains(&name) {
            run_page(&format!("docs/{name}.md"), true, &[]);
        }
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

/// Commands in running text and tables: those of Callboard must be ones that it takes, scripts must exist.
#[test]
fn commands_in_the_text_are_ones_that_exist() {
    let mut found = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        let code: Vec<&str> = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2)).collect();
        for command in code {
            let callboard = command.strip_prefix("cargo run --release -- ").map(|rest| format!("callboard {rest}"));
            let callboard = callboard.unwrap_or_else(|| command.to_owned());
            if callboard.starts_with("callboard ") && !callboard.contains("ARGUMENTS") {
                found += 1;
                complete(&callboard).unwrap_or_else(|fault| panic!("{}: {fault}", page.display()));
            }
            let script = command.trim_start_matches("./").split(' ').next().unwrap();
            if ["scripts/", "bench/", "tests/"].iter().any(|folder| script.starts_with(folder)) && !script.contains('.')
            {
                found += 1;
                assert!(root().join(script).exists(), "{}: `{command}`", page.display());
            }
        }
    }
    assert!(found >= 12, "the pages name commands");
}

/// A command in running text may leave its arguments out.
fn complete(command: &str) -> Result<(), String> {
    let words = words_of(command).unwrap_or_default();
    match cli::parse_from(words) {
        Err(error) if error.kind().to_string().contains("required arguments") => Ok(()),
        Err(error) if error.use_stderr() => Err(format!("`{command}`: {error}")),
        _ => Ok(()),
    }
}

/// Examples of settings are settings that Callboard takes.
#[test]
fn every_example_of_model_servers_is_taken() {
    let mut taken = 0;
    for page in pages() {
        let blocks = blocks(&std::fs::read_to_string(&page).unwrap());
        for block in blocks.iter().filter(|block| block.language == "toml" && block.text.contains("[[upstream]]")) {
            let folder = TempDir::new().unwrap();
            std::fs::write(folder.path().join("callboard.toml"), &block.text).unwrap();
            let mut config = Command::new(binary());
            let output = config.arg("config").env("OPENAI_API_KEY", "x").current_dir(folder.path()).output().unwrap();
            assert!(output.status.success(), "{}: {}", page.display(), failure(&block.text, &output));
            taken += 1;
        }
    }
    assert!(taken >= 8, "{taken} examples");
}

/// Every block of a page is data, or its commands are run: a shell session in another language would be overlooked.
#[test]
fn no_command_is_overlooked() {
    let is_command = |line: &str| ["$ ", "callboard ", "curl ", "cargo "].iter().any(|start| line.starts_with(start));
    for page in pages() {
        for Block { language, text, .. } in blocks(&std::fs::read_to_string(&page).unwrap()) {
            let is_data = ["python", "toml", "json"].contains(&language.as_str());
            let is_output = language == "text" && !text.lines().any(is_command);
            let is_run = ["console", "sh"].contains(&language.as_str());
            assert!(is_data || is_output || is_run, "{}: what language has this block?\n{text}", page.display());
        }
    }
}

/// The help shows commands too.
#[test]
fn commands_in_the_help_are_ones_that_exist() {
    let help = Command::new(binary()).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let examples: Vec<&str> =
        help.lines().map(str::trim).filter(|line| line.contains("callboard ") && !line.ends_with(':')).collect();
    let examples: Vec<&str> = examples.into_iter().filter(|line| words_of(line).is_some()).collect();
    assert!(examples.len() >= 7, "{help}");
    examples.iter().for_each(|example| is_taken(example).unwrap());
}

#[test]
fn the_shipped_characters_pass_their_scenarios() {
    for command in [["check", ""], ["test", "--strict"]] {
        let mut callboard = Command::new(binary());
        let output =
            callboard.args(command.iter().filter(|word| !word.is_empty())).current_dir(root()).output().unwrap();
        assert!(output.status.success(), "{}", failure(command[0], &output));
    }
}
