//! Refusals that are the client's to hear: what was asked cannot be had in any form.

/// Codes of such refusals.
const CODES: [&str; 14] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "model_not_found",
    "invalid_api_key",
    "insufficient_quota",
    "rate_limit_exceeded",
    "content_filter",
    "content_policy_violation",
    "invalid_function_parameters",
    "invalid_json_schema",
    "invalid_image_url",
    "integer_above_max_value",
    "integer_below_min_value",
    "string_above_max_length",
];

/// Words of such refusals.
const WORDS: [&str; 40] = [
    "context length",
    "context window",
    "maximum context",
    "context size",
    "too many tokens",
    "is too long",
    "is too large",
    "reduce the length",
    "reduce your prompt",
    "rate limit",
    "quota",
    "api key",
    "api_key",
    "model not found",
    "does not exist",
    "no such model",
    "unknown model",
    "invalid schema",
    "schema is invalid",
    "invalid json schema",
    "not a valid json schema",
    "failed to convert schema",
    "must contain the word",
    "no function named",
    "not found in the tools",
    "is only allowed when",
    "only be defined when",
    "content policy",
    "content management policy",
    "image",
    "audio",
    "less than or equal",
    "greater than",
    "must be between",
    "out of range",
    "must be positive",
    "must be followed by tool messages",
    "must be a response to a prec",
    "safety system",
    "duplicate",
];

pub(super) fn is_code(code: &str) -> bool {
    CODES.contains(&code)
}

/// Whether words, in small letters, speak of such a mistake.
pub(super) fn is_mistake(words: &str) -> bool {
    WORDS.iter().any(|mistake| words.contains(mistake))
}
