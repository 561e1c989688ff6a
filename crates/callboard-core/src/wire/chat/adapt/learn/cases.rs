//! Refusals as servers word them, and what each must teach.
//!
//! All of them are held against one request that holds nearly everything, so that each has to be understood for what it
//! says; and against one that holds next to nothing, from which nothing may be learned.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Refusal, learn, learn_all};
use crate::wire::chat::adapt::tests::{any_body, any_json};
use crate::wire::chat::adapt::{Family, Quirk, adapt};

const NO_PARAM: Option<&str> = None;

/// A request that holds nearly everything. Messages: 1 has parts, 2 is null beside a call, 3 is empty, 4 is a system message.
fn full() -> Value {
    json!({
        "model": "m", "stream": true, "stream_options": {"include_usage": true}, "max_tokens": 100, "temperature": 0.5,
        "frequency_penalty": 0.0, "logit_bias": {}, "store": false, "thinking": {"type": "enabled"}, "stop": ["x"], "user": "u",
        "reasoning_effort": "low", "n": 1, "maxTokens": 5, "metadata": null, "top_k": 5, "safe_prompt": true,
        "parallel_tool_calls": false, "tool_choice": "required",
        "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": {}}},
        "tools": [{"type": "function", "function": {"name": "f", "strict": true, "parameters": {"type": "object"}}}],
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Hi"}], "name": "Ada"},
            {"role": "assistant", "content": null, "reasoning_content": "Hm.", "tool_calls": [
                {"id": "call_abcdefghijklmnopqrstuvwx", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "call_bbcdefghijklmnopqrstuvwx", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            ]},
            {"role": "tool", "tool_call_id": "call_abcdefghijklmnopqrstuvwx", "content": ""},
            {"role": "system", "content": "Be exact."},
        ],
    })
}

fn bare() -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]})
}

/// A full request without one of its messages' roles.
fn without(role: &str) -> Value {
    let mut body = full();
    body["messages"].as_array_mut().unwrap().retain(|message| message["role"] != role);
    body
}

/// A request of plain words only.
fn plain(roles: &[&str]) -> Value {
    json!({"model": "m", "messages": roles.iter().map(|role| json!({"role": role, "content": "Hi"})).collect::<Vec<_>>()})
}

fn with(body: Value, field: &str, value: Value) -> Value {
    let mut body = body;
    body[field] = value;
    body
}

fn field(name: &str) -> Quirk {
    Quirk::Field(name.to_owned())
}

fn check(rows: &[(u16, &str, Option<&str>, &str, Quirk)]) {
    check_with(&full(), rows);
}

fn check_with(body: &Value, rows: &[(u16, &str, Option<&str>, &str, Quirk)]) {
    for (status, message, param, code, expected) in rows {
        let refusal =
            Refusal { status: *status, message, param: *param, code: Some(*code).filter(|code| !code.is_empty()) };
        assert_eq!(learn(&refusal, body).as_ref(), Some(expected), "{message}");
        assert_eq!(learn(&refusal, &bare()), None, "nothing of it was sent: {message}");
        let mut adapted = body.clone();
        adapt(&mut adapted, &BTreeSet::from([expected.clone()]), Family::Hermes);
        assert_ne!(learn(&refusal, &adapted).as_ref(), Some(expected), "learned again after it was heeded: {message}");
    }
}

