//! Tokens spent: the model server's own numbers, added up over all requests of one turn.

use serde_json::{Map, Value};

/// Token counts of a reply. Details that a server adds are kept from its last reply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usage {
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
    /// Everything else the server said about usage, word for word.
    pub details: Map<String, Value>,
    /// True when the server gave no numbers and these are Callboard's guess.
    pub estimated: bool,
}

impl Usage {
    /// The sum that the wire formats ask for.
    #[must_use]
    pub fn total_tokens(&self) -> u64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }

    /// A rough guess for servers that count nothing: about four bytes to a token.
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

    /// Adds what a further request of the same turn spent.
    pub fn add(&mut self, other: Self) {
        self.prompt_tokens = self.prompt_tokens.saturating_add(other.prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(other.completion_tokens);
        self.details = other.details;
        self.estimated |= other.estimated;
    }
}
