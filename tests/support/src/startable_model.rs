//! A model server as a command: a program of Python's standard library that Callboard starts.

use serde_json::json;

const CODE: &str = include_str!("startable_model.py");

/// The settings of an upstream that starts it with these words, and with further keys.
pub fn startable_model(words: &[&str], keys: &str) -> String {
    let command: Vec<&str> = ["python3", "-c", CODE, "{port}"].into_iter().chain(words.iter().copied()).collect();
    format!("[[upstream]]\ncommand = {}\n{keys}\n", json!(command))
}
