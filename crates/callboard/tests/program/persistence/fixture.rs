//! A fixture that outlives the program: a character that keeps notes, its scripted model, and a store.
//!
//! On "note TOKEN" the model calls the character's tool and repeats its result, which is all notes so far. So every reply
//! shows the state after the turn.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use callboard_test_support::{CharacterFolder, Exchange, ModelServer, Program, calls, reply, text};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::test_server::{Server, new_name};

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

/// The program's database.
pub(super) struct Database {
    pub(super) address: String,
    folder: Option<TempDir>,
    /// The PostgreSQL server, if it uses one.
    pub(super) server: Option<Server>,
}

impl Database {
    pub(super) fn file() -> Self {
        let folder = TempDir::new().unwrap();
        let address = format!("sqlite:{}", folder.path().join("store.db").display());
        Self { address, folder: Some(folder), server: None }
    }

    /// An empty schema on the server that the tests share.
    pub(super) fn postgres() -> Self {
        Self::on(Server::start())
    }

    /// A direct connection to the SQLite file.
    pub(super) fn open_file(&self) -> rusqlite::Connection {
        let connection = rusqlite::Connection::open(self.folder.as_ref().unwrap().path().join("store.db")).unwrap();
        connection.busy_timeout(std::time::Duration::from_secs(60)).unwrap();
        connection
    }

    /// Executes SQL directly, without the program.
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

/// Everything but the program itself, so that it can be restarted.
pub(super) struct Fixture {
    pub(super) database: Database,
    characters: CharacterFolder,
    model: ModelServer,
    /// Tokens that the model was asked to note.
    played: Arc<Mutex<HashSet<String>>>,
}

impl Fixture {
    pub(super) fn new(database: Database) -> Self {
        let played = Arc::new(Mutex::new(HashSet::new()));
        let playing = Arc::clone(&played);
        let mut fixture = Self::with_model(database, move |mut exchange| {
            playing.lock().unwrap().extend(wanted(&exchange));
            play(&mut exchange);
        });
        fixture.played = played;
        fixture
    }

    /// A fixture with another model.
    pub(super) fn with_model(database: Database, model: impl Fn(Exchange) + Send + Sync + 'static) -> Self {
        let characters = CharacterFolder::with("keeper", KEEPER);
        Self { database, characters, model: ModelServer::start(model), played: Arc::default() }
    }

    /// Whether the model was asked to note this.
    pub(super) fn was_asked_to_note(&self, token: &str) -> bool {
        self.played.lock().unwrap().contains(token)
    }

    /// Starts the program.
    pub(super) fn start(&self) -> Program {
        self.start_with(&[])
    }

    /// Starts the program with more settings.
    pub(super) fn start_with(&self, settings: &[(&'static str, &'static str)]) -> Program {
        let arguments = ["--upstream", &self.model.url, "--characters", self.characters.path()];
        let mut environment = vec![("CALLBOARD_STORE", self.database.address.as_str())];
        environment.extend(settings);
        Program::start(&arguments, &environment)
    }
}

/// What the model does.
pub(super) fn play(exchange: &mut Exchange) {
    if exchange.path == "/v1/models" {
        return exchange.json(200, r#"{"object":"list","data":[{"id":"m","object":"model"}]}"#);
    }
    let message = match wanted(exchange) {
        Some(token) => calls("", &[("note", json!({"token": token}))]),
        None => text(&last(exchange).1),
    };
    reply(exchange, &message);
}

/// The token that the model is asked to note.
pub(super) fn wanted(exchange: &Exchange) -> Option<String> {
    let (role, words) = last(exchange);
    words.strip_prefix("note ").filter(|_| role == "user").map(str::to_owned)
}

/// Role and text of the last message.
fn last(exchange: &Exchange) -> (String, String) {
    let request: Value = serde_json::from_str(&exchange.body).unwrap_or_default();
    let last = request["messages"].as_array().and_then(|messages| messages.last()).cloned().unwrap_or_default();
    let content = last["content"].as_str().or_else(|| last["content"][0]["text"].as_str()).unwrap_or_default();
    (last["role"].as_str().unwrap_or_default().to_owned(), content.to_owned())
}
