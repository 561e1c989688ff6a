//! The plain fields of a chat request: each has its kind and its range.

use std::ops::RangeInclusive;

use serde_json::Value;

use crate::model::BadRequest;

pub(super) fn model(text: &str) -> Result<String, BadRequest> {
    match serde_json::from_str::<String>(text) {
        Ok(name) if !name.trim().is_empty() => Ok(name),
        Ok(_) => Err(BadRequest::invalid("model", "model must not be empty")),
        Err(_) => Err(BadRequest::wrong_type("model", "model must be a string")),
    }
}

pub(super) fn boolean(name: &str, text: Option<&str>) -> Result<Option<bool>, BadRequest> {
    match text {
        None => Ok(None),
        Some("true") => Ok(Some(true)),
        Some("false") => Ok(Some(false)),
        Some(_) => Err(BadRequest::wrong_type(name, format!("{name} must be true or false"))),
    }
}

pub(super) fn number(name: &str, text: Option<&str>, range: RangeInclusive<f64>) -> Result<(), BadRequest> {
    let Some(text) = text else { return Ok(()) };
    match serde_json::from_str::<f64>(text) {
        Ok(value) if range.contains(&value) => Ok(()),
        Ok(_) => Err(BadRequest::invalid(
            name,
            format!("{name} is {text}; it must be from {} to {}", range.start(), range.end()),
        )),
        Err(_) => Err(BadRequest::wrong_type(
            name,
            format!("{name} must be a number from {} to {}", range.start(), range.end()),
        )),
    }
}

pub(super) fn positive_integer(name: &str, text: Option<&str>) -> Result<(), BadRequest> {
    let Some(text) = text else { return Ok(()) };
    match serde_json::from_str::<f64>(text) {
        Ok(value) if value >= 1.0 && value.fract() == 0.0 => Ok(()),
        Ok(_) => Err(BadRequest::invalid(name, format!("{name} is {text}; it must be a whole number of at least 1"))),
        Err(_) => Err(BadRequest::wrong_type(name, format!("{name} must be a whole number of at least 1"))),
    }
}

/// Callboard keeps its promises for one choice; more of them would be delivered unchecked.
pub(super) fn one_choice(text: Option<&str>) -> Result<(), BadRequest> {
    positive_integer("n", text)?;
    match text {
        None | Some("1") => Ok(()),
        Some(_) => Err(BadRequest::at(
            "n",
            "unsupported_value",
            "only one choice per request is offered; leave n out and send several requests",
        )),
    }
}

pub(super) fn stop(text: Option<&str>) -> Result<(), BadRequest> {
    let Some(text) = text else { return Ok(()) };
    match serde_json::from_str::<Value>(text) {
        Ok(Value::String(_)) => Ok(()),
        Ok(Value::Array(list)) => match list.iter().position(|entry| !entry.is_string()) {
            None => Ok(()),
            Some(number) => {
                Err(BadRequest::wrong_type(format!("stop[{number}]"), "each entry of stop must be a string"))
            }
        },
        _ => Err(BadRequest::wrong_type("stop", "stop must be a string or a list of strings")),
    }
}

/// Whether usage is asked for.
pub(super) fn stream_options(text: Option<&str>, stream: bool) -> Result<bool, BadRequest> {
    let Some(text) = text else { return Ok(false) };
    if !stream {
        return Err(BadRequest::invalid(
            "stream_options",
            "stream_options are only allowed together with \"stream\": true",
        ));
    }
    let Ok(Value::Object(options)) = serde_json::from_str(text) else {
        return Err(BadRequest::wrong_type(
            "stream_options",
            "stream_options must be an object such as {\"include_usage\": true}",
        ));
    };
    match options.get("include_usage") {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(asked)) => Ok(*asked),
        Some(_) => Err(BadRequest::wrong_type("stream_options.include_usage", "include_usage must be true or false")),
    }
}