#[test]
fn fields() {
    let unsupported = "unsupported_parameter";
    check(&[
        (
            400,
            "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.",
            Some("parallel_tool_calls"),
            unsupported,
            Quirk::ParallelToolCalls,
        ),
        (
            400,
            "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.",
            NO_PARAM,
            "",
            Quirk::ParallelToolCalls,
        ),
        (400, "this model does not support parallel tool calls", NO_PARAM, "", Quirk::ParallelToolCalls),
        (
            422,
            "1 validation error for ChatCompletionRequest\nparallel_tool_calls\n  Extra inputs are not permitted [type=extra_forbidden, input_value=False, input_type=bool]",
            NO_PARAM,
            "",
            Quirk::ParallelToolCalls,
        ),
        (
            422,
            r#"{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted","input":{"include_usage":true}}]}"#,
            NO_PARAM,
            "",
            Quirk::StreamOptions,
        ),
        (
            400,
            "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted', 'input': {'include_usage': True}}]",
            NO_PARAM,
            "400",
            Quirk::StreamOptions,
        ),
        (400, "Unrecognized request argument supplied: stream_options", NO_PARAM, "", Quirk::StreamOptions),
        (400, "stream_options is not supported by this model server", Some("stream_options"), "", Quirk::StreamOptions),
        (
            422,
            r#"[{"loc":["body","logit_bias"],"msg":"extra fields not permitted","type":"value_error.extra"}]"#,
            NO_PARAM,
            "",
            field("logit_bias"),
        ),
        (
            422,
            "{\\\"detail\\\":[{\\\"type\\\":\\\"extra_forbidden\\\",\\\"loc\\\":[\\\"body\\\",\\\"frequency_penalty\\\"],\\\"msg\\\":\\\"Extra inputs are not permitted\\\",\\\"input\\\":0.0}]}",
            NO_PARAM,
            "1000",
            field("frequency_penalty"),
        ),
        (
            422,
            "'type': 'extra_forbidden', 'loc': ('body', 'safe_prompt'), 'msg': 'Extra inputs are not permitted'",
            NO_PARAM,
            "",
            field("safe_prompt"),
        ),
        (400, "property 'store' is unsupported, did you mean 'stop'?", NO_PARAM, "", field("store")),
        (
            400,
            "body.thinking: property 'body.thinking' is unsupported",
            Some("validation_error"),
            "wrong_api_format",
            field("thinking"),
        ),
        (
            400,
            "body.maxTokens: property 'body.maxTokens' is unsupported",
            Some("validation_error"),
            "wrong_api_format",
            field("maxTokens"),
        ),
        (400, "json: unknown field \"reasoning_effort\"", NO_PARAM, "", field("reasoning_effort")),
        (
            422,
            "Failed to deserialize the JSON body into the target type: unknown field `top_k`, expected one of `model`, `messages`, `stop` at line 1 column 80",
            NO_PARAM,
            "",
            field("top_k"),
        ),
        (400, "Unknown parameter: 'thinking'.", Some("thinking"), "unknown_parameter", field("thinking")),
        (400, "Unrecognized request argument supplied: thinking", NO_PARAM, "", field("thinking")),
        (
            400,
            "Completions.create() got an unexpected keyword argument 'reasoning_effort'",
            NO_PARAM,
            "",
            field("reasoning_effort"),
        ),
        (400, "Additional properties are not allowed ('user' was unexpected)", NO_PARAM, "", field("user")),
        (
            400,
            "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
            Some("temperature"),
            "unsupported_value",
            field("temperature"),
        ),
        (
            422,
            r#"{"detail":[{"type":"extra_forbidden","loc":["body","tools",0,"function","strict"],"msg":"Extra inputs are not permitted","input":true}]}"#,
            NO_PARAM,
            "",
            Quirk::Strict,
        ),
        (
            400,
            "Unknown parameter: 'tools[0].function.strict'.",
            Some("tools[0].function.strict"),
            "unknown_parameter",
            Quirk::Strict,
        ),
        (
            400,
            "Invalid JSON payload received. Unknown name \"strict\" at 'tools[0].function': Cannot find field.",
            NO_PARAM,
            "",
            Quirk::Strict,
        ),
        (
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            Some("max_tokens"),
            unsupported,
            Quirk::MaxTokens,
        ),
        (
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            NO_PARAM,
            "invalid_request_body",
            Quirk::MaxTokens,
        ),
    ]);
    check_with(
        &with(bare(), "max_completion_tokens", json!(10)),
        &[
            (
                422,
                r#"{"detail":[{"type":"extra_forbidden","loc":["body","max_completion_tokens"],"msg":"Extra inputs are not permitted","input":32000}]}"#,
                NO_PARAM,
                "",
                Quirk::MaxCompletionTokens,
            ),
            (
                400,
                "max_completion_tokens is not supported, please use max_tokens",
                NO_PARAM,
                "",
                Quirk::MaxCompletionTokens,
            ),
        ],
    );
}

