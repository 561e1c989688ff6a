//! What was found out about the models of a server, as a table for the terminal.

use std::io::{self, Write};

use callboard_core::wire::chat::adapt::Finding;
use serde::Deserialize;

/// A model about which something was found, as `/v1/upstreams` shows it.
#[derive(Deserialize)]
pub(super) struct KnownModel {
    model: String,
    tools_mode: String,
    tools_mode_from: String,
    version: String,
    findings: Vec<ShownFinding>,
}

#[derive(Deserialize)]
struct ShownFinding {
    kind: String,
    name: String,
    value: String,
    found_at: String,
}

/// Writes a heading for each model, and a row for each finding.
pub(super) fn write_models(models: &[KnownModel], out: &mut impl Write) -> io::Result<()> {
    models.iter().try_for_each(|model| write_model(model, out))
}

fn write_model(known: &KnownModel, out: &mut impl Write) -> io::Result<()> {
    let server = if known.version.is_empty() { String::new() } else { format!(", {}", known.version) };
    writeln!(out, "  {}{server}: tools {}, {}", known.model, known.tools_mode, reason(known))?;
    let width = known.findings.iter().map(|finding| finding.name.len()).max().unwrap_or_default();
    for ShownFinding { kind, name, value, found_at } in &known.findings {
        let word = if kind == Finding::QUIRK { "worked around" } else { value };
        let date = found_at.split('T').next().unwrap_or_default();
        writeln!(out, "    {name:width$}  {word:13}  {date}")?;
    }
    Ok(())
}

/// Why tools reach the model as they do.
fn reason(known: &KnownModel) -> &'static str {
    match known.tools_mode_from.as_str() {
        "setting" => "as set",
        "finding" => "by what was found",
        _ => "by default",
    }
}
