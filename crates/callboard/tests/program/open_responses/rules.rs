//! The rules of the specification, and what shows each of them: a test of this suite, or a golden page.
//!
//! Where a rule says `differs`, OpenAI's SDKs expect something else and come first; `docs/responses.md` lists those places. Rules for
//! clients are shown by what Callboard does with such a client. Besides, every golden page runs over this API whole, streamed and
//! on a WebSocket, and checks lifecycles, numbers, ids and `tool_choice`.

const RULES: &[(&str, &[&str])] = &[
    ("requests and replies are HTTP, bodies are JSON", &["a_body_is_json_under_any_type_and_a_form_is_refused"]),
    (
        "what is not streamed is application/json",
        &["errors_have_their_four_fields_and_json_is_what_is_not_streamed", "a_refused_request_is_no_stream"],
    ),
    (
        "streams are text/event-stream; event is the type; no id lines; [DONE] is last",
        &[
            "events_carry_their_names_and_numbers_and_the_end_is_marked",
            "a_failure_ends_with_the_failed_response_and_the_mark",
        ],
    ),
    (
        "a message on a WebSocket is a response.create; stream is ignored, background refused",
        &["a_message_that_is_no_request_gets_an_envelope_and_the_connection_stays"],
    ),
    (
        "one response after the other, with the events of a stream, from the connection's memory",
        &["turns_are_made_one_after_the_other_and_continue_from_memory"],
    ),
    ("several responses at once need several connections", &["connections_are_answered_at_the_same_time"]),
    (
        "an unstored turn continues only what the connection remembers",
        &[
            "an_unstored_turn_continues_from_the_memory_of_its_connection_only",
            "websocket_reconnect_store_false_recovery",
            "websocket_previous_response_not_found",
        ],
    ),
    (
        "a continuation that fails evicts what it named",
        &[
            "a_continuation_that_fails_evicts_what_it_continued",
            "an_evicted_response_that_is_stored_is_loaded_again",
            "websocket_failed_continuation_evicts_cache",
        ],
    ),
    ("a compaction begins a new chain", &["compacted_items_begin_a_new_chain", "websocket_compact_new_chain"]),
    ("a connection ends after its time with an error", &["a_connection_ends_with_an_error_when_its_life_is_over"]),
    (
        "after a disconnect a client continues from what is stored, or sends all",
        &[
            "websocket_reconnect_store_false_recovery",
            "an_unstored_turn_continues_from_the_memory_of_its_connection_only",
        ],
    ),
    (
        "failures on a WebSocket are envelopes (differs once the response has begun)",
        &[
            "a_message_that_is_no_request_gets_an_envelope_and_the_connection_stays",
            "a_failure_after_the_beginning_is_the_failed_response_alone",
        ],
    ),
    (
        "an incomplete item is the last, of an incomplete response",
        &[
            "what_is_cut_off_is_the_last_item_of_an_incomplete_response",
            "a_failure_ends_with_the_failed_response_and_the_mark",
        ],
    ),
    (
        "items begin with their zero values; content is streamed in parts; events are deltas or changes of state",
        &["every_event_fits_its_schema"],
    ),
    ("own items and events have a slug (differs)", &["own_items_and_events_have_the_documented_names_and_fields"]),
    (
        "own items, events and fields are documented",
        &["own_items_and_events_have_the_documented_names_and_fields", "own_fields_of_the_response_are_documented"],
    ),
    (
        "own events leave order and lifecycles alone, and may be ignored",
        &["a_client_that_ignores_own_events_has_the_whole_response"],
    ),
    (
        "previous_response_id brings earlier input and output, in order (differs: not tools and instructions)",
        &["earlier_input_and_output_come_before_the_new_input"],
    ),
    ("tool_choice required and none hold", &["a_call_is_required_or_forbidden_as_asked"]),
    (
        "allowed_tools is enforced while the model sees all; mode may be left out",
        &["allowed_tools_are_enforced_while_the_model_sees_all"],
    ),
    ("truncation", &["nothing_is_truncated"]),
    ("service tiers", &["a_service_tier_is_the_model_servers"]),
    (
        "unknown items are tolerated by clients; as input they are refused, calls of unknown tools passed over",
        &["all_listed_items_and_parts_are_taken", "calls_of_unknown_tools_are_passed_over"],
    ),
    (
        "every item has a type, an id and a known status",
        &["every_kind_of_item_has_a_type_an_id_and_a_status", "every_event_fits_its_schema"],
    ),
    ("an id leads to one item only", &["tests/golden/conversation-item-id-taken.md"]),
    ("a response has its 31 fields", &["every_object_has_every_field"]),
    (
        "events have their fields (differs in the names of reasoning events)",
        &[
            "every_event_fits_its_schema",
            "citations_and_probabilities_have_all_their_fields",
            "the_events_of_a_call_have_its_name",
        ],
    ),
    ("shown values stay inside the schema (differs)", &["values_outside_the_schema_are_shown_as_they_were_sent"]),
    (
        "compaction",
        &[
            "a_conversation_becomes_its_user_messages_and_a_summary",
            "bad_requests_name_their_fields",
            "compact_response",
            "compact_missing_model",
        ],
    ),
    (
        "all listed items and parts are taken as input",
        &["all_listed_items_and_parts_are_taken", "image_input", "assistant_phase_and_response_output_phase_schema"],
    ),
    (
        "errors have their four fields (differs in the words of type)",
        &["errors_have_their_four_fields_and_json_is_what_is_not_streamed"],
    ),
];

const SUITE: [&str; 8] = [
    include_str!("compaction.rs"),
    include_str!("compliance.rs"),
    include_str!("input.rs"),
    include_str!("own_items.rs"),
    include_str!("response_object.rs"),
    include_str!("shown_values.rs"),
    include_str!("sockets.rs"),
    include_str!("streams.rs"),
];

#[test]
fn every_rule_is_shown_by_what_exists() {
    for (rule, shown_by) in RULES {
        assert!(!shown_by.is_empty(), "{rule}");
        for name in *shown_by {
            let page = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(name);
            let test = format!("#[test]\nfn {name}()");
            assert!(SUITE.iter().any(|file| file.contains(&test)) || page.is_file(), "{rule}: {name}");
        }
    }
}
