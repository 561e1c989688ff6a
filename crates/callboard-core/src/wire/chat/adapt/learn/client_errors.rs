//! Refusals that no other form of the request would cure: the client has to see them.

const CODES: &str = "context_length_exceeded|exceed_context_size_error|model_not_found|invalid_api_key|insufficient_quota|\
    rate_limit_exceeded|content_filter|content_policy_violation|invalid_function_parameters|\
    invalid_json_schema|invalid_image_url|integer_above_max_value|integer_below_min_value|\
    string_above_max_length";

const WORDS: &str = "context length|context window|context size|maximum context|too many tokens|is too long|is too large|\
    reduce the length|reduce your prompt|rate limit|quota|api key|api_key|model not found|does not exist|\
    no such model|unknown model|invalid schema|schema is invalid|json schema|convert schema|\
    must contain the word|no function named|not found in the tools|is only allowed when|\
    only be defined when|content policy|management policy|safety system|image|audio|less than or equal|\
    greater than|must be between|out of range|must be positive|must be followed by tool messages|\
    must be a response to a prec|duplicate";

pub(super) fn is_code(code: &str) -> bool {
    CODES.split('|').any(|own| own == code)
}

/// Whether words, in lower case, speak of such an error.
pub(super) fn is_worded(words: &str) -> bool {
    super::complaint::any(words, WORDS)
}
