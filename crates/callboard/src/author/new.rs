//! `callboard new NAME`: a commented, working character to start from, with a scenario that passes.

use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, bail};
use callboard_core::names::fold;

const CHARACTER: &str = include_str!("../cli/new_character.py.txt");
const SCENARIO: &str = include_str!("../cli/new_scenario.toml.txt");

/// Writes the files, and what to do next.
pub(super) fn new(folder: &Path, name: &str, out: &mut impl Write) -> anyhow::Result<()> {
    let id = id_of(name);
    if !id.starts_with(char::is_alphabetic) {
        bail!("{name:?} is not usable as a file name; begin it with a letter, for example: callboard new bard");
    }
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
    let files = [(format!("{id}.py"), CHARACTER), (format!("{id}.scenario.toml"), SCENARIO)];
    let files = files.map(|(file, template)| (folder.join(file), template));
    if let Some((path, _)) = files.iter().find(|(path, _)| path.exists()) {
        bail!("{} already exists; choose another name or edit it", path.display());
    }
    for (path, template) in &files {
        let text = template.replace("{{id}}", &id).replace("{{name}}", &display_name(name));
        let created = std::fs::File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes()));
        created.with_context(|| format!("cannot write {}", path.display()))?;
    }
    let [character, scenario] = files.map(|(path, _)| path.display().to_string());
    writeln!(out, "wrote {character} and {scenario}; next:")?;
    Ok(write_next_steps(folder, &id, out)?)
}

fn write_next_steps(folder: &Path, id: &str, out: &mut impl Write) -> std::io::Result<()> {
    let flag = match folder.to_str() {
        Some("characters") => String::new(),
        _ => format!(" --characters {}", in_shell(&folder.display().to_string())),
    };
    let steps = [
        (format!("callboard check{flag}"), "check it for mistakes"),
        (format!("callboard try {id} take_note '{{\"note\": \"hello\"}}'{flag}"), "run its tool"),
        (format!("callboard test{flag}"), "run its scenarios"),
        (format!("callboard chat {id}{flag}"), "talk to it"),
    ];
    let width = steps.iter().map(|(command, _)| command.chars().count()).max().unwrap_or_default();
    steps.iter().try_for_each(|(command, does)| writeln!(out, "  {command:<width$}   {does}"))
}

/// The text as one word of a shell.
fn in_shell(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Lower case letters without accents, digits, and an underscore between words.
fn id_of(name: &str) -> String {
    let plain = fold(name.trim().trim_end_matches(".py"));
    let words = plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}

/// The name as it was given, or with capitals where it has none. What could end a string of Python is left out.
fn display_name(name: &str) -> String {
    let name = name.trim().trim_end_matches(".py");
    let is_plain = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '\'' | '.');
    let plain: String = name.chars().filter(is_plain).collect();
    if plain.contains(char::is_uppercase) {
        return plain.replace('_', " ");
    }
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + letters.as_str())
    };
    plain.split([' ', '_', '-']).filter(|word| !word.is_empty()).map(capital).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_files() {
        for (name, id, shown) in [
            ("bard", "bard", "Bard"),
            ("dev-news.py", "dev_news", "Dev News"),
            ("Élise", "elise", "Élise"),
            ("  Jean-Luc ", "jean_luc", "Jean-Luc"),
            ("Straße 7", "strasse_7", "Straße 7"),
            ("Ирина", "ирина", "Ирина"),
            ("say \"hi\\", "say_hi", "Say Hi"),
            (" ", "", ""),
        ] {
            assert_eq!((id_of(name).as_str(), display_name(name).as_str()), (id, shown), "{name}");
        }
    }

    #[test]
    fn nothing_is_overwritten() {
        let folder = std::env::temp_dir().join(format!("callboard-new-{}", std::process::id()));
        let mut out = Vec::new();
        new(&folder, "Bard", &mut out).unwrap();
        for file in ["bard.py", "bard.scenario.toml"] {
            let text = std::fs::read_to_string(folder.join(file)).unwrap();
            assert!(text.contains("ard") && !text.contains("{{"), "{text}");
        }
        std::fs::remove_file(folder.join("bard.py")).unwrap();
        assert!(new(&folder, "bard", &mut out).unwrap_err().to_string().contains("bard.scenario.toml already exists"));
        assert!(!folder.join("bard.py").exists());
        assert!(new(&folder, "!!", &mut out).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
