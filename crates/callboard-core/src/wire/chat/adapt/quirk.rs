//! What a model server is known not to take, or to take only in a form of its own.

use std::fmt;

/// One thing that requests to a server are adapted to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quirk {
    /// No native tools: they go into the prompt.
    Tools,
    /// `tool_choice` cannot force a call.
    ToolChoice,
    /// `parallel_tool_calls` is refused.
    ParallelToolCalls,
    /// `strict` is refused in tools.
    Strict,
    /// `stream_options` is refused.
    StreamOptions,
    /// `response_format` is refused: it goes into the prompt.
    ResponseFormat,
    /// Of the response formats only `json_schema` is taken.
    JsonObject,
    /// A schema is taken only as `{"type": "json_object", "schema": …}`.
    SchemaInJsonObject,
    /// There is no `developer` role.
    DeveloperRole,
    /// There is no `system` role.
    SystemRole,
    /// One system message first, then user and assistant strictly in turn.
    Alternation,
    /// A user may not speak directly behind the result of a call.
    UserAfterTool,
    /// Content may not be null or missing.
    NullContent,
    /// Content may not be an empty string.
    EmptyContent,
    /// Content must be a string, not a list of parts.
    ContentParts,
    /// Ids of calls must be nine letters or digits.
    ShortCallIds,
    /// Ids of calls are `functions.NAME:NUMBER`. No server refuses others, but Kimi's models lose their way with them.
    IndexedCallIds,
    /// `max_completion_tokens` is refused: it is called `max_tokens`.
    MaxCompletionTokens,
    /// `max_tokens` is refused: it is called `max_completion_tokens`.
    MaxTokens,
    /// Another field of the request is refused.
    Field(String),
    /// A field of messages is refused.
    MessageField(String),
}

impl Quirk {
    /// Those that name no field.
    const UNNAMED: [Self; 19] = [
        Self::Tools,
        Self::ToolChoice,
        Self::ParallelToolCalls,
        Self::Strict,
        Self::StreamOptions,
        Self::ResponseFormat,
        Self::JsonObject,
        Self::SchemaInJsonObject,
        Self::DeveloperRole,
        Self::SystemRole,
        Self::Alternation,
        Self::UserAfterTool,
        Self::NullContent,
        Self::EmptyContent,
        Self::ContentParts,
        Self::ShortCallIds,
        Self::IndexedCallIds,
        Self::MaxCompletionTokens,
        Self::MaxTokens,
    ];

    /// The quirk that is shown so.
    #[must_use]
    pub fn read(shown: &str) -> Option<Self> {
        match shown.split_once(':') {
            Some(("field", name)) => Some(Self::Field(name.to_owned())),
            Some(("message_field", name)) => Some(Self::MessageField(name.to_owned())),
            _ => Self::UNNAMED.into_iter().find(|quirk| quirk.as_str() == shown),
        }
    }

    /// The kind in one word, for metrics.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::ToolChoice => "tool_choice",
            Self::ParallelToolCalls => "parallel_tool_calls",
            Self::Strict => "strict",
            Self::StreamOptions => "stream_options",
            Self::ResponseFormat => "response_format",
            Self::JsonObject => "json_object",
            Self::SchemaInJsonObject => "schema_in_json_object",
            Self::DeveloperRole => "developer_role",
            Self::SystemRole => "system_role",
            Self::Alternation => "alternation",
            Self::UserAfterTool => "user_after_tool",
            Self::NullContent => "null_content",
            Self::EmptyContent => "empty_content",
            Self::ContentParts => "content_parts",
            Self::ShortCallIds => "short_call_ids",
            Self::IndexedCallIds => "indexed_call_ids",
            Self::MaxCompletionTokens => "max_completion_tokens",
            Self::MaxTokens => "max_tokens",
            Self::Field(_) => "field",
            Self::MessageField(_) => "message_field",
        }
    }
}

/// The kind, and the field where one is named: `field:logit_bias`.
impl fmt::Display for Quirk {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) | Self::MessageField(name) => write!(formatter, "{}:{name}", self.as_str()),
            _ => formatter.write_str(self.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quirks_are_read_as_they_are_shown() {
        let named = [Quirk::Field("a:b".to_owned()), Quirk::MessageField("name".to_owned())];
        for quirk in Quirk::UNNAMED.into_iter().chain(named) {
            assert_eq!(Quirk::read(&quirk.to_string()), Some(quirk));
        }
        assert_eq!(Quirk::read("unheard_of"), None);
    }

    #[test]
    fn fields_are_shown_by_name() {
        assert_eq!(Quirk::Tools.to_string(), "tools");
        assert_eq!(Quirk::Field("logit_bias".to_owned()).to_string(), "field:logit_bias");
        assert_eq!(Quirk::MessageField("name".to_owned()).as_str(), "message_field");
    }
}
