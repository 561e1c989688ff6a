//! `callboard check [DIR]`: loads every character and shows what is wrong, where, and what to write instead.

use std::io::Write;

use crate::characters::CharacterRegistry;

/// Loads the folder and writes what was found; false when a file has problems.
pub(super) async fn check(registry: &CharacterRegistry, out: &mut impl Write) -> anyhow::Result<bool> {
    registry.load(true).await?;
    let (characters, problems) = (registry.all(), registry.problems());
    for character in &characters {
        let manifest = character.character.manifest();
        let names: Vec<&str> = manifest.tools.iter().map(|tool| tool.name.as_str()).collect();
        let tools = if names.is_empty() { "no tools".to_owned() } else { names.join(", ") };
        writeln!(out, "ok     {:<16} {}: {tools}", manifest.id, manifest.name)?;
        for warning in &manifest.warnings {
            writeln!(out, "       {warning}")?;
        }
    }
    for file in &problems {
        for problem in &file.problems {
            writeln!(out, "failed {:<16} {problem}", file.id)?;
        }
    }
    if characters.is_empty() && problems.is_empty() {
        writeln!(out, "no characters in {}; create one with: callboard new bard", registry.folder().display())?;
    }
    for line in registry.describe_sandbox().await? {
        writeln!(out, "sandbox {line}")?;
    }
    let noun = if characters.len() == 1 { "character" } else { "characters" };
    writeln!(out, "{} {noun} OK, {} failed", characters.len(), problems.len())?;
    Ok(problems.is_empty())
}
