//! Token usage: the model server's own numbers, summed over all requests of one turn.

use serde_json::{Map, Value};

/// Token counts of a reply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usage {
    /// Input tokens.
    pub prompt_tokens: u64,
    /// Output tokens.
    pub completion_tokens: u64,
    /// The server's other usage fields.
    pub details: Map<String, Value>,
    /// True when the server reported no usage and Callboard estimated it.
    pub estimated: bool,
    /// The service tier that the server reports.
    pub service_tier: Option<String>,
}

impl Usage {
    /// Input plus output tokens.
    #[must_use]
    pub fn total_tokens(&self) -> u64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }

    /// An estimate for servers without usage: about four bytes per token.
    #[must_use]
    pub fn estimate(prompt_bytes: usize, completion_bytes: usize) -> Self {
        let tokens = |bytes: usize| u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX);
        Self {
            prompt_tokens: tokens(prompt_bytes),
            completion_tokens: tokens(completion_bytes),
            estimated: true,
            ..Self::default()
        }
    }

    /// Adds the usage of a further request of the same turn.
    pub fn add(&mut self, other: Self) {
        self.prompt_tokens = self.prompt_tokens.saturating_add(other.prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(other.completion_tokens);
        add_all(&mut self.details, other.details);
        self.estimated |= other.estimated;
        self.service_tier = other.service_tier.or(self.service_tier.take());
    }
}

/// Sums numbers at every level; other values are replaced by the newest.
fn add_all(sums: &mut Map<String, Value>, more: Map<String, Value>) {
    for (key, value) in more {
        match (sums.get_mut(&key), value) {
            (Some(Value::Object(sums)), Value::Object(more)) => add_all(sums, more),
            (Some(sum @ Value::Number(_)), Value::Number(more)) => *sum = added(sum, &more.into()),
            (Some(known), Value::Null) if !known.is_null() => {}
            (_, value) => drop(sums.insert(key, value)),
        }
    }
}

fn added(a: &Value, b: &Value) -> Value {
    match (a.as_u64(), b.as_u64()) {
        (Some(a), Some(b)) => a.saturating_add(b).into(),
        _ => (a.as_f64().unwrap_or_default() + b.as_f64().unwrap_or_default()).into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn usage(details: &Value) -> Usage {
        let details = details.as_object().cloned().unwrap();
        Usage { prompt_tokens: 1, completion_tokens: 2, details, ..Usage::default() }
    }

    #[test]
    fn details_are_summed_on_every_level() {
        let table = [
            (
                json!({"prompt_tokens_details": {"cached_tokens": 3}, "completion_tokens_details": {"reasoning_tokens": 2}}),
                json!({"prompt_tokens_details": {"cached_tokens": 4, "audio_tokens": 1}, "completion_tokens_details": null}),
                json!({"prompt_tokens_details": {"cached_tokens": 7, "audio_tokens": 1},
                    "completion_tokens_details": {"reasoning_tokens": 2}}),
            ),
            (json!({}), json!({"cached": 1}), json!({"cached": 1})),
            (json!({"cached": 1}), json!({}), json!({"cached": 1})),
            (json!({"cost": 0.5, "tier": "a"}), json!({"cost": 1, "tier": "b"}), json!({"cost": 1.5, "tier": "b"})),
            (json!({"n": null}), json!({"n": {"m": 1}}), json!({"n": {"m": 1}})),
        ];
        for (first, second, expected) in table {
            let mut sum = usage(&first);
            sum.add(usage(&second));
            assert_eq!((sum.total_tokens(), Value::Object(sum.details)), (6, expected), "{first} {second}");
        }
    }
}
