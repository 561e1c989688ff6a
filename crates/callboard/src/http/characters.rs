//! The characters over HTTP: who is on stage, what could not be loaded and why, and a reload by hand.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use callboard_core::wire::ApiError;
use serde_json::{Value, json};

use super::reply;
use super::router::Shared;
use crate::stage::{Cast, FileProblem, Role};

/// All characters, and all files that could not be loaded.
pub(super) async fn list(State(shared): State<Shared>) -> Response {
    reply::json(cast_json(&shared.app.cast).to_string())
}

/// One character.
pub(super) async fn one(State(shared): State<Shared>, Path(id): Path<String>) -> Response {
    match shared.app.cast.role(&id) {
        Some(role) => reply::json(role_json(&role, true).to_string()),
        None => {
            let known: Vec<String> =
                shared.app.cast.roles().iter().map(|role| role.character.manifest().id.clone()).collect();
            reply::error(&ApiError::character_not_found(&id, &known))
        }
    }
}

/// Loads the folder again.
pub(super) async fn reload(State(shared): State<Shared>) -> Response {
    match shared.app.cast.load(true).await {
        Ok(()) => reply::json(cast_json(&shared.app.cast).to_string()),
        Err(error) => reply::error(&ApiError::new(500, "python_unavailable", error.to_string())),
    }
}

fn cast_json(cast: &Arc<Cast>) -> Value {
    let roles: Vec<Value> = cast.roles().iter().map(|role| role_json(role, false)).collect();
    let problems: Vec<Value> = cast.problems().iter().map(problem_json).collect();
    json!({"object": "list", "folder": cast.folder(), "data": roles, "problems": problems})
}

fn role_json(role: &Role, whole: bool) -> Value {
    let manifest = role.character.manifest();
    let tools: Vec<Value> = manifest
        .tools
        .iter()
        .map(|tool| match whole {
            true => json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters,
                "timeout_ms": tool.timeout.as_millis()}),
            false => json!(tool.name),
        })
        .collect();
    json!({
        "id": manifest.id,
        "object": "character",
        "name": manifest.name,
        "voice_source": manifest.voice,
        "metadata": manifest.metadata,
        "model": manifest.model,
        "tools": tools,
        "warnings": manifest.warnings,
    })
}

fn problem_json(problem: &FileProblem) -> Value {
    let problems: Vec<Value> = problem
        .problems
        .iter()
        .map(|problem| {
            json!({"file": problem.file, "line": problem.line, "what": problem.what, "remedy": problem.remedy,
                "kind": problem.kind.label()})
        })
        .collect();
    json!({"id": problem.id, "earlier_version_on_stage": problem.earlier_on_stage, "problems": problems})
}
