//! `POST /v1/conversations/{id}/fork`: a new conversation that begins as another one did, up to an item.

use axum::extract::{Path, Request, State};
use callboard_core::model::BadRequest;
use callboard_core::wire::responses::read_object;
use serde_json::Value;

use super::body::read_body;
use super::conversations::{object, owned};
use super::reply::HttpResult;
use super::router::Shared;
use crate::conversation::fork;

const FORM: &str = "send {\"before\": \"msg_…\"}, or {} to copy the whole conversation";

pub(super) async fn create(State(shared): State<Shared>, Path(name): Path<String>, request: Request) -> HttpResult {
    let headers = request.headers().clone();
    let body = read_body(request, &shared).await?;
    let before = read(body.bytes)?;
    let id = owned(&shared, &name, &headers).await?.id;
    let new = fork(&shared.store, &id, before.as_deref(), &body.memory).await?;
    Ok(object(&owned(&shared, &new, &headers).await?))
}

/// The item before which the copy ends.
fn read(body: Vec<u8>) -> Result<Option<String>, BadRequest> {
    let fields = read_object(if body.is_empty() { b"{}".to_vec() } else { body })?;
    if let Some(unknown) = fields.keys().find(|key| *key != "before") {
        return Err(BadRequest::at(unknown, "unknown_parameter", format!("{unknown:?} is not known; {FORM}")));
    }
    match fields.get("before") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) => Ok(Some(id.clone())),
        Some(_) => Err(BadRequest::wrong_type("before", format!("before is no text; {FORM}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_read_and_faults_name_their_place() {
        for (body, before) in
            [("", None), ("{}", None), (r#"{"before": null}"#, None), (r#"{"before": "a"}"#, Some("a"))]
        {
            assert_eq!(read(body.as_bytes().to_vec()), Ok(before.map(str::to_owned)), "{body}");
        }
        for (body, param, code) in [
            (r#"{"before": 1}"#, Some("before"), "invalid_type"),
            (r#"{"after": "a"}"#, Some("after"), "unknown_parameter"),
            ("[", None, "invalid_json"),
        ] {
            let refused = read(body.as_bytes().to_vec()).unwrap_err();
            assert_eq!((refused.param.as_deref(), refused.code), (param, code), "{body}");
        }
    }
}