#[test]
fn tools_and_choice() {
    check(&[
        (
            400,
            "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
            NO_PARAM,
            "400",
            Quirk::Tools,
        ),
        (400, "tool_choice=\"required\" requires --tool-call-parser to be set", NO_PARAM, "400", Quirk::Tools),
        (400, "registry.ollama.ai/library/gemma3:12b does not support tools", NO_PARAM, "", Quirk::Tools),
        (500, "tools param requires --jinja flag", NO_PARAM, "500", Quirk::Tools),
        (500, "Unsupported param: tools", NO_PARAM, "500", Quirk::Tools),
        (400, "Cannot use tools with stream", NO_PARAM, "", Quirk::Tools),
        (
            404,
            "No endpoints found that support tool use. To learn more about provider routing, visit the documentation.",
            NO_PARAM,
            "404",
            Quirk::Tools,
        ),
        (400, "Function calling is not supported for this model", Some("tools"), "", Quirk::Tools),
        (
            400,
            "tools is not supported in this model. For a list of supported models see the documentation",
            Some("tools"),
            "",
            Quirk::Tools,
        ),
        (
            422,
            r#"{"detail":[{"type":"extra_forbidden","loc":["body","tools"],"msg":"Extra inputs are not permitted","input":[]}]}"#,
            NO_PARAM,
            "",
            Quirk::Tools,
        ),
        (400, "This model only supports single tool-calls at once!", NO_PARAM, "", Quirk::Tools),
        (
            400,
            "deepseek-reasoner does not support this tool_choice",
            NO_PARAM,
            "invalid_request_error",
            Quirk::ToolChoice,
        ),
        (400, "Thinking mode does not support this tool_choice", NO_PARAM, "invalid_request_error", Quirk::ToolChoice),
        (
            400,
            "<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to required or object in thinking mode",
            NO_PARAM,
            "invalid_parameter_error",
            Quirk::ToolChoice,
        ),
        (
            400,
            "Invalid tool_choice type: 'object'. Supported string values: none, auto, required",
            NO_PARAM,
            "",
            Quirk::ToolChoice,
        ),
        (400, "tool_choice must either be a named tool, \"auto\", or \"none\".", NO_PARAM, "", Quirk::ToolChoice),
        (
            422,
            "Failed to deserialize the JSON body into the target type: tool_choice: unknown variant `required`, expected `auto` or `none` at line 1 column 900",
            NO_PARAM,
            "",
            Quirk::ToolChoice,
        ),
        (
            400,
            "Tool call id was call_abcdefghijklmnopqrstuvwx but must be a-z, A-Z, 0-9, with a length of 9.",
            NO_PARAM,
            "3280",
            Quirk::ShortCallIds,
        ),
        (
            500,
            "Tool call id was call_49c89af0 but must be a-z, A-Z, 0-9, with a length of 9",
            NO_PARAM,
            "",
            Quirk::ShortCallIds,
        ),
        (400, "Tool call IDs should be alphanumeric strings with length 9!", NO_PARAM, "", Quirk::ShortCallIds),
    ]);
    let automatic = with(full(), "tool_choice", json!("auto"));
    check_with(
        &automatic,
        &[(
            422,
            r#"[{"loc":["body","tool_choice"],"msg":"extra fields not permitted"}]"#,
            NO_PARAM,
            "",
            field("tool_choice"),
        )],
    );
}

#[test]
fn formats() {
    check(&[
        (400, "This response_format type is unavailable now", NO_PARAM, "invalid_request_error", Quirk::ResponseFormat),
        (
            422,
            "Failed to deserialize the JSON body into the target type: response_format: response_format.type `json_schema` is unavailable now at line 1 column 12440",
            NO_PARAM,
            "",
            Quirk::ResponseFormat,
        ),
        (
            400,
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model. Learn more about supported models in the guide.",
            Some("response_format"),
            "",
            Quirk::ResponseFormat,
        ),
        (400, "json mode cannot be combined with tool/function calling", NO_PARAM, "", Quirk::ResponseFormat),
        (
            422,
            r#"[{"type":"literal_error","loc":["body","response_format","type"],"msg":"Input should be 'text' or 'json_object'","input":"json_schema"}]"#,
            NO_PARAM,
            "",
            Quirk::ResponseFormat,
        ),
    ]);
    let object = with(full(), "response_format", json!({"type": "json_object"}));
    check_with(
        &object,
        &[
            (400, "'response_format.type' must be 'json_schema' or 'text'", NO_PARAM, "", Quirk::JsonObject),
            (400, "'response_format.type' must be 'json_schema'", NO_PARAM, "", Quirk::JsonObject),
        ],
    );
}

