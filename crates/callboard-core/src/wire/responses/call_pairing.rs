//! Calls and their outputs among the items of a conversation: an output follows its call, and there is one for each call.
//!
//! Anything else would make chat servers refuse every later turn. New items that break the rule are refused; where an output is
//! left over because its call was deleted, it is dropped.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use thiserror::Error;

use crate::model::{BadRequest, CallId};

/// The calls so far, and whether each has its output.
#[derive(Debug, Default)]
pub(super) struct CallOutputs {
    answered: HashMap<String, bool>,
    /// Those that the server ran, whose ids are unique.
    ran: HashSet<String>,
}

/// Why an item cannot follow the earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(super) enum PairingError {
    #[error("was used by an earlier call that has no output yet; give each call an id of its own")]
    IdUsed,
    #[error("was answered before")]
    AnsweredBefore,
    #[error("answers no earlier call; put the call before its output")]
    NoCall,
}

impl CallOutputs {
    /// Adds a call; one that was run by the server is answered already. Clients that number the calls of each turn use an id
    /// again, once it is answered.
    pub(super) fn call(&mut self, id: &str, answered: bool) -> Result<(), PairingError> {
        if self.answered.get(id) == Some(&false)
            || self.ran.contains(id)
            || (answered && self.answered.contains_key(id))
        {
            return Err(PairingError::IdUsed);
        }
        if answered {
            self.ran.insert(id.to_owned());
        }
        self.answered.insert(id.to_owned(), answered);
        Ok(())
    }

    /// Adds the output of a call.
    pub(super) fn output(&mut self, call_id: &str) -> Result<(), PairingError> {
        match self.answered.get_mut(call_id) {
            None => Err(PairingError::NoCall),
            Some(true) => Err(PairingError::AnsweredBefore),
            Some(answered) => {
                *answered = true;
                Ok(())
            }
        }
    }

    /// Whether a call waits for its output.
    pub(super) fn awaits(&self, call_id: &str) -> bool {
        self.answered.get(call_id) == Some(&false)
    }

    /// The ids of all calls.
    pub(super) fn into_ids(self) -> Vec<String> {
        self.answered.into_keys().collect()
    }

    /// Adds an item of any kind; an error comes with the field and the id that do not fit.
    fn add(&mut self, item: &Value) -> Result<(), (&'static str, String, PairingError)> {
        let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
        let (field, id) = match text("type") {
            "mcp_call" => ("id", call_id_of(text("id"))),
            _ => ("call_id", text("call_id").to_owned()),
        };
        let added = match text("type") {
            "function_call" | "custom_tool_call" => self.call(&id, false),
            "function_call_output" | "custom_tool_call_output" => self.output(&id),
            "mcp_call" => self.call(&id, true),
            _ => Ok(()),
        };
        added.map_err(|error| (field, id, error))
    }
}

impl PairingError {
    /// The refusal of the id at this place.
    pub(super) fn at(self, place: &str, id: &str) -> BadRequest {
        let code = match self {
            Self::IdUsed => "duplicate_tool_call_id",
            Self::AnsweredBefore | Self::NoCall => "invalid_tool_call_id",
        };
        BadRequest::at(place, code, format!("{place} {id:?} {self}"))
    }
}

/// The call id of an `mcp_call` item. For a call that was run here it has the same letters as the item id; for one that was run
/// elsewhere it is the item id, which no call of the client's functions has.
#[must_use]
pub fn call_id_of(item_id: &str) -> String {
    let own = item_id.strip_prefix("mcp_").and_then(|letters| CallId::accept(&format!("call_{letters}")));
    own.map_or_else(|| item_id.to_owned(), |id| id.to_string())
}

/// Refuses new items that cannot follow the earlier ones, by their places in `items` and all under one code.
pub fn check_call_outputs(new: &[Value], earlier: &[Value]) -> Result<(), BadRequest> {
    let mut calls = CallOutputs::default();
    for item in earlier {
        // An earlier item that does not fit is stored already, and is left out of every turn.
        let _ = calls.add(item);
    }
    for (number, item) in new.iter().enumerate() {
        calls.add(item).map_err(|(field, id, error)| {
            let refusal = error.at(&format!("items[{number}].{field}"), &id);
            BadRequest { code: "invalid_tool_call_id", ..refusal }
        })?;
    }
    Ok(())
}

/// The items without those that cannot follow the others.
#[must_use]
pub fn drop_unpaired(mut items: Vec<Value>) -> Vec<Value> {
    let mut calls = CallOutputs::default();
    items.retain(|item| calls.add(item).is_ok());
    items
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

    /// Earlier items, new items, and the place of the one that is refused.
    #[test]
    fn an_item_that_does_not_fit_is_refused_by_its_place() {
        let said = json!({"type": "message", "role": "user", "content": []});
        let letters = "Ab3".repeat(8);
        let (own_item, own_call) = (format!("mcp_{letters}"), format!("call_{letters}"));
        let table = [
            (vec![], vec![said.clone(), call("a"), output("a")], None),
            (vec![call("a")], vec![said.clone(), output("a")], None),
            (vec![output("a")], vec![call("a"), output("a")], None),
            (vec![], vec![said, output("a")], Some(("items[1].call_id", "invalid_tool_call_id"))),
            (vec![], vec![output("a"), call("a")], Some(("items[0].call_id", "invalid_tool_call_id"))),
            (vec![call("a"), output("a")], vec![output("a")], Some(("items[0].call_id", "invalid_tool_call_id"))),
            (vec![call("a"), output("a")], vec![call("a"), output("a")], None),
            (vec![call("a")], vec![call("a")], Some(("items[0].call_id", "invalid_tool_call_id"))),
            (vec![ran("mcp_a")], vec![ran("mcp_a")], Some(("items[0].id", "invalid_tool_call_id"))),
            (
                vec![ran(&own_item)],
                vec![call("call_b"), call(&own_call)],
                Some(("items[1].call_id", "invalid_tool_call_id")),
            ),
            (vec![ran(&own_item)], vec![output(&own_call)], Some(("items[0].call_id", "invalid_tool_call_id"))),
            (vec![call(&own_call)], vec![ran(&own_item)], Some(("items[0].id", "invalid_tool_call_id"))),
            (vec![ran("mcp_a")], vec![ran("mcp_a")], Some(("items[0].id", "invalid_tool_call_id"))),
            // Calls that were run elsewhere take no ids of the client's calls.
            (vec![ran("mcp_a")], vec![call("call_a"), output("call_a")], None),
            (vec![call("call_a")], vec![ran("mcp_a"), output("call_a")], None),
        ];
        for (earlier, new, place) in table {
            let refused = check_call_outputs(&new, &earlier).err();
            let refused = refused.as_ref().map(|refusal| (refusal.param.as_deref().unwrap(), refusal.code));
            assert_eq!(refused, place, "{earlier:?} {new:?}");
        }
    }

    #[test]
    fn an_item_that_does_not_fit_is_dropped() {
        let items = vec![output("a"), call("a"), output("a"), output("a"), call("a"), call("b"), output("c")];
        assert_eq!(drop_unpaired(items), [call("a"), output("a"), call("a"), call("b")]);
        let foreign = vec![ran("mcp_a"), call("call_a"), output("call_a")];
        assert_eq!(drop_unpaired(foreign.clone()), foreign);
    }
}
