//! The content of a message or a tool's output: a text or a list of parts, converted to parts of a chat message.
//!
//! Files and images are passed on when they are inside the request; ids of stored files are refused.

use serde_json::{Value, json};

use super::typed_fields::Fields;
use crate::model::BadRequest;

/// The parts of one message, in their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Content {
    parts: Vec<ContentPart>,
}

#[derive(Debug, Clone)]
enum ContentPart {
    Text(String),
    /// An image, a file or audio, as a chat part.
    Medium(Value),
}

impl Content {
    /// Reads a string or a list of parts; `media` says whether parts other than text are allowed.
    pub(super) fn read(value: &Value, place: &str, media: bool) -> Result<Self, BadRequest> {
        let parts = match value {
            Value::String(text) => vec![ContentPart::Text(text.clone())],
            Value::Array(list) => read_parts(list, place, media)?,
            _ => return Err(BadRequest::wrong_type(place, format!("{place} must be a string or a list of parts"))),
        };
        Ok(Self { parts })
    }

    /// A single text.
    pub(super) fn of_text(text: String) -> Self {
        Self { parts: vec![ContentPart::Text(text)] }
    }

    /// All text, parts joined.
    pub(super) fn text(&self) -> String {
        self.parts.iter().filter_map(ContentPart::text).collect()
    }

    /// The content of a chat message; a single text is a plain string, which every server accepts.
    pub(super) fn to_chat(&self) -> Value {
        match self.parts.as_slice() {
            [] => Value::from(""),
            [ContentPart::Text(text)] => text.as_str().into(),
            parts => parts.iter().map(ContentPart::to_chat).collect(),
        }
    }

    /// The parts that are not text, which chat servers accept in user messages only.
    pub(super) fn media(&self) -> Vec<Value> {
        self.parts.iter().filter(|part| part.text().is_none()).map(ContentPart::to_chat).collect()
    }
}

impl ContentPart {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Medium(_) => None,
        }
    }

    fn to_chat(&self) -> Value {
        match self {
            Self::Text(text) => json!({"type": "text", "text": text}),
            Self::Medium(part) => part.clone(),
        }
    }
}

fn read_parts(list: &[Value], place: &str, media: bool) -> Result<Vec<ContentPart>, BadRequest> {
    list.iter().enumerate().map(|(number, part)| read_part(part, &format!("{place}[{number}]"), media)).collect()
}

fn read_part(part: &Value, place: &str, media: bool) -> Result<ContentPart, BadRequest> {
    let fields = Fields::at(part, place)?;
    let kind = fields.required_text("type", "for instance \"input_text\"")?;
    match kind {
        "input_text" | "output_text" | "text" => text_of(fields, "text"),
        "refusal" => text_of(fields, "refusal"),
        "input_image" if media => image(fields).map(ContentPart::Medium),
        "input_file" if media => file(fields).map(ContentPart::Medium),
        "input_video" if media => {
            let url = fields.required_text("video_url", "it must be a URL or a data: URL")?;
            Ok(ContentPart::Medium(json!({"type": "video_url", "video_url": {"url": url}})))
        }
        "input_audio" if media => {
            let audio = fields.required("input_audio", "it must hold data and format")?;
            Ok(ContentPart::Medium(json!({"type": "input_audio", "input_audio": audio})))
        }
        _ => {
            let place = fields.place("type");
            let takes = if media { "text, image, file, audio and video parts" } else { "text parts only" };
            Err(BadRequest::invalid(&place, format!("{place} is {kind:?}; this message takes {takes}")))
        }
    }
}

fn text_of(fields: Fields<'_>, key: &str) -> Result<ContentPart, BadRequest> {
    fields.required(key, "an empty string is fine")?;
    Ok(ContentPart::Text(fields.text(key)?.unwrap_or_default().to_owned()))
}

fn image(fields: Fields<'_>) -> Result<Value, BadRequest> {
    no_stored_file(fields)?;
    let url = fields.required_text("image_url", "it must be a URL or a data: URL")?;
    Ok(match fields.text("detail")? {
        Some(detail) => json!({"type": "image_url", "image_url": {"url": url, "detail": detail}}),
        None => json!({"type": "image_url", "image_url": {"url": url}}),
    })
}

fn file(fields: Fields<'_>) -> Result<Value, BadRequest> {
    no_stored_file(fields)?;
    // Model servers that fetch files themselves take a URL in the place of the data.
    let data = match fields.text("file_url")? {
        Some(url) => url,
        None => fields.required_text("file_data", "send the file itself or its file_url")?,
    };
    Ok(match fields.text("filename")? {
        Some(name) => json!({"type": "file", "file": {"file_data": data, "filename": name}}),
        None => json!({"type": "file", "file": {"file_data": data}}),
    })
}

fn no_stored_file(fields: Fields<'_>) -> Result<(), BadRequest> {
    match fields.get("file_id") {
        None => Ok(()),
        Some(_) => {
            let place = fields.place("file_id");
            let message = format!("{place} names a stored file, and Callboard stores none; send its data instead");
            Err(BadRequest::at(place, "unsupported_value", message))
        }
    }
}
