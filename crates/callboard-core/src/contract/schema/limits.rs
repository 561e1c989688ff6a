//! How large the schemas of a request may be, and how much work validation may take.

/// Limits of the tools of one request, and of its response format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchemaLimits {
    /// Tools per request.
    pub tools: usize,
    /// Nesting of one schema, with references followed.
    pub depth: usize,
    /// Properties of one schema, all levels together.
    pub properties: usize,
    /// JSON values in all schemas together.
    pub nodes: usize,
    /// Enum values in all schemas together.
    pub enum_values: usize,
    /// Patterns in all schemas together.
    pub patterns: usize,
    /// Compiled size of all patterns together, estimated.
    pub pattern_bytes: usize,
    /// Work of checking the calls of one turn, in visits of a schema to a value.
    pub validation_steps: u64,
}

impl Default for SchemaLimits {
    fn default() -> Self {
        Self {
            tools: 128,
            depth: 32,
            properties: 1000,
            nodes: 50_000,
            enum_values: 10_000,
            patterns: 500,
            pattern_bytes: 4 << 20,
            validation_steps: 2_000_000,
        }
    }
}