#[test]
fn roles() {
    check(&[
        (
            400,
            "developer is not one of ['system', 'assistant', 'user', 'tool', 'function'] - 'messages.['0].role'",
            NO_PARAM,
            "invalid_parameter_error",
            Quirk::DeveloperRole,
        ),
        (400, "chat template rejected the request: Unexpected message role.", NO_PARAM, "", Quirk::DeveloperRole),
        (
            400,
            "invalid parameter 'messages[0].role': invalid role 'developer', must be one of: system, user, assistant, tool",
            Some(""),
            "400002",
            Quirk::DeveloperRole,
        ),
        (
            422,
            "Failed to deserialize the JSON body into the target type: messages[0].role: unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool` at line 1 column 60",
            NO_PARAM,
            "",
            Quirk::DeveloperRole,
        ),
        (
            422,
            r#"{"errors": [{"loc": ["body", "messages", 0, "role"], "msg": "Input should be 'system', 'user', 'assistant' or 'tool'", "type": "literal_error"}]}"#,
            NO_PARAM,
            "",
            Quirk::DeveloperRole,
        ),
        (
            400,
            "Unsupported value: 'messages[0].role' does not support 'developer' with this model.",
            Some("messages[0].role"),
            "unsupported_value",
            Quirk::DeveloperRole,
        ),
        (400, "Conversation roles must alternate user/assistant/user/assistant/...", NO_PARAM, "400", Quirk::Tools),
    ]);
    check_with(
        &without("developer"),
        &[
            (400, "Only user and assistant roles are supported!", NO_PARAM, "", Quirk::Tools),
            (400, "Only user, assistant and tool roles are supported, got system.", NO_PARAM, "", Quirk::SystemRole),
            (
                422,
                "Template error: invalid operation: Conversation roles must alternate user/assistant/user/assistant/... (in <string>:1)",
                NO_PARAM,
                "",
                Quirk::Tools,
            ),
        ],
    );
    check_with(
        &plain(&["system", "user", "assistant", "user"]),
        &[
            (400, "System role not supported", NO_PARAM, "400", Quirk::SystemRole),
            (400, "Only user and assistant roles are supported!", NO_PARAM, "", Quirk::SystemRole),
            (
                400,
                "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
                Some("messages[0].role"),
                "unsupported_value",
                Quirk::SystemRole,
            ),
            (
                400,
                "Conversation roles must alternate user/assistant/user/assistant/...",
                NO_PARAM,
                "",
                Quirk::SystemRole,
            ),
        ],
    );
    check_with(
        &plain(&["system", "user", "user"]),
        &[
            (
                400,
                "Conversation roles must alternate user/assistant/user/assistant/... Conversation roles must alternate user/assistant/user/assistant/...",
                NO_PARAM,
                "400",
                Quirk::Alternation,
            ),
            (
                500,
                "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.",
                NO_PARAM,
                "500",
                Quirk::Alternation,
            ),
        ],
    );
    check_with(
        &plain(&["user", "system"]),
        &[(400, "System message must be at the beginning.", NO_PARAM, "", Quirk::Alternation)],
    );
}

