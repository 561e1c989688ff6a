//! `callboard names`: resolves spoken names among names that are given or that a character knows.

use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, bail};
use callboard_core::names::{Candidate, NameBook, NameEntry, Resolution};
use serde_json::Value;

use crate::characters::CharacterRegistry;
use crate::cli::NamesArgs;

/// A list of names with its title.
struct List {
    title: String,
    book: NameBook,
}

/// Writes what each name resolves to.
pub(super) async fn names(
    arguments: &NamesArgs,
    registry: &CharacterRegistry,
    out: &mut impl Write,
) -> anyhow::Result<bool> {
    let mut lists = given_lists(&arguments.among)?;
    if let Some(id) = &arguments.character {
        lists.extend(lists_of(registry, id).await?);
    }
    if let Some(title) = &arguments.list {
        let titles: Vec<String> = lists.iter().map(|list| list.title.clone()).collect();
        lists.retain(|list| list.title == *title);
        if lists.is_empty() {
            bail!("unknown list {title:?}; the lists are: {}", titles.join(", "));
        }
    }
    if lists.is_empty() {
        bail!("no names to choose from; give them with --among NAMES, --among FILE or --character ID");
    }
    for name in &arguments.heard {
        for list in &lists {
            let place = if list.title.is_empty() { String::new() } else { format!(" [{}]", list.title) };
            writeln!(out, "{name}{place} -> {}", describe(&list.book.resolve(name)))?;
        }
    }
    Ok(true)
}

/// Names on the command line make one list; each file adds one or several.
fn given_lists(among: &[String]) -> anyhow::Result<Vec<List>> {
    let (files, words): (Vec<&String>, Vec<&String>) = among.iter().partition(|word| Path::new(word).is_file());
    let mut lists = Vec::new();
    let spoken: Vec<NameEntry> = words.iter().flat_map(|words| words.split(',')).filter_map(plain_entry).collect();
    if !spoken.is_empty() {
        lists.push(List { title: String::new(), book: NameBook::new(spoken) });
    }
    for file in files {
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?;
        lists.extend(read_lists(&text));
    }
    Ok(lists)
}

/// JSON, or a name on each line.
fn read_lists(text: &str) -> Vec<List> {
    match serde_json::from_str(text) {
        Ok(Value::Object(lists)) => lists_in(&Value::Object(lists)),
        Ok(Value::Array(list)) => vec![List { title: String::new(), book: book(&list) }],
        _ => vec![List { title: String::new(), book: NameBook::new(text.lines().filter_map(plain_entry)) }],
    }
}

async fn lists_of(registry: &CharacterRegistry, id: &str) -> anyhow::Result<Vec<List>> {
    let character = registry.load_one(id).await?;
    let opening =
        character.character.start_conversation().await.context("the character cannot begin a conversation")?;
    let names = character
        .character
        .names(opening.state.as_deref())
        .await
        .context("the names of the character cannot be read")?;
    match names {
        Some(names) => Ok(lists_in(&names)),
        None => bail!("{id} has no get_names, so it has no names"),
    }
}

fn lists_in(names: &Value) -> Vec<List> {
    let lists = names.as_object().into_iter().flatten();
    lists.filter_map(|(title, list)| Some(List { title: title.clone(), book: book(list.as_array()?) })).collect()
}

fn book(list: &[Value]) -> NameBook {
    NameBook::new(list.iter().filter_map(|entry| {
        let name = entry.as_str().or_else(|| entry.get("name")?.as_str())?.to_owned();
        let aliases = entry.get("aliases").and_then(Value::as_array).into_iter().flatten();
        Some(NameEntry { name, aliases: aliases.filter_map(|alias| Some(alias.as_str()?.to_owned())).collect() })
    }))
}

fn plain_entry(name: &str) -> Option<NameEntry> {
    let name = name.trim();
    (!name.is_empty()).then(|| NameEntry { name: name.to_owned(), aliases: Vec::new() })
}

fn describe(resolution: &Resolution) -> String {
    match resolution {
        Resolution::Found { name, score, method } => format!("{name} ({score:.2}, {})", method.as_str()),
        Resolution::Ambiguous { candidates } => format!("ambiguous: {}", listed(candidates)),
        Resolution::Unknown { nearest } if nearest.is_empty() => "unknown".to_owned(),
        Resolution::Unknown { nearest } => format!("unknown; nearest: {}", listed(nearest)),
    }
}

fn listed(candidates: &[Candidate]) -> String {
    let one = |candidate: &Candidate| format!("{} ({:.2})", candidate.name, candidate.score);
    candidates.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_in_several_forms() {
        let table = [
            ("Termagants\n\n Hive Tyrant \n", "tyrant", "Hive Tyrant"),
            (r#"["Termagants", {"name": "Hive Tyrant", "aliases": ["big bug"]}]"#, "the big bug", "Hive Tyrant"),
            (r#"{"units": ["Termagants", "Hive Tyrant"]}"#, "termagant", "Termagants"),
        ];
        for (text, spoken, expected) in table {
            let lists = read_lists(text);
            let words = describe(&lists[0].book.resolve(spoken));
            assert!(lists.len() == 1 && words.starts_with(expected), "{text}: {words}");
        }
    }

    #[test]
    fn names_may_be_given_on_the_command_line() {
        let lists = given_lists(&["Termagants, Hormagaunts".to_owned(), "Carnifex".to_owned()]).unwrap();
        let found: Vec<String> =
            ["carny fex", "gaunts", "bananas"].iter().map(|spoken| describe(&lists[0].book.resolve(spoken))).collect();
        assert!(found[0].starts_with("Carnifex (") && found[0].ends_with("sound)"), "{found:?}");
        assert!(found[1].starts_with("ambiguous: ") && found[2].starts_with("unknown"), "{found:?}");
    }
}
