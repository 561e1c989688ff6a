//! What keeps a character's tools from being offered: found when its file is loaded, because every turn would fail with them.

use std::path::Path;

use callboard_core::contract::{SchemaLimits, ToolCache};
use callboard_core::model::BadRequest;
use callboard_python::{Manifest, Problem, ProblemKind, ToolManifest};

use super::UNDO;
use super::offered_tools::{compile_tools, offer, offered};

/// Compiles the tools as a turn does, each alone and then all together, and checks their defaults.
pub(super) fn tool_problems(manifest: &Manifest, limits: SchemaLimits) -> Vec<Problem> {
    let each = manifest.tools.iter().filter_map(|tool| tool_problem(tool, &manifest.file, limits));
    let problems: Vec<Problem> = each.collect();
    if !problems.is_empty() {
        return problems;
    }
    let all = offered(&manifest.tools, manifest.undo);
    let together =
        compile_tools(&all, &ToolCache::new(limits)).err().map(|refusal| set_problem(&refusal, &manifest.file));
    together.into_iter().collect()
}

fn tool_problem(tool: &ToolManifest, file: &Path, limits: SchemaLimits) -> Option<Problem> {
    let problem = |what: String, remedy: &str| Problem {
        file: file.to_owned(),
        line: tool.line,
        what,
        remedy: remedy.to_owned(),
        kind: ProblemKind::InvalidSchema,
    };
    match compile_tools(&[offer(tool)], &ToolCache::new(limits)) {
        Err(refusal) => Some(problem(refusal.message.clone(), remedy_for(&refusal))),
        Ok(set) => {
            let unfit = set.at(0)?.unfit_default(&limits)?;
            let remedy = "change the default or the schema, or leave the default out";
            Some(problem(format!("tool `{}`: {unfit}", tool.name), remedy))
        }
    }
}

/// What is wrong only with all tools together.
fn set_problem(refusal: &BadRequest, file: &Path) -> Problem {
    let is_duplicate = refusal.code == "duplicate_tool_name";
    let (kind, remedy) = match is_duplicate {
        true => (ProblemKind::DuplicateName, format!("rename the tool, or leave out UNDO, which adds a tool `{UNDO}`")),
        false => (ProblemKind::InvalidSchema, remedy_for(refusal).to_owned()),
    };
    Problem { file: file.to_owned(), line: None, what: refusal.message.clone(), remedy, kind }
}

fn remedy_for(refusal: &BadRequest) -> &'static str {
    match refusal.code {
        "invalid_tool_schema" => "correct it: every turn would fail with this schema",
        _ => "offer less, or raise the limit",
    }
}