#[test]
fn contents() {
    check(&[
        (
            400,
            "Invalid value for 'content': expected a string, got null.",
            Some("messages.[2].content"),
            "",
            Quirk::NullContent,
        ),
        (400, "content must not be null", Some("messages.[2].content"), "", Quirk::NullContent),
        (500, "Expected 'content' to be a string or an array", NO_PARAM, "", Quirk::NullContent),
        (400, "Expected 'content' to be a string or an array", NO_PARAM, "", Quirk::NullContent),
        (
            400,
            "Invalid 'content': 'content' field must be a string or an array of objects.",
            NO_PARAM,
            "",
            Quirk::NullContent,
        ),
        (400, "invalid message content type: <nil>", NO_PARAM, "", Quirk::NullContent),
        (
            400,
            "openai-chat: messages[2].content must be a string or an object (was null)",
            NO_PARAM,
            "",
            Quirk::NullContent,
        ),
        (
            422,
            "Failed to deserialize the JSON body into the target type: messages[2]: missing field `content` at line 1 column 235",
            NO_PARAM,
            "",
            Quirk::NullContent,
        ),
        (
            422,
            r#"{"detail":[{"type":"string_type","loc":["body","messages",2,"content"],"msg":"Input should be a valid string","input":null}]}"#,
            NO_PARAM,
            "",
            Quirk::NullContent,
        ),
        (
            422,
            r#"[{"loc":["body","messages",2,"content"],"msg":"none is not an allowed value","type":"type_error.none.not_allowed"}]"#,
            NO_PARAM,
            "",
            Quirk::NullContent,
        ),
        (
            422,
            r#"{"detail":[{"type":"string_type","loc":["body","messages",1,"content"],"msg":"Input should be a valid string","input":[{"type":"text","text":"null"}]}]}"#,
            NO_PARAM,
            "",
            Quirk::ContentParts,
        ),
        (
            400,
            "Failed to deserialize the JSON body into the target type: messages[1].content: invalid type: sequence, expected a string at line 5 column 19",
            NO_PARAM,
            "",
            Quirk::ContentParts,
        ),
        (
            422,
            "Failed to deserialize the JSON body into the target type: messages[1]: invalid type: sequence, expected a string at line 1 column 9340",
            NO_PARAM,
            "",
            Quirk::ContentParts,
        ),
        (
            422,
            "Failed to deserialize the JSON body into the target type: messages[1]: data did not match any variant of untagged enum ChatCompletionRequestContent at line 1 column 72995",
            NO_PARAM,
            "",
            Quirk::ContentParts,
        ),
        (
            400,
            "Invalid type for 'messages[1].content': expected a string, but got an array instead.",
            Some("messages[1].content"),
            "invalid_type",
            Quirk::ContentParts,
        ),
        (
            400,
            "Invalid JSON: [json.exception.type_error.302] type must be string, but is array",
            NO_PARAM,
            "",
            Quirk::ContentParts,
        ),
        (400, "Type mismatch for 'messages.1.content' key, expected 'String' type", NO_PARAM, "", Quirk::ContentParts),
        (
            400,
            "json: cannot unmarshal array into Go struct field Message.content of type string",
            NO_PARAM,
            "",
            Quirk::ContentParts,
        ),
        (400, "messages: text content blocks must be non-empty", NO_PARAM, "", Quirk::EmptyContent),
        (
            400,
            "The content field in the Message object at messages.3 is empty. Add a ContentBlock object to the content field and try again.",
            NO_PARAM,
            "",
            Quirk::EmptyContent,
        ),
        (
            422,
            r#"[{"type":"string_too_short","loc":["body","messages",3,"content"],"msg":"String should have at least 1 character","input":""}]"#,
            NO_PARAM,
            "",
            Quirk::EmptyContent,
        ),
        (
            400,
            "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]",
            NO_PARAM,
            "",
            Quirk::MessageField("reasoning_content".to_owned()),
        ),
        (
            400,
            "messages.2.assistant.reasoning_content: property 'messages.2.assistant.reasoning_content' is unsupported",
            Some("validation_error"),
            "wrong_api_format",
            Quirk::MessageField("reasoning_content".to_owned()),
        ),
        (
            422,
            r#"{"detail":[{"type":"extra_forbidden","loc":["body","messages",1,"user","name"],"msg":"Extra inputs are not permitted","input":"Ada"}]}"#,
            NO_PARAM,
            "",
            Quirk::MessageField("name".to_owned()),
        ),
    ]);
}

