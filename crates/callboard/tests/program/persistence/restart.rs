//! Conversations continue after a restart, and are deleted after their retention.

use callboard_test_support::{Program, ask, new_conversation};
use serde_json::{Value, json};

use super::client::{get, note, post, said};
use super::consistency::{RequestedChange, check, tick};
use super::fixture::{Database, Fixture};

/// A client with one conversation of each kind.
struct Client {
    conversation: String,
    previous: Value,
    history: Vec<Value>,
    asked: Vec<RequestedChange>,
}

impl Client {
    fn new(program: &Program) -> Self {
        let conversation = new_conversation(&program.address);
        Self { conversation, previous: Value::Null, history: Vec::new(), asked: Vec::new() }
    }

    /// Runs one turn in each conversation; the texts of the replies.
    fn note(&mut self, program: &Program, token: &str) -> [String; 4] {
        let sent = tick();
        let mut body = note(token, false);
        body["conversation"] = json!(self.conversation);
        let in_conversation = said(&self.post(program, "/v1/responses", &[], &body));
        self.asked.push(RequestedChange { token: token.to_owned(), sent, acknowledged: Some(tick()) });

        let mut body = note(token, true);
        body["previous_response_id"] = self.previous.clone();
        let response = self.post(program, "/v1/responses", &[], &body);
        self.previous = response["id"].clone();

        let user = json!({"role": "user", "content": format!("note {token}")});
        let body = json!({"model": "keeper", "messages": [user]});
        let named = self.post(program, "/v1/chat/completions", &["callboard-conversation: mine"], &body);

        self.history.push(user);
        let body = json!({"model": "keeper", "messages": self.history});
        let answer = self.post(program, "/v1/chat/completions", &[], &body);
        self.history.push(answer["choices"][0]["message"].clone());
        [in_conversation, said(&response), words(&named), words(&answer)]
    }

    fn post(&self, program: &Program, path: &str, headers: &[&str], body: &Value) -> Value {
        post(&program.address, path, headers, body).acknowledged().unwrap()
    }
}

fn words(answer: &Value) -> String {
    answer["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
}

#[test]
fn conversations_continue_after_a_restart() {
    for database in [Database::file(), Database::postgres()] {
        let fixture = Fixture::new(database);
        let mut program = fixture.start();
        let mut client = Client::new(&program);
        let mut all = Vec::new();
        for token in ["a", "b", "c"] {
            all.push(token);
            let texts = client.note(&program, token);
            assert!(texts.iter().all(|text| *text == all.join(" ")), "{texts:?}");
            let before = get(&program.address, &format!("/v1/responses/{}", client.previous.as_str().unwrap()));
            program.terminate();
            assert_eq!(program.exit_code(), Some(0));
            program = fixture.start();
            let after = get(&program.address, &format!("/v1/responses/{}", client.previous.as_str().unwrap()));
            assert_eq!(before, after);
        }
        assert_eq!(check(&program.address, &client.conversation, &client.asked), 3);
        let path = format!("/v1/conversations/{}/undo", client.conversation);
        let undone = post(&program.address, &path, &[], &json!({"last": 2})).acknowledged().unwrap();
        assert_eq!(undone["state"], json!({"notes": ["a"]}));
    }
}

#[test]
fn two_programs_share_one_file() {
    let fixture = Fixture::new(Database::file());
    let programs = [fixture.start(), fixture.start()];
    let mut client = Client::new(&programs[0]);
    let mut all = Vec::new();
    for (token, program) in ["a", "b", "c", "d", "e", "f"].into_iter().zip(programs.iter().cycle()) {
        all.push(token);
        let texts = client.note(program, token);
        assert!(texts.iter().all(|text| *text == all.join(" ")), "{texts:?}");
    }
    assert_eq!(check(&programs[1].address, &client.conversation, &client.asked), 6);
}

#[test]
fn rows_past_their_retention_are_deleted() {
    let fixture = Fixture::new(Database::file());
    let program = fixture.start();
    let mut old = Client::new(&program);
    old.note(&program, "a");
    program.terminate();
    assert_eq!(program.exit_code(), Some(0));
    age(&fixture, 2);
    let program = fixture.start_with(&[
        ("CALLBOARD_KEEP_CONVERSATION_DAYS", "1"),
        ("CALLBOARD_KEEP_RESPONSE_DAYS", "1"),
        ("CALLBOARD_KEEP_HISTORY_DAYS", "1"),
    ]);
    let is_there = |path: &str| ask(&program.address, "GET", path, &[], "").status == 200;
    let of_response = |client: &Client| format!("/v1/responses/{}", client.previous.as_str().unwrap());
    // Old rows are deleted soon after startup, while requests are served already.
    while is_there(&of_response(&old)) || is_there(&format!("/v1/conversations/{}", old.conversation)) {}
    while rows_in(&fixture, "snapshots") + rows_in(&fixture, "chain_parts") > 0 {}
    let mut new = Client::new(&program);
    new.note(&program, "b");
    assert!(is_there(&of_response(&new)) && is_there(&format!("/v1/conversations/{}", new.conversation)));
    let body = json!({"model": "keeper", "messages": old.history.iter().chain([&json!({"role": "user", "content": "note c"})]).collect::<Vec<_>>()});
    let answer = post(&program.address, "/v1/chat/completions", &[], &body).acknowledged().unwrap();
    assert_eq!(words(&answer), "c", "a history that is forgotten begins anew");
    let mut body = note("c", false);
    body["previous_response_id"] = old.previous.clone();
    let refused = ask(&program.address, "POST", "/v1/responses", &[], &body.to_string());
    assert_eq!((refused.status, refused.error("code").as_str()), (400, "previous_response_not_found"));
}

/// Makes all rows some days older.
fn age(fixture: &Fixture, days: i64) {
    let past = days * 24 * 60 * 60 * 1000;
    let connection = fixture.database.open_file();
    for (table, column) in [
        ("conversations", "updated_at"),
        ("responses", "created_at"),
        ("snapshots", "kept_at"),
        ("named_snapshots", "kept_at"),
    ] {
        connection.execute(&format!("UPDATE {table} SET {column} = {column} - {past}"), []).unwrap();
    }
}

fn rows_in(fixture: &Fixture, table: &str) -> i64 {
    let connection = fixture.database.open_file();
    connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}
