//! The exact names and order of events, for one reply of each kind.

use serde_json::{Value, json};

use super::super::Framing;
use super::reply_cases::{cases, folded, stream};

/// What follows `response.created` and `response.in_progress`, without the leading `response.`.
const SEQUENCES: [(&str, &str); 10] = [
    (
        "text",
        "output_item.added content_part.added output_text.delta output_text.delta output_text.done content_part.done \
         output_item.done completed",
    ),
    (
        "thinking",
        "output_item.added content_part.added reasoning_text.delta reasoning_text.delta reasoning_text.done \
         content_part.done output_item.done \
         output_item.added content_part.added output_text.delta output_text.done content_part.done output_item.done \
         completed",
    ),
    (
        "thinking as summary",
        "output_item.added reasoning_summary_part.added reasoning_summary_text.delta reasoning_summary_text.done \
         reasoning_summary_part.done output_item.done \
         output_item.added content_part.added output_text.delta output_text.done content_part.done output_item.done \
         completed",
    ),
    (
        "text and refusal",
        "output_item.added content_part.added output_text.delta output_text.done content_part.done \
         content_part.added refusal.delta refusal.done content_part.done \
         content_part.added output_text.delta output_text.done content_part.done output_item.done completed",
    ),
    (
        "live call",
        "output_item.added function_call_arguments.delta function_call_arguments.delta function_call_arguments.done \
         output_item.done completed",
    ),
    (
        "custom call",
        "output_item.added custom_tool_call_input.delta custom_tool_call_input.done output_item.done completed",
    ),
    (
        "tools run here",
        "output_item.added content_part.added output_text.delta output_text.done content_part.done output_item.done \
         output_item.added mcp_call.in_progress mcp_call_arguments.delta mcp_call_arguments.done \
         output_item.added mcp_call.in_progress mcp_call_arguments.delta mcp_call_arguments.done \
         mcp_call.completed output_item.done mcp_call.failed output_item.done \
         output_item.added content_part.added output_text.delta output_text.delta output_text.done content_part.done \
         output_item.done completed",
    ),
    (
        "cut off",
        "output_item.added content_part.added output_text.delta output_text.done content_part.done output_item.done \
         incomplete",
    ),
    (
        "not kept",
        "output_item.added content_part.added output_text.delta output_text.done content_part.done output_item.done \
         failed",
    ),
    ("failed in text", "output_item.added content_part.added output_text.delta failed"),
];

#[test]
fn events_come_in_this_order() {
    for (name, expected) in SEQUENCES {
        let case = cases().into_iter().find(|case| case.name == name).unwrap();
        let lines = stream(&case, Framing::Lines);
        let names: Vec<String> = lines
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned())
            .collect();
        let short: Vec<&str> = names.iter().map(|name| name.strip_prefix("response.").unwrap_or(name)).collect();
        assert_eq!(short.join(" "), format!("created in_progress {expected}"), "{name}");
        assert!(names.iter().all(|name| name.starts_with("response.")), "{name}");
    }
}

#[test]
fn probabilities_stay_with_their_text() {
    let expected = json!([{"token": "é", "bytes": [195, 169], "logprob": -0.5, "top_logprobs": []}]);
    for name in ["probabilities", "probabilities first"] {
        let case = cases().into_iter().find(|case| case.name == name).unwrap();
        assert_eq!(folded(&case)["output"][0]["content"][0]["logprobs"], expected, "{name}");
    }
}

#[test]
fn tools_run_here_end_with_their_own_status() {
    let table = [("tools run here", ["failed", "completed"]), ("both kinds of calls", ["completed", "completed"])];
    for (name, statuses) in table {
        let case = cases().into_iter().find(|case| case.name == name).unwrap();
        let object = folded(&case);
        let first = usize::from(object["output"][0]["type"] == "message");
        let ended = [&object["output"][first]["status"], &object["output"][first + 1]["status"]];
        assert_eq!(ended, statuses, "{name}");
    }
}
