//! The field `model` of a request that is passed through: in JSON, or in a form with files. The rest is not read.

use std::ops::Range;

use callboard_core::model::BadRequest;
use callboard_core::wire::ApiError;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::form_data;

/// The name of a model, and where in the body it is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ModelField {
    pub(super) name: String,
    place: Range<usize>,
    is_json: bool,
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow, default)]
    model: Option<&'a RawValue>,
}

impl ModelField {
    /// Finds it in a body of this content type; none where the request names no model.
    pub(super) fn find(content_type: Option<&str>, body: &[u8]) -> Result<Option<Self>, ApiError> {
        let kind = content_type.unwrap_or("application/json");
        let essence = kind.split(';').next().unwrap_or_default().trim();
        if essence.eq_ignore_ascii_case("application/json") {
            return Ok(in_json(body)?);
        }
        if essence.eq_ignore_ascii_case("multipart/form-data") {
            return Ok(in_form(kind, body)?);
        }
        let message = format!("the content-type must be application/json or multipart/form-data, and is {kind:?}");
        Err(ApiError::new(415, "unsupported_media_type", message))
    }

    /// The body with another name in its place.
    pub(super) fn replaced(&self, body: &[u8], name: &str) -> Vec<u8> {
        let written = if self.is_json { serde_json::Value::from(name).to_string() } else { name.to_owned() };
        let parts = [body.get(..self.place.start), Some(written.as_bytes()), body.get(self.place.end..)];
        parts.into_iter().flatten().flatten().copied().collect()
    }
}

fn in_json(body: &[u8]) -> Result<Option<ModelField>, BadRequest> {
    let bad = |error: &dyn std::fmt::Display| {
        BadRequest::whole("invalid_json", format!("the request body is not a JSON object: {error}"))
    };
    let text = std::str::from_utf8(body).map_err(|error| bad(&error))?;
    if !text.trim_start().starts_with('{') {
        return Err(bad(&"it must begin with {"));
    }
    let Body { model } = serde_json::from_str(text).map_err(|error| bad(&error))?;
    let Some(model) = model.map(RawValue::get) else { return Ok(None) };
    let name = serde_json::from_str(model).map_err(|_| BadRequest::wrong_type("model", "model must be a string"))?;
    // The value is a part of the text.
    let start = model.as_ptr().addr().saturating_sub(text.as_ptr().addr());
    Ok(Some(ModelField { name, place: start..start + model.len(), is_json: true }))
}

fn in_form(content_type: &str, body: &[u8]) -> Result<Option<ModelField>, BadRequest> {
    let mut places = form_data::fields(content_type, body, "model")?.into_iter();
    match (places.next(), places.next()) {
        (None, _) => Ok(None),
        (Some(place), None) => {
            let name = body.get(place.clone()).and_then(|name| std::str::from_utf8(name).ok());
            let name = name.ok_or_else(|| BadRequest::wrong_type("model", "model must be text"))?;
            Ok(Some(ModelField { name: name.to_owned(), place, is_json: false }))
        }
        (Some(_), Some(_)) => Err(BadRequest::invalid("model", "model appears twice in the request")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: &str = "multipart/form-data; boundary=\"a b\"";

    fn form(fields: &[(&str, &str)]) -> String {
        let part = |(name, value): &(&str, &str)| {
            format!("--a b\r\nContent-Disposition: form-data; {name}\r\n\r\n{value}\r\n")
        };
        fields.iter().map(part).collect::<String>() + "--a b--\r\n"
    }

    #[test]
    fn the_model_is_found_and_replaced() {
        let file = "--a b is no boundary here\r\n--a \r\nname=\"model\"";
        let json = "{\"input\": \"{\\\"model\\\":1}\", \"model\" : \"m\\u00fc\", \"n\": 1e400}";
        let fields = form(&[("name=\"file\"; filename=\"model\"", file), ("name=model", "mü"), ("name=\"n\"", "1")]);
        for (kind, body) in [(None, json), (Some("Application/JSON; charset=utf-8"), json), (Some(FORM), &fields)] {
            let found = ModelField::find(kind, body.as_bytes()).unwrap().unwrap();
            assert_eq!(found.name, "mü");
            let replaced = String::from_utf8(found.replaced(body.as_bytes(), "a\"b")).unwrap();
            let (old, new) = if kind == Some(FORM) { ("mü", "a\"b") } else { ("\"m\\u00fc\"", "\"a\\\"b\"") };
            assert_eq!(replaced, body.replace(old, new));
        }
    }

    #[test]
    fn a_model_is_optional_and_a_string() {
        let find = |kind: Option<&str>, body: &str| ModelField::find(kind, body.as_bytes());
        assert_eq!(find(None, "{\"model\":null}").unwrap(), None);
        assert_eq!(find(None, "{}").unwrap(), None);
        assert_eq!(find(Some(FORM), &form(&[("name=\"file\"", "x")])).unwrap(), None);
        for (kind, body, code) in [
            (None, "{\"model\":1}", "invalid_type"),
            (None, "{\"model\":\"a\",\"model\":\"b\"}", "invalid_json"),
            (None, "[]", "invalid_json"),
            (None, "[\"m\"]", "invalid_json"),
            (None, "", "invalid_json"),
            (Some("text/plain"), "{}", "unsupported_media_type"),
            (Some("multipart/form-data"), "", "invalid_form"),
            (Some(FORM), "--a b\r\nno end", "invalid_form"),
            (Some(FORM), &form(&[("name=model", "a"), ("name=\"model\"", "b")]), "invalid_value"),
        ] {
            assert_eq!(find(kind, body).unwrap_err().code, code, "{body}");
        }
    }
}
