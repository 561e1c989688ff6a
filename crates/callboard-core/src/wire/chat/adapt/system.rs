//! Instructions to the model: where they are put, and what becomes of them where there is no role for them.

use serde_json::{Value, json};

use super::content;
use super::message_accessors::{is_system, role, set, take};

/// Puts words behind the first system message, or before everything where there is none.
pub(super) fn instruct(messages: &mut Vec<Value>, words: &str) {
    match messages.first_mut().filter(|first| is_system(first)) {
        Some(first) => content::append(first, words.into()),
        None => messages.insert(0, json!({"role": "system", "content": words})),
    }
}

/// Gives the `developer` role its older name.
pub(super) fn rename_developer(messages: &mut [Value]) {
    for message in messages.iter_mut().filter(|message| role(message) == "developer") {
        set(message, "role", "system");
    }
}

/// Lets the user say what the system says: the first words before the user's own, later ones at their place.
pub(super) fn fold_into_user(messages: &mut Vec<Value>) {
    let leading = messages.iter().take_while(|message| is_system(message)).count();
    let mut instructions = json!({"role": "user"});
    for mut message in messages.drain(..leading) {
        content::append(&mut instructions, take(&mut message, "content").unwrap_or_default());
    }
    for message in messages.iter_mut().filter(|message| is_system(message)) {
        set(message, "role", "user");
    }
    if leading == 0 {
        return;
    }
    match messages.first_mut().filter(|first| role(first) == "user") {
        Some(first) => {
            let own = first.get("content").cloned().unwrap_or_default();
            content::append(&mut instructions, own);
            set(first, "content", take(&mut instructions, "content").unwrap_or_default());
        }
        None => messages.insert(0, instructions),
    }
}
