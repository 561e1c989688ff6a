//! `/v1/characters`: what is loaded, what failed to load and why, and a reload by hand.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use callboard_core::wire::ApiError;
use serde_json::{Value, json};

use super::reply::{self, HttpResult};
use super::router::Shared;
use crate::characters::{CharacterRegistry, FileProblem, LoadedCharacter, source_excerpt};

/// All characters, and all files that could not be loaded.
pub(super) async fn list(State(shared): State<Shared>) -> Response {
    reply::json(registry_json(&shared.app.characters).to_string())
}

/// One character.
pub(super) async fn one(State(shared): State<Shared>, Path(id): Path<String>) -> HttpResult {
    let character = loaded(&shared, &id)?;
    Ok(reply::json(character_json(&character, true).to_string()))
}

/// A loaded character.
pub(super) fn loaded(shared: &Shared, id: &str) -> Result<Arc<LoadedCharacter>, ApiError> {
    let registry = &shared.app.characters;
    registry.get(id).ok_or_else(|| {
        let all = registry.all();
        let ids: Vec<String> = all.iter().map(|character| character.character.manifest().id.clone()).collect();
        ApiError::character_not_found(id, &ids)
    })
}

/// Loads the folder again.
pub(super) async fn reload(State(shared): State<Shared>) -> HttpResult {
    let loaded = shared.app.characters.load(true).await;
    loaded.map_err(|error| ApiError::new(500, "python_unavailable", error.to_string()))?;
    Ok(reply::json(registry_json(&shared.app.characters).to_string()))
}

fn registry_json(registry: &CharacterRegistry) -> Value {
    let characters: Vec<Value> = registry.all().iter().map(|character| character_json(character, false)).collect();
    let problems: Vec<Value> = registry.problems().iter().map(|problem| problem_json(problem, registry)).collect();
    json!({"object": "list", "folder": registry.folder(), "data": characters, "problems": problems})
}

fn character_json(character: &LoadedCharacter, whole: bool) -> Value {
    let manifest = character.character.manifest();
    let tools: Vec<Value> = manifest
        .tools
        .iter()
        .map(|tool| match whole {
            true => json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters,
                "timeout_ms": tool.timeout.as_millis()}),
            false => json!(tool.name),
        })
        .collect();
    let mut object = json!({
        "id": manifest.id,
        "object": "character",
        "name": manifest.name,
        "voice_source": manifest.voice,
        "metadata": manifest.metadata,
        "model": manifest.model,
        "tools": tools,
        "at_rest": character.character.is_at_rest(),
        "warnings": manifest.warnings,
    });
    if whole {
        object["view"] = json!(manifest.view);
    }
    object
}

fn problem_json(problem: &FileProblem, registry: &CharacterRegistry) -> Value {
    let problems: Vec<Value> = problem
        .problems
        .iter()
        .map(|problem| {
            json!({"file": problem.file, "line": problem.line, "what": problem.what, "remedy": problem.remedy,
                "kind": problem.kind.label(), "excerpt": source_excerpt(registry.folder(), problem)})
        })
        .collect();
    json!({"id": problem.id, "earlier_version_on_stage": problem.earlier_loaded, "problems": problems})
}
