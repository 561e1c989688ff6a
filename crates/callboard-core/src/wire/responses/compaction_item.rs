//! A `compaction` item: a summary in the place of what was said before.
//!
//! The summary is marked, not encrypted: it has no more weight than a message of the user, which any client may write.

use super::typed_fields::Fields;
use crate::model::BadRequest;

/// What the content of our own items begins with: the version of the form.
const MARK: &str = "callboard-summary-1:";

/// What a model reads before a summary.
const HEADING: &str = "Summary of the conversation up to here:\n\n";

/// The content of an item with this summary.
pub(super) fn content(summary: &str) -> String {
    format!("{MARK}{summary}")
}

/// Reads an item: its text in a conversation.
pub(super) fn read(fields: Fields<'_>) -> Result<String, BadRequest> {
    let content = fields.required_text("encrypted_content", "it is what /v1/responses/compact returned")?;
    let summary = content.strip_prefix(MARK).ok_or_else(|| {
        let place = fields.place("encrypted_content");
        let message =
            format!("{place} was not made by Callboard, and only its maker can read it; send the items themselves");
        BadRequest::at(place, "unsupported_value", message)
    })?;
    Ok(format!("{HEADING}{summary}"))
}
