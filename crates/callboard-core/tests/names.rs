//! Spoken names from a file of transcripts: every row resolves as expected.

use callboard_core::names::{NameBook, NameEntry, Resolution};
use serde_json::Value;

const CASES: &str = include_str!("../../../tests/characters/grimlog_cases.json");

fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|name| Some(name.as_str()?.to_owned())).collect()
}

fn resolve(spoken: &str, row: &Value) -> Resolution {
    let entries = texts(&row["among"]).into_iter().map(|name| NameEntry { name, aliases: Vec::new() });
    NameBook::new(entries).resolve(spoken)
}

/// Compares with one name, several candidates in any order, or none.
fn is_expected(resolution: &Resolution, expect: &Value) -> bool {
    match resolution {
        Resolution::Found { name, .. } => expect.as_str() == Some(name),
        Resolution::Ambiguous { candidates } => {
            let mut found: Vec<&str> = candidates.iter().map(|candidate| candidate.name.as_str()).collect();
            let mut wanted = texts(&expect["ambiguous"]);
            found.sort_unstable();
            wanted.sort_unstable();
            found == wanted
        }
        Resolution::Unknown { .. } => expect.is_null(),
    }
}

#[test]
fn all_names_are_resolved() {
    let cases: Value = serde_json::from_str(CASES).unwrap();
    let rows = cases["names"].as_array().unwrap();
    assert!(rows.len() >= 40, "{} rows", rows.len());
    let wrong: Vec<String> = rows
        .iter()
        .map(|row| (row, resolve(row["said"].as_str().unwrap(), row)))
        .filter(|(row, resolution)| !is_expected(resolution, &row["expect"]))
        .map(|(row, resolution)| format!("{} should be {}, but is {resolution:?}", row["said"], row["expect"]))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
