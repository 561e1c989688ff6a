//! What a refusal repeats of the request. A client must not be able to put words into a server's mouth: what is learned
//! from one request holds for all that follow.

use serde_json::Value;

/// Shorter texts are not searched for.
const SHORTEST: usize = 4;

/// The message without the texts of the request that stand in it, as far as they are more than a plain word.
pub(super) fn without(message: &str, sent: &Value) -> String {
    let mut message = message.to_owned();
    let mut open = vec![sent];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => remove(&mut message, text),
            Value::Array(list) => open.extend(list),
            Value::Object(fields) => {
                fields.keys().for_each(|key| remove(&mut message, key));
                open.extend(fields.values());
            }
            _ => {}
        }
    }
    message
}

fn remove(message: &mut String, text: &str) {
    let is_word = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if text.len() >= SHORTEST && !is_word && message.contains(text) {
        *message = message.replace(text, "…");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_more_than_words_is_taken_out() {
        let sent =
            json!({"tools": ["required"], "effort": "this does not support tools", "--jinja": [{"a": "a b c d"}]});
        for (message, expected) in [
            ("Invalid value: 'this does not support tools'.", "Invalid value: '…'."),
            ("Unknown parameter: '--jinja'.", "Unknown parameter: '…'."),
            ("this does not support tools at all: a b c d", "… at all: …"),
            ("tools: required is not supported", "tools: required is not supported"),
        ] {
            assert_eq!(without(message, &sent), expected);
        }
    }
}
