//! `callboard new NAME`: a commented, working character to start from.

use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, bail};

const TEMPLATE: &str = include_str!("../cli/new_character.py.txt");

/// Writes the file, and what to do next.
pub(super) fn new(folder: &Path, name: &str, out: &mut impl Write) -> anyhow::Result<()> {
    let id = id_of(name);
    if id.is_empty() || !id.starts_with(|c: char| c.is_ascii_lowercase()) {
        bail!("{name:?} is not usable as a file name; use letters, for example: callboard new bard");
    }
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
    let path = folder.join(format!("{id}.py"));
    let text = TEMPLATE.replace("{{id}}", &id).replace("{{name}}", &display_name(&id));
    let mut file = match std::fs::File::create_new(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            bail!("{} already exists; choose another name or edit it", path.display())
        }
        Err(error) => return Err(error).with_context(|| format!("cannot write {}", path.display())),
    };
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    writeln!(out, "wrote {}; next:", path.display())?;
    writeln!(out, "  callboard check                     check it for mistakes")?;
    writeln!(out, "  callboard try {id} take_note '{{\"note\": \"hello\"}}'   run its tool")?;
    writeln!(out, "  callboard chat {id}                  talk to it")?;
    Ok(())
}

/// Letters, digits and underscores, in lower case.
fn id_of(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    name.trim().trim_end_matches(".py").chars().map(plain).collect::<String>().trim_matches('_').to_owned()
}

fn display_name(id: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + letters.as_str())
    };
    id.split('_').filter(|word| !word.is_empty()).map(capital).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_files() {
        assert_eq!(
            (id_of("Bard").as_str(), id_of("dev-news.py").as_str(), id_of(" ").as_str()),
            ("bard", "dev_news", "")
        );
        assert_eq!(display_name("dev_news"), "Dev News");
    }

    #[test]
    fn nothing_is_overwritten() {
        let folder = std::env::temp_dir().join(format!("callboard-new-{}", std::process::id()));
        let mut out = Vec::new();
        new(&folder, "Bard", &mut out).unwrap();
        let text = std::fs::read_to_string(folder.join("bard.py")).unwrap();
        assert!(text.contains("Bard") && !text.contains("{{"), "{text}");
        assert!(new(&folder, "bard", &mut out).unwrap_err().to_string().contains("already exists"));
        assert!(new(&folder, "!!", &mut out).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
