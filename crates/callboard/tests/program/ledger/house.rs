//! A place to play that outlives the program: a character that keeps notes, a model that plays it, and a store.
//!
//! The model does what it is told: "note TOKEN" makes it call the character's tool, and what the tool answers, all notes so
//! far, is what it says. So every reply shows the state that the turn ended with.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::cluster::{Server, new_name};
use crate::support::{ModelServer, Program, Visit, calls, reply, text};

const KEEPER: &str = r#"
CHARACTER_NAME = "Keeper"
INSTRUCTIONS = {"instruction_prompt": "You keep notes."}
TOOL_TIMEOUT_MS = 20000

class PromptGenerator:
    def __init__(self, instructions):
        self.notes = []

    def make_system_prompt(self):
        return "You keep notes."

    def note(self, token: str) -> str:
        """Note a token."""
        self.notes.append(token)
        return " ".join(self.notes)

    def linger(self) -> str:
        """Stay for a long while."""
        import time
        print("lingering")
        time.sleep(15)
        return "stayed"

TOOLS = [PromptGenerator.note, PromptGenerator.linger]
"#;

/// Where the program keeps what lasts.
pub(super) struct Database {
    pub(super) address: String,
    folder: Option<PathBuf>,
    /// The server, where there is one.
    pub(super) server: Option<Server>,
}

impl Database {
    pub(super) fn file() -> Self {
        let folder = std::env::temp_dir().join(new_name("ledger"));
        std::fs::create_dir(&folder).unwrap();
        let address = format!("sqlite:{}", folder.join("store.db").display());
        Self { address, folder: Some(folder), server: None }
    }

    /// An empty schema on the server that the tests share.
    pub(super) fn postgres() -> Self {
        Self::on(Server::start())
    }

    /// The file, behind the program's back.
    pub(super) fn open_file(&self) -> rusqlite::Connection {
        let connection = rusqlite::Connection::open(self.folder.as_ref().unwrap().join("store.db")).unwrap();
        connection.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
        connection
    }

    /// Does something behind the program's back.
    pub(super) fn execute(&self, sql: &str) {
        match &self.server {
            Some(_) => execute(&self.address, sql),
            None => drop(self.open_file().execute(sql, []).unwrap()),
        }
    }

    /// How many rows a table has.
    pub(super) fn count(&self, table: &str) -> i64 {
        let sql = format!("SELECT count(*) FROM {table}");
        match &self.server {
            Some(_) => first_number(&self.address, &sql),
            None => self.open_file().query_row(&sql, [], |row| row.get(0)).unwrap(),
        }
    }

    /// An empty schema on a server.
    pub(super) fn on(server: Server) -> Self {
        let schema = new_name("ledger");
        execute(&server.url, &format!("CREATE SCHEMA {schema}"));
        let address = format!("{}?options=-c%20search_path%3D{schema}", server.url);
        Self { address, folder: None, server: Some(server) }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

fn execute(url: &str, sql: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
        let (outcome, ended) = tokio::join!(async move { client.execute(sql, &[]).await }, connection);
        outcome.unwrap();
        ended.unwrap();
    });
}

fn first_number(url: &str, sql: &str) -> i64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
        let (row, ended) = tokio::join!(async move { client.query_one(sql, &[]).await }, connection);
        ended.unwrap();
        row.unwrap().get(0)
    })
}

/// All that stays when the program ends.
pub(super) struct House {
    pub(super) database: Database,
    characters: PathBuf,
    model: ModelServer,
    /// Tokens that the model was asked to note.
    played: Arc<Mutex<HashSet<String>>>,
}

impl House {
    pub(super) fn new(database: Database) -> Self {
        let played = Arc::new(Mutex::new(HashSet::new()));
        let playing = Arc::clone(&played);
        let mut house = Self::with_model(database, move |mut visit| {
            playing.lock().unwrap().extend(wanted(&visit));
            play(&mut visit);
        });
        house.played = played;
        house
    }

    /// A house whose model does more than play.
    pub(super) fn with_model(database: Database, model: impl Fn(Visit) + Send + Sync + 'static) -> Self {
        let characters = std::env::temp_dir().join(new_name("characters"));
        std::fs::create_dir(&characters).unwrap();
        std::fs::write(characters.join("keeper.py"), KEEPER).unwrap();
        Self { database, characters, model: ModelServer::start(model), played: Arc::default() }
    }

    /// Whether the model was asked to note this.
    pub(super) fn has_played(&self, token: &str) -> bool {
        self.played.lock().unwrap().contains(token)
    }

    /// Starts the program.
    pub(super) fn open(&self) -> Program {
        self.open_with(&[])
    }

    /// Starts the program with more settings.
    pub(super) fn open_with(&self, settings: &[(&'static str, &'static str)]) -> Program {
        let arguments = ["--upstream", &self.model.url, "--characters", self.characters.to_str().unwrap()];
        let mut environment = vec![("CALLBOARD_STORE", self.database.address.as_str())];
        // The interpreter is looked up, so the program needs the path.
        environment.extend(option_env!("PATH").map(|path| ("PATH", path)));
        environment.extend(settings);
        Program::start(&arguments, &environment)
    }
}

impl Drop for House {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.characters);
    }
}

/// What the model does.
pub(super) fn play(visit: &mut Visit) {
    if visit.path == "/v1/models" {
        return visit.json(200, r#"{"object":"list","data":[{"id":"m","object":"model"}]}"#);
    }
    let message = match wanted(visit) {
        Some(token) => calls("", &[("note", json!({"token": token}))]),
        None => text(&last(visit).1),
    };
    reply(visit, &message);
}

/// The token that the model is asked to note.
pub(super) fn wanted(visit: &Visit) -> Option<String> {
    let (role, words) = last(visit);
    words.strip_prefix("note ").filter(|_| role == "user").map(str::to_owned)
}

/// Who said what at last.
fn last(visit: &Visit) -> (String, String) {
    let request: Value = serde_json::from_str(&visit.body).unwrap_or_default();
    let last = request["messages"].as_array().and_then(|messages| messages.last()).cloned().unwrap_or_default();
    let content = last["content"].as_str().or_else(|| last["content"][0]["text"].as_str()).unwrap_or_default();
    (last["role"].as_str().unwrap_or_default().to_owned(), content.to_owned())
}
