//! The models on offer: the characters, and those of all model servers together.

use axum::extract::{Path, State};
use callboard_core::wire::ApiError;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use serde_json::{Value, json};

use super::reply::{self, HttpResult};
use super::router::Shared;
use crate::characters::LoadedCharacter;

/// All of them.
pub(super) async fn list(State(shared): State<Shared>, headers: HeaderMap) -> HttpResult {
    let models = fetch(&shared, &headers).await?;
    Ok(reply::json(json!({"object": "list", "data": models}).to_string()))
}

/// One of them.
pub(super) async fn one(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> HttpResult {
    let models = fetch(&shared, &headers).await?;
    let id_of = |model: &Value| model.get("id").and_then(Value::as_str).map(str::to_owned);
    let found = models.iter().find(|model| id_of(model).as_deref() == Some(id.as_str()));
    let missing = || ApiError::model_not_found(&id, &models.iter().filter_map(id_of).collect::<Vec<_>>());
    Ok(reply::json(found.ok_or_else(missing)?.to_string()))
}

/// Characters come first. Where there are some, a model server that does not answer is not an error.
async fn fetch(shared: &Shared, headers: &HeaderMap) -> Result<Vec<Value>, ApiError> {
    let authorization = headers.get(AUTHORIZATION).filter(|_| shared.keys.is_open());
    let mut models: Vec<Value> =
        shared.app.characters.all().iter().map(|character| character_entry(character)).collect();
    match shared.app.upstreams.all_models(&shared.client, authorization).await {
        Ok(others) => models.extend(others),
        Err(error) if models.is_empty() => return Err(error),
        Err(_) => {}
    }
    Ok(models)
}

fn character_entry(character: &LoadedCharacter) -> Value {
    let manifest = character.character.manifest();
    json!({"id": manifest.id, "object": "model", "created": 0, "owned_by": "callboard", "name": manifest.name})
}
