//! Calls and their outputs among the items of a conversation.
//!
//! An output without its call, or a second one for the same call, would make chat servers refuse every later turn. Nobody can put
//! one into a conversation; and where one is left over, because its call was deleted, the model is not told of it.

use std::collections::HashMap;

use callboard_core::model::BadRequest;
use serde_json::Value;

/// The calls so far, and whether each has its output.
#[derive(Default)]
struct Calls {
    answered: HashMap<String, bool>,
}

/// What is wrong with an item, and the field that says so.
struct Misfit {
    field: &'static str,
    words: String,
}

/// Refuses new items that do not fit behind the earlier ones; they are told apart by their place in `items`.
pub fn check_pairs(new: &[Value], earlier: &[Value]) -> Result<(), BadRequest> {
    let mut calls = Calls::default();
    for item in earlier {
        // What does not fit is there already, and is passed over.
        let _ = calls.take(item);
    }
    for (number, item) in new.iter().enumerate() {
        calls.take(item).map_err(|misfit| {
            let place = format!("items[{number}].{}", misfit.field);
            BadRequest::at(&place, "invalid_tool_call_id", format!("{place} {}", misfit.words))
        })?;
    }
    Ok(())
}

/// The items that fit together.
pub(super) fn fitting(mut items: Vec<Value>) -> Vec<Value> {
    let mut calls = Calls::default();
    items.retain(|item| calls.take(item).is_ok());
    items
}

impl Calls {
    fn take(&mut self, item: &Value) -> Result<(), Misfit> {
        let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
        match text("type") {
            "function_call" | "custom_tool_call" => self.call("call_id", text("call_id").to_owned(), false),
            "function_call_output" | "custom_tool_call_output" => self.output(text("call_id")),
            // A call that was run here has the letters of its call id in its item id.
            "mcp_call" => {
                let id = text("id");
                self.call("id", format!("call_{}", id.strip_prefix("mcp_").unwrap_or(id)), true)
            }
            _ => Ok(()),
        }
    }

    fn call(&mut self, field: &'static str, id: String, answered: bool) -> Result<(), Misfit> {
        if self.answered.contains_key(&id) {
            let words =
                format!("{id:?} was used by an earlier call of this conversation; give each call an id of its own");
            return Err(Misfit { field, words });
        }
        self.answered.insert(id, answered);
        Ok(())
    }

    fn output(&mut self, id: &str) -> Result<(), Misfit> {
        let words = match self.answered.get_mut(id) {
            Some(answered) if !*answered => {
                *answered = true;
                return Ok(());
            }
            Some(_) => format!("{id:?} was answered before"),
            None => format!("{id:?} answers no earlier call; put the call before its output"),
        };
        Err(Misfit { field: "call_id", words })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str) -> Value {
        json!({"type": "function_call", "call_id": id})
    }

    fn output(id: &str) -> Value {
        json!({"type": "function_call_output", "call_id": id})
    }

    fn ran(id: &str) -> Value {
        json!({"type": "mcp_call", "id": id})
    }

    /// What is there, what comes, and what is wrong with it.
    #[test]
    fn what_does_not_fit_is_named() {
        let said = json!({"type": "message", "role": "user", "content": []});
        let table = [
            (vec![], vec![said.clone(), call("a"), output("a")], None),
            (vec![call("a")], vec![said.clone(), output("a")], None),
            (vec![output("a")], vec![call("a"), output("a")], None),
            (vec![], vec![said, output("a")], Some("items[1].call_id")),
            (vec![], vec![output("a"), call("a")], Some("items[0].call_id")),
            (vec![call("a"), output("a")], vec![output("a")], Some("items[0].call_id")),
            (vec![call("a"), output("a")], vec![call("a")], Some("items[0].call_id")),
            (vec![ran("mcp_a")], vec![call("call_b"), call("call_a")], Some("items[1].call_id")),
            (vec![ran("mcp_a")], vec![output("call_a")], Some("items[0].call_id")),
            (vec![call("call_a")], vec![ran("mcp_a")], Some("items[0].id")),
        ];
        for (earlier, new, place) in table {
            let refused = check_pairs(&new, &earlier).err().and_then(|refusal| refusal.param);
            assert_eq!(refused.as_deref(), place, "{earlier:?} {new:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_passed_over() {
        let items = vec![output("a"), call("a"), output("a"), output("a"), call("a"), call("b"), output("c")];
        assert_eq!(fitting(items), [call("a"), output("a"), call("b")]);
    }
}
