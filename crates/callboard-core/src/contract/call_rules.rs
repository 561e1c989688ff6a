//! How many calls a reply may and must hold, and of which tools: `tool_choice` and `parallel_tool_calls` together.

/// What the client's `tool_choice` and `parallel_tool_calls` allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRules {
    /// The only names allowed; none means every tool on offer.
    pub allowed: Option<Vec<String>>,
    /// At least one call is required.
    pub required: bool,
    /// No call is allowed.
    pub forbidden: bool,
    /// Several calls are allowed.
    pub parallel: bool,
}

impl Default for CallRules {
    fn default() -> Self {
        Self { allowed: None, required: false, forbidden: false, parallel: true }
    }
}

impl CallRules {
    /// Whether `tool_choice` allows this tool.
    #[must_use]
    pub fn allows(&self, name: &str) -> bool {
        !self.forbidden && self.allowed.as_ref().is_none_or(|names| names.iter().any(|n| n == name))
    }
}
