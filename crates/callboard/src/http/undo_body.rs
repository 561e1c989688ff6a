//! The body of `POST /v1/conversations/{id}/undo`. Errors name the field.

use callboard_core::journal::Target;
use callboard_core::model::BadRequest;
use callboard_core::wire::responses::{call_id_of, read_object};
use serde_json::{Map, Value};

const FORM: &str = "send {\"last\": 1}, or {\"call_id\": \"call_…\", \"mode\": \"cascade\"} or \"single\"";
const KNOWN: [&str; 3] = ["last", "call_id", "mode"];

/// Reads the body.
pub(super) fn read(body: &[u8]) -> Result<Target, BadRequest> {
    let fields = read_object(body.to_vec())?;
    if let Some(unknown) = fields.keys().find(|key| !KNOWN.contains(&key.as_str())) {
        return Err(BadRequest::at(unknown, "unknown_parameter", format!("{unknown:?} is not known; {FORM}")));
    }
    match (last(&fields)?, text(&fields, "call_id")?, text(&fields, "mode")?) {
        (Some(last), None, None) => Ok(Target::Last(last)),
        (None, Some(call), None | Some("cascade")) => Ok(Target::Cascade(call_id_of(call))),
        (None, Some(call), Some("single")) => Ok(Target::Single(call_id_of(call))),
        (None, Some(_), Some(other)) => {
            Err(BadRequest::invalid("mode", format!("mode is {other:?}; it must be \"cascade\" or \"single\"")))
        }
        (Some(_), None, Some(_)) => Err(BadRequest::invalid("mode", "mode goes with call_id only; leave it out")),
        (None, None, _) => Err(BadRequest::missing("last", "send last, or a call_id")),
        (Some(_), ..) => Err(BadRequest::invalid("last", "last and call_id exclude each other; send one of them")),
    }
}

fn last(fields: &Map<String, Value>) -> Result<Option<usize>, BadRequest> {
    let Some(value) = given(fields, "last") else { return Ok(None) };
    if !value.is_number() {
        return Err(BadRequest::wrong_type("last", format!("last is no number; {FORM}")));
    }
    let number = value.as_u64().and_then(|number| usize::try_from(number).ok()).filter(|number| *number > 0);
    let message = || format!("last is {value}; it must be a whole number, at least 1");
    number.map(Some).ok_or_else(|| BadRequest::invalid("last", message()))
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, BadRequest> {
    let Some(value) = given(fields, name) else { return Ok(None) };
    let text = value.as_str().map(Some);
    text.ok_or_else(|| BadRequest::wrong_type(name, format!("{name} is no text; {FORM}")))
}

fn given<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    fields.get(name).filter(|value| !value.is_null())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read() {
        let letters = "Ab3".repeat(8);
        let (item, call) = (format!("mcp_{letters}"), format!("call_{letters}"));
        for (body, target) in [
            (r#"{"last": 2}"#.to_owned(), Target::Last(2)),
            (r#"{"last": 2, "call_id": null, "mode": null}"#.to_owned(), Target::Last(2)),
            (r#"{"call_id": "call_a"}"#.to_owned(), Target::Cascade("call_a".to_owned())),
            (format!(r#"{{"call_id": "{item}", "mode": "cascade"}}"#), Target::Cascade(call.clone())),
            (format!(r#"{{"call_id": "{item}", "mode": "single"}}"#), Target::Single(call)),
        ] {
            assert_eq!(read(body.as_bytes()), Ok(target), "{body}");
        }
    }

    #[test]
    fn faults_name_their_place() {
        for (body, param, code) in [
            (r#"{"last": -1}"#, Some("last"), "invalid_value"),
            (r#"{"last": 0}"#, Some("last"), "invalid_value"),
            (r#"{"last": 1.5}"#, Some("last"), "invalid_value"),
            (r#"{"last": 99999999999999999999}"#, Some("last"), "invalid_value"),
            (r#"{"last": "1"}"#, Some("last"), "invalid_type"),
            (r#"{"last": 1, "last": 2}"#, Some("last"), "invalid_value"),
            (r#"{"last": 1, "call_id": "call_a"}"#, Some("last"), "invalid_value"),
            (r#"{"last": 1, "mode": "single"}"#, Some("mode"), "invalid_value"),
            (r#"{"call_id": 5}"#, Some("call_id"), "invalid_type"),
            (r#"{"call_id": "call_a", "mode": "all"}"#, Some("mode"), "invalid_value"),
            (r#"{"lats": 1}"#, Some("lats"), "unknown_parameter"),
            ("{}", Some("last"), "missing_required_field"),
            ("{", None, "invalid_json"),
        ] {
            let refused = read(body.as_bytes()).unwrap_err();
            assert_eq!((refused.param.as_deref(), refused.code), (param, code), "{body}");
        }
    }
}
