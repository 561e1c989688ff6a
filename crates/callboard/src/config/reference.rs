//! The page about all settings, `docs/settings.md`, made from the table.

use super::key::{DefaultValue, Key, header};
use super::table::SECTIONS;

/// The beginning of the page, before the tables.
const INTRODUCTION: &str = include_str!("reference_introduction.md");

const COLUMNS: &str = "\
| key | default | environment | flag | meaning | allowed |
|---|---|---|---|---|---|
";

/// The whole page, in Markdown.
pub fn reference() -> String {
    let mut page = INTRODUCTION.to_owned();
    for keys in SECTIONS {
        page.push_str(&heading(keys.first().map_or("", |key| key.section)));
        page.push_str(COLUMNS);
        page.extend(keys.iter().map(row));
    }
    page
}

fn heading(section: &str) -> String {
    match section {
        "" => "\n## At the top of the file\n\n".to_owned(),
        _ => format!("\n## `{}`\n\n", header(section)),
    }
}

fn row(key: &Key) -> String {
    let default = match key.default {
        DefaultValue::Text("") | DefaultValue::Nothing => "none".to_owned(),
        DefaultValue::Text(text) => format!("`{text}`"),
        DefaultValue::SameAs(path) => format!("as `{path}`"),
    };
    let variable = key.variable().map(|variable| format!("`{variable}`")).unwrap_or_default();
    let flag = key.flag().map(|flag| format!("`--{} {}`", flag.name, flag.value)).unwrap_or_default();
    format!("| `{}` | {default} | {variable} | {flag} | {} | {} |\n", key.name, key.help, key.kind.allowed())
}

#[cfg(test)]
mod tests {
    use super::super::table::keys;
    use super::*;
    use std::path::Path;

    #[test]
    fn every_key_is_listed_once() {
        let page = reference();
        for key in keys() {
            let section = page.split_once(&heading(key.section)).map_or("", |(_, rest)| rest);
            let section = section.split("\n## ").next().unwrap_or_default();
            let variable = key.variable().map(|name| format!("`{name}`")).unwrap_or_default();
            let rows = section
                .lines()
                .filter(|line| line.starts_with(&format!("| `{}` |", key.name)) && line.contains(&variable));
            assert_eq!(rows.count(), 1, "{}", key.path());
        }
        assert_eq!(page.lines().filter(|line| line.starts_with("| `")).count(), keys().count());
    }

    #[test]
    fn settings_page_is_up_to_date() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/settings.md");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, reference()).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), reference(), "run again with UPDATE=1");
    }
}