/// Mistakes of the client, failures of the server, and words that only sound like something else.
#[test]
fn nothing_is_learned_from_mistakes() {
    let body = full();
    for (status, message, param, code) in [
        (
            400,
            "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
            Some("messages"),
            "context_length_exceeded",
        ),
        (
            400,
            "the request exceeds the available context size. try increasing the context size or enable context shift",
            None,
            "exceed_context_size_error",
        ),
        (400, "Input is too long: 'tools' and 'messages' have 140000 tokens", None, ""),
        (
            422,
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 `max_new_tokens`",
            None,
            "",
        ),
        (404, "The model `m` does not exist or you do not have access to it.", None, "model_not_found"),
        (400, "Invalid model: m", Some("model"), "invalid_model"),
        (
            400,
            "Invalid schema for function 'f': In context=(), 'additionalProperties' is required to be supplied and to be false.",
            Some("tools[0].function.parameters"),
            "invalid_function_parameters",
        ),
        (
            400,
            "Invalid schema for response_format 'answer': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"None\"'.",
            Some("response_format"),
            "",
        ),
        (
            400,
            "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
            Some("tools[0].function.name"),
            "invalid_value",
        ),
        (
            400,
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
            Some("messages"),
            "",
        ),
        (
            400,
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_b",
            Some("messages"),
            "",
        ),
        (
            400,
            "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
            Some("messages.[3].role"),
            "",
        ),
        (
            400,
            "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.",
            Some("max_tokens"),
            "invalid_value",
        ),
        (
            422,
            r#"{"detail":[{"type":"less_than_equal","loc":["body","temperature"],"msg":"Input should be less than or equal to 1.5","input":2}]}"#,
            None,
            "",
        ),
        (400, "temperature must be between 0 and 1", Some("temperature"), ""),
        (
            400,
            "Unsupported value: 'reasoning_effort' does not support 'low' with this model. Supported values are: 'medium'.",
            Some("reasoning_effort"),
            "unsupported_value",
        ),
        (
            400,
            "Invalid content type. image_url is only supported by certain models.",
            Some("messages.[1].content.[0].type"),
            "",
        ),
        (
            400,
            "Invalid value for 'tool_choice': no function named 'g' was specified in the 'tools' parameter.",
            Some("tool_choice"),
            "",
        ),
        (400, "'parallel_tool_calls' is only allowed when 'tools' are specified.", Some("parallel_tool_calls"), ""),
        (
            400,
            "The response was filtered due to the prompt triggering the content management policy.",
            Some("prompt"),
            "content_filter",
        ),
        (
            401,
            "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.",
            Some("parallel_tool_calls"),
            "",
        ),
        (429, "Rate limit reached: 'stream_options' not supported", None, ""),
        (500, "Unsupported parameter: 'stream_options'", Some("stream_options"), ""),
        (500, "Internal Server Error", None, ""),
        (503, "tools param requires --jinja flag", None, ""),
        (400, "", None, ""),
        (400, "Bad Request", None, ""),
        (400, "We could not parse the JSON body of your request.", None, ""),
        (400, "Unknown parameter: 'top_a'.", Some("top_a"), "unknown_parameter"),
        (
            400,
            "Unsupported parameter: 'metadata' is not supported with this model.",
            Some("metadata"),
            "unsupported_parameter",
        ),
        (
            400,
            "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error at line 1, column 10",
            None,
            "",
        ),
        (400, "Stop sequences are not supported in n-best mode with more than one user.", None, ""),
        (400, "No user query found in messages.", None, ""),
        (
            422,
            r#"[{"type":"missing","loc":["body","messages",0,"tool_calls",0,"id"],"msg":"Field required","input":{"content":"Extra inputs are not permitted: stream_options"}}]"#,
            None,
            "",
        ),
    ] {
        let refusal = Refusal { status, message, param, code: Some(code) };
        assert_eq!(learn(&refusal, &body), None, "{message}");
    }
}

#[test]
fn all_fields_of_a_list_are_learned_at_once() {
    let message = r#"{"detail":[
        {"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted","input":{}},
        {"type":"less_than_equal","loc":["body","temperature"],"msg":"Input should be less than or equal to 1"},
        {"type":"extra_forbidden","loc":["body","parallel_tool_calls"],"msg":"Extra inputs are not permitted","input":true},
        {"type":"extra_forbidden","loc":["body","top_k"],"msg":"Extra inputs are not permitted","input":5}]}"#;
    let refusal = Refusal { status: 422, message, ..Refusal::default() };
    let expected = BTreeSet::from([Quirk::StreamOptions, Quirk::ParallelToolCalls, field("top_k")]);
    assert_eq!(learn_all(&refusal, &full()), expected);
    let lines =
        "body.thinking: property 'body.thinking' is unsupported\nbody.top_k: property 'body.top_k' is unsupported";
    let refusal = Refusal { message: lines, param: Some("validation_error"), ..refusal };
    assert_eq!(learn_all(&refusal, &full()), BTreeSet::from([field("thinking"), field("top_k")]));
}

proptest! {
    #[test]
    fn nothing_breaks_it(
        message in "[\\PC\n]{0,80}",
        words in prop::collection::vec(prop::sample::select(vec![
            "'loc': [", "]", "'msg': '", "\"", "messages[", "99999999999999999999", "1", "].content", "null", "not supported",
            "tools", "role", "é", "system", "use max_tokens", "strict", "'", "\\", "must alternate", "\n  ",
        ]), 0..12),
        param in prop::option::of("\\PC{0,20}"),
        body in prop_oneof![any_body(), any_json()],
    ) {
        for message in [message, words.concat(), words.join(" ")] {
            let refusal = Refusal { status: 400, message: &message, param: param.as_deref(), code: None };
            learn_all(&refusal, &body);
        }
    }
}
