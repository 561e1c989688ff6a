//! What a connection sends: one request repeatedly, or a series of dependent requests.
//!
//! Talks come from a file, one per line: a JSON array of bodies. After the last comes the first again. In a body, `$PREVIOUS` is
//! replaced by the id of the previous response.

use std::fs::read_to_string;

use crate::Outcome;

const PREVIOUS: &str = "$PREVIOUS";
const RESPONSE_ID: &[u8] = b"\"id\":\"resp_";

pub(crate) enum Script {
    Same(String),
    Talks(Vec<Vec<String>>),
}

impl Script {
    pub(crate) fn read(path: &str) -> Outcome<Self> {
        let talk = |line: &str| -> Outcome<Vec<String>> {
            let bodies: Vec<serde_json::Value> = serde_json::from_str(line)?;
            Ok(bodies.iter().map(ToString::to_string).collect())
        };
        Ok(Self::Talks(read_to_string(path)?.lines().map(talk).collect::<Outcome<_>>()?))
    }

    /// The bodies of the talk of this number; none if there are no talks.
    pub(crate) fn talk(&self, number: u64) -> Option<&[String]> {
        match self {
            Self::Same(body) => Some(std::slice::from_ref(body)),
            Self::Talks(talks) => talks.get(usize::try_from(number).ok()?.checked_rem(talks.len())?).map(Vec::as_slice),
        }
    }
}

/// The body with the id of the response in the previous reply.
pub(crate) fn following(body: &str, reply: &[u8]) -> String {
    if !body.contains(PREVIOUS) {
        return body.to_owned();
    }
    body.replace(PREVIOUS, &response_id(reply).unwrap_or_default())
}

fn response_id(reply: &[u8]) -> Option<String> {
    let start = reply.windows(RESPONSE_ID.len()).position(|window| window == RESPONSE_ID)?;
    let id = reply.get(start + 6..)?.split(|byte| *byte == b'"').next()?;
    String::from_utf8(id.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn talks_begin_again_after_the_last() {
        let script = Script::Talks(vec![vec!["a".to_owned()], vec!["b".to_owned()]]);
        assert_eq!(script.talk(3), Some(["b".to_owned()].as_slice()));
        assert_eq!(Script::Talks(Vec::new()).talk(0), None);
    }

    #[test]
    fn the_id_of_the_last_response_is_filled_in() {
        let reply = br#"{"x":1,"id":"resp_abc","object":"response"}"#;
        assert_eq!(
            following(r#"{"previous_response_id":"$PREVIOUS"}"#, reply),
            r#"{"previous_response_id":"resp_abc"}"#
        );
        assert_eq!(following("{}", reply), "{}");
    }
}
