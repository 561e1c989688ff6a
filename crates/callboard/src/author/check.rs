//! `callboard check [DIR]`: loads every character and tells what is wrong, where, and what to write instead.

use std::io::Write;

use crate::characters::CharacterRegistry;

/// Loads the folder and writes what was found; false when anything is wrong.
pub async fn check(cast: &CharacterRegistry, out: &mut impl Write) -> anyhow::Result<bool> {
    cast.load(true).await?;
    let (roles, problems) = (cast.all(), cast.problems());
    for role in &roles {
        let manifest = role.character.manifest();
        let names: Vec<&str> = manifest.tools.iter().map(|tool| tool.name.as_str()).collect();
        let tools = match names.as_slice() {
            [] => "no tools".to_owned(),
            names => names.join(", "),
        };
        writeln!(out, "ok     {:<16} {}: {tools}", manifest.id, manifest.name)?;
        for warning in &manifest.warnings {
            writeln!(out, "       {warning}")?;
        }
    }
    for file in &problems {
        for problem in &file.problems {
            writeln!(out, "wrong  {:<16} {problem}", file.id)?;
        }
    }
    if roles.is_empty() && problems.is_empty() {
        writeln!(out, "there are no characters in {}; write one with: callboard new bard", cast.folder().display())?;
    }
    writeln!(out, "{} characters are well, {} are not", roles.len(), problems.len())?;
    Ok(problems.is_empty())
}
