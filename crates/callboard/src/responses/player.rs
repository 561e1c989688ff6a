//! Who played in what a request goes on from, and whether the model that is asked for now may go on from it.
//!
//! A character's conversation is its prompt, its tools and its state. Somebody else under its name would have none of them, and nobody
//! would notice.

use callboard_core::model::BadRequest;
use callboard_core::wire::ApiError;

/// What a request goes on from.
#[derive(Clone, Copy)]
pub(super) enum Went<'a> {
    /// A conversation.
    Conversation(&'a str),
    /// A response.
    Response(&'a str),
}

/// Refuses a request for somebody who cannot go on there; `on_stage` is the character that is asked for, if it is one.
pub(super) fn check_player(played: &str, asked: &str, on_stage: Option<&str>, place: Went<'_>) -> Result<(), ApiError> {
    match (on_stage, place) {
        (Some(character), _) if character == played => Ok(()),
        // A response may be continued by several; each begins its own part.
        (Some(_), Went::Response(_)) => Ok(()),
        (None, _) if asked == played => Err(off_stage(played, place)),
        (None, _) => Ok(()),
        (_, Went::Conversation(_)) => Err(played_by_other(played, asked, place)),
    }
}

fn off_stage(character: &str, place: Went<'_>) -> ApiError {
    let words = "put its file back, or mend it: `callboard check` tells what is wrong";
    let message = format!("the character {character:?}, which plays in {place}, is not on stage; {words}");
    let mut error = ApiError::new(404, "character_not_found", message);
    error.param = Some("model".to_owned());
    error
}

fn played_by_other(played: &str, asked: &str, place: Went<'_>) -> ApiError {
    let message = format!("{played:?} plays in {place}; make another one for {asked:?}");
    BadRequest::at(place.param(), "conversation_played_by_other", message).into()
}

impl Went<'_> {
    fn param(self) -> &'static str {
        match self {
            Self::Conversation(_) => "conversation",
            Self::Response(_) => "previous_response_id",
        }
    }
}

impl std::fmt::Display for Went<'_> {
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
    fn who_may_go_on() {
        let (conversation, response) = (Went::Conversation("c"), Went::Response("r"));
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
        for (asked, on_stage, place, expected) in table {
            let refused = check_player("keeper", asked, on_stage, place).err();
            let refused = refused.as_ref().map(|error| (error.status, error.param.as_deref().unwrap_or_default()));
            assert_eq!(refused, expected, "{asked} in {place}");
        }
    }
}
