//! Whether the requested model may continue a conversation or response that a character took part in.
//!
//! A character's conversation depends on its prompt, tools and state. A plain model under the same name would have none of them.

use callboard_core::model::BadRequest;
use callboard_core::wire::ApiError;

/// What a request continues.
#[derive(Clone, Copy)]
pub(super) enum Continued<'a> {
    /// A conversation.
    Conversation(&'a str),
    /// A response.
    Response(&'a str),
}

/// Refuses a model that cannot continue; `requested` is the character that is asked for, if it is one.
pub(super) fn check_continuation(
    character: &str,
    asked: &str,
    requested: Option<&str>,
    place: Continued<'_>,
) -> Result<(), ApiError> {
    match (requested, place) {
        (Some(requested), _) if requested == character => Ok(()),
        // Several characters may continue a response; each begins its own part.
        (Some(_), Continued::Response(_)) => Ok(()),
        (None, _) if asked == character => Err(not_loaded(character, place)),
        (None, _) => Ok(()),
        (_, Continued::Conversation(_)) => Err(other_character(character, asked, place)),
    }
}

fn not_loaded(character: &str, place: Continued<'_>) -> ApiError {
    let remedy = "restore or fix its file; `callboard check` says what is wrong";
    let message = format!("the character {character:?} of {place} is not loaded; {remedy}");
    let mut error = ApiError::new(404, "character_not_found", message);
    error.param = Some("model".to_owned());
    error
}

fn other_character(character: &str, asked: &str, place: Continued<'_>) -> ApiError {
    let message = format!("{character:?} is the character of {place}; make another one for {asked:?}");
    BadRequest::at(place.param(), "conversation_played_by_other", message).into()
}

impl Continued<'_> {
    fn param(self) -> &'static str {
        match self {
            Self::Conversation(_) => "conversation",
            Self::Response(_) => "previous_response_id",
        }
    }
}

impl std::fmt::Display for Continued<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Conversation(id) => write!(formatter, "the conversation {id:?}"),
            Self::Response(id) => write!(formatter, "the response {id:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_continue() {
        let (conversation, response) = (Continued::Conversation("c"), Continued::Response("r"));
        let table = [
            ("keeper", Some("keeper"), conversation, None),
            ("keeper", Some("keeper"), response, None),
            ("keeper", None, conversation, Some((404, "model"))),
            ("keeper", None, response, Some((404, "model"))),
            ("other", Some("other"), conversation, Some((400, "conversation"))),
            ("other", Some("other"), response, None),
            ("m", None, conversation, None),
            ("m", None, response, None),
        ];
        for (asked, requested, place, expected) in table {
            let refused = check_continuation("keeper", asked, requested, place).err();
            let refused = refused.as_ref().map(|error| (error.status, error.param.as_deref().unwrap_or_default()));
            assert_eq!(refused, expected, "{asked} in {place}");
        }
    }
}
