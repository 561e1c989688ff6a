//! The page about all settings, `docs/settings.md`, made from the table.

use super::key::{DefaultValue, Key, header};
use super::table::SECTIONS;

const INTRODUCTION: &str = r#"# Settings

Each setting may be said in four places. A later one wins over an earlier one:

1. the default;
2. the settings file: the one that `--config FILE` or `CALLBOARD_CONFIG` names, else `callboard.toml` in the working
   directory when there is one;
3. the environment; an empty variable counts as not set;
4. the command line.

`callboard config` takes the same flags as `callboard serve` and prints what holds and where each value came from. What it
prints is a settings file, with secrets masked. An unknown key or `CALLBOARD_*` variable is an error. (Under Kubernetes,
the variables that it sets for services named `callboard…` are passed over.)

```toml
listen = "127.0.0.1:8787"

[[upstream]]
url = "https://api.openai.com/v1"
key_env = "OPENAI_API_KEY"

[[upstream]]
url = "http://127.0.0.1:11434/v1"
contract = "observe"

[limits]
body_bytes = "16 MiB"
```

Sizes are numbers of bytes or text such as `"256 KiB"` or `"8 MiB"`. Times are seconds and may have fractions.

Upstreams from the environment or the command line take the place of those in the settings file. A key's value never
stands in the settings of an upstream, only the name of the variable that holds it. `CALLBOARD_UPSTREAM` takes several
URLs with commas between them and `--upstream` may be repeated; `CALLBOARD_UPSTREAM_KEY_ENV` and `--upstream-key-env`
name the key for all of these.

Without `api_keys` only loopback addresses are served: listening anywhere else is refused.
"#;

const MAINTENANCE: &str = "
<!-- Made from the tables in crates/callboard/src/config; after a change there run:
     UPDATE=1 cargo test --package callboard settings_page -->
";

const COLUMNS: &str = "\
| key | default | environment | flag | meaning | allowed |
|---|---|---|---|---|---|
";

/// The whole page, in Markdown.
pub fn reference() -> String {
    let mut page = format!("{INTRODUCTION}{MAINTENANCE}");
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
            let variable = key.variable().map(|name| format!("`{name}`")).unwrap_or_default();
            let rows = page
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
