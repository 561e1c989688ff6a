//! Turns as tables: events, transcript and tool choices of each.

use callboard_core::contract::CallRules;
use callboard_core::model::Item;
use callboard_core::turn::{CharacterRules, Ending, Event, ToolChoice};

use crate::script::{Play, Played};

/// The events and the ending, one per line.
fn events(played: &Played) -> Vec<String> {
    let mut events: Vec<String> = played.events.iter().map(event).collect();
    events.push(match &played.ending {
        Some(Ending::Complete { finish, usage }) => {
            let usage = usage.as_ref().map(|usage| usage.prompt_tokens).unwrap_or_default();
            format!("{} {usage}", finish.as_word())
        }
        Some(Ending::Failed(violation)) => format!("failed {}", violation.kind.code()),
        None => "interrupted".to_owned(),
    });
    events
}

fn event(event: &Event) -> String {
    match event {
        Event::Text(text) => format!("text {}", text.trim()),
        Event::RunsTool(call) => format!("runs {}", call.name),
        Event::RanTool(result) => result.text.split(['-', '.']).next().unwrap_or_default().trim().to_owned(),
        Event::Call(call) => format!("call {} {}", call.name, call.arguments.as_str()),
        other => format!("{other:?}"),
    }
}

/// The transcript in short: calls by name, `=` for a result, `?` for a remark.
fn transcript(played: &Played) -> String {
    let item = |item: &Item| match item {
        Item::Assistant { text, calls } => {
            let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
            format!("{text}[{}]", names.join(","))
        }
        Item::ToolResult { text, .. } => format!("={}", text.split_whitespace().next().unwrap_or_default()),
        Item::Remark(_) => "?".to_owned(),
    };
    played.transcript.iter().map(item).collect::<Vec<_>>().join(" ")
}

fn choices(played: &Played) -> Vec<String> {
    let choice = |choice: &ToolChoice| match choice {
        ToolChoice::Only(names) => format!("only {}", names.join(",")),
        other => format!("{other:?}"),
    };
    played.asks.iter().skip(1).map(|ask| choice(&ask.choice)).collect()
}

/// One turn and its expected outcome.
pub(crate) struct Row<'a> {
    pub(crate) about: &'a str,
    pub(crate) play: Play,
    pub(crate) events: &'a [&'a str],
    pub(crate) transcript: &'a str,
    pub(crate) choices: &'a [&'a str],
}

pub(crate) fn check(rows: &[Row<'_>]) {
    for row in rows {
        let played = row.play.play();
        assert_eq!(events(&played), row.events, "{}", row.about);
        assert_eq!(transcript(&played), row.transcript, "{}", row.about);
        assert_eq!(choices(&played), row.choices, "{}", row.about);
    }
}

#[test]
fn calls_of_both_kinds_in_one_reply() {
    check(&[
        Row {
            about: "the character's alone",
            play: Play::new(&["I roll. | roll:1", "Five."]),
            events: &["text I roll.", "runs roll", "roll ran", "text Five.", "stop 4"],
            transcript: "I roll.[roll] =roll Five.[]",
            choices: &["AsRequested"],
        },
        Row {
            about: "the client's alone: nothing is run here",
            play: Play::new(&["Look. | show:1 save:2"]),
            events: &["text Look.", "call show {\"n\":1}", "call save {\"n\":2}", "tool_calls 2"],
            transcript: "Look.[show,save]",
            choices: &[],
        },
        Row {
            about: "both: the character's run first, and each keeps its order",
            play: Play::new(&["| show:1 roll:2 save:3 look:4"]),
            events: &[
                "runs roll",
                "runs look",
                "roll ran",
                "look ran",
                "call show {\"n\":1}",
                "call save {\"n\":3}",
                "tool_calls 2",
            ],
            transcript: "[show,roll,save,look] =roll =look",
            choices: &[],
        },
        Row {
            about: "one kind after the other; usage is the sum",
            play: Play::new(&["| roll:1", "Now you. | show:1"]),
            events: &["runs roll", "roll ran", "text Now you.", "call show {\"n\":1}", "tool_calls 4"],
            transcript: "[roll] =roll Now you.[show]",
            choices: &["AsRequested"],
        },
        Row {
            about: "a repair is made for the client as for the character",
            play: Play::new(&["| functions.Show:\"1\" ROLL:\"2\""]),
            events: &["runs roll", "roll ran", "call show {\"n\":1}", "tool_calls 2"],
            transcript: "[show,roll] =roll",
            choices: &[],
        },
    ]);
}

#[test]
fn broken_calls_are_answered_with_their_error() {
    check(&[
        Row {
            about: "a broken call of the client's tool goes back to the model",
            play: Play::new(&["| show:x", "| show:1"]),
            events: &["Error: Invalid JSON arguments", "call show {\"n\":1}", "tool_calls 4"],
            transcript: "[show] =Error: [show]",
            choices: &["AsRequested"],
        },
        Row {
            about: "beside a call that is run here",
            play: Play::new(&["| show:[] roll:1", "done"]),
            events: &["runs roll", "Error: Invalid parameters", "roll ran", "text done", "stop 4"],
            transcript: "[show,roll] =Error: =roll done[]",
            choices: &["AsRequested"],
        },
    ]);
}

#[test]
fn limits_hold_for_both_kinds() {
    let most = |most: u64, replies: &[&str]| {
        let play = Play::new(replies);
        Play { stage: CharacterRules { most_calls: Some(most), ..play.stage.clone() }, ..play }
    };
    let alone = |play: Play| Play { stage: CharacterRules { client_tools: Vec::new(), ..play.stage.clone() }, ..play };
    let single =
        |replies: &[&str]| Play { rules: CallRules { parallel: false, ..CallRules::default() }, ..Play::new(replies) };
    let rounds = |rounds: u32, replies: &[&str]| {
        let play = Play::new(replies);
        Play { stage: CharacterRules { rounds, ..play.stage.clone() }, ..play }
    };
    let limit = "Error: the limit of 1 tool calls for this response is used up";
    check(&[
        Row {
            about: "calls beyond the limit are not run; the client's tools stay on offer",
            play: most(1, &["| roll:1 roll:2", "| roll:3", "| show:1"]),
            events: &["runs roll", "roll ran", limit, limit, "call show {\"n\":1}", "tool_calls 6"],
            transcript: "[roll,roll] =roll =Error: [roll] =Error: [show]",
            choices: &["only show,save", "only show,save"],
        },
        Row {
            about: "without tools of the client, an answer is due",
            play: alone(most(1, &["| roll:1 roll:2", "Well."])),
            events: &["runs roll", "roll ran", limit, "text Well.", "stop 4"],
            transcript: "[roll,roll] =roll =Error: Well.[]",
            choices: &["WithoutTools"],
        },
        Row {
            about: "a model that calls all the same and says nothing is asked for words",
            play: alone(most(1, &["| roll:1", "| roll:2", "Well. | roll:3"])),
            events: &["runs roll", "roll ran", "text Well.", "stop 6"],
            transcript: "[roll] =roll ? Well.[]",
            choices: &["WithoutTools", "WithoutTools"],
        },
        Row {
            about: "but only once",
            play: alone(most(1, &["| roll:1", "| roll:2", "| roll:3"])),
            events: &["runs roll", "roll ran", "stop 6"],
            transcript: "[roll] =roll ?",
            choices: &["WithoutTools", "WithoutTools"],
        },
        Row {
            about: "the client's calls do not count",
            play: most(1, &["| show:1 roll:1 save:1"]),
            events: &["runs roll", "roll ran", "call show {\"n\":1}", "call save {\"n\":1}", "tool_calls 2"],
            transcript: "[show,roll,save] =roll",
            choices: &[],
        },
        Row {
            about: "one call per reply, run here or by the client",
            play: single(&["| roll:1 show:1", "| show:2 roll:2"]),
            events: &["runs roll", "roll ran", "call show {\"n\":2}", "tool_calls 4"],
            transcript: "[roll] =roll [show]",
            choices: &["AsRequested"],
        },
        Row {
            about: "one call a reply, and it is broken",
            play: single(&["| show:x show:1", "| show:2"]),
            events: &["Error: Invalid JSON arguments", "call show {\"n\":2}", "tool_calls 4"],
            transcript: "[show] =Error: [show]",
            choices: &["AsRequested"],
        },
        Row {
            about: "rounds used up: no calls of either kind",
            play: rounds(1, &["| roll:1", "Well. | roll:2 show:1"]),
            events: &["runs roll", "roll ran", "text Well.", "stop 4"],
            transcript: "[roll] =roll Well.[]",
            choices: &["WithoutTools"],
        },
        Row {
            about: "the time is over, but the client's calls were made in time",
            play: Play { late_after: Some(0), ..Play::new(&["| roll:1 show:1"]) },
            events: &["runs roll", "roll ran", "call show {\"n\":1}", "tool_calls 2"],
            transcript: "[roll,show] =roll",
            choices: &[],
        },
        Row {
            about: "the time is over",
            play: Play { late_after: Some(0), ..Play::new(&["| roll:1", "Late. | show:1"]) },
            events: &["runs roll", "roll ran", "text Late.", "stop 4"],
            transcript: "[roll] =roll Late.[]",
            choices: &["WithoutTools"],
        },
    ]);
}

#[test]
fn tool_choice_holds_for_the_turn_as_a_whole() {
    let chosen = |rules: CallRules, replies: &[&str]| Play { rules, ..Play::new(replies) };
    let required = || CallRules { required: true, ..CallRules::default() };
    let named = || CallRules { required: true, allowed: Some(vec!["show".to_owned()]), ..CallRules::default() };
    let none = || CallRules { forbidden: true, ..CallRules::default() };
    check(&[
        Row {
            about: "a call was due and made, so the next reply may be words",
            play: chosen(required(), &["| roll:1", "Five."]),
            events: &["runs roll", "roll ran", "text Five.", "stop 4"],
            transcript: "[roll] =roll Five.[]",
            choices: &["only roll,look,show,save"],
        },
        Row {
            about: "a call was due and is asked for once",
            play: chosen(required(), &["Hm.", "| show:1"]),
            events: &["text Hm.", "call show {\"n\":1}", "tool_calls 4"],
            transcript: "Hm.[] ? [show]",
            choices: &["Required"],
        },
        Row {
            about: "a call was due and never came",
            play: chosen(named(), &["Hm.", "No."]),
            events: &["text Hm.", "text No.", "failed tool_choice_unmet"],
            transcript: "Hm.[] ? No.[]",
            choices: &["Force(\"show\")"],
        },
        Row {
            about: "another tool than the one that is due",
            play: chosen(named(), &["| roll:1", "| show:1"]),
            events: &["Error: Unknown tool: roll", "call show {\"n\":1}", "tool_calls 4"],
            transcript: "[roll] =Error: [show]",
            choices: &["AsRequested"],
        },
        Row {
            about: "a cut reply is asked for its call",
            play: {
                let mut play = chosen(required(), &["Hm", "| show:1"]);
                play.replies[0].cut = true;
                play
            },
            events: &["text Hm", "call show {\"n\":1}", "tool_calls 4"],
            transcript: "Hm[] ? [show]",
            choices: &["Required"],
        },
        Row {
            about: "no call may come",
            play: chosen(none(), &["| roll:1 show:1", "Fine."]),
            events: &["Error: Unknown tool: roll", "Error: Unknown tool: show", "text Fine.", "stop 4"],
            transcript: "[roll,show] =Error: =Error: Fine.[]",
            choices: &["WithoutTools"],
        },
    ]);
}

#[test]
fn characters_that_act_and_turns_that_are_interrupted() {
    let acts = |replies: &[&str]| {
        let play = Play::new(replies);
        Play { stage: CharacterRules { delivers_text: false, asks_again: true, ..play.stage.clone() }, ..play }
    };
    let confirms = |replies: &[&str]| {
        let play = acts(replies);
        Play { stage: CharacterRules { confirms: true, ..play.stage.clone() }, ..play }
    };
    check(&[
        Row {
            about: "talk is not delivered; a call is asked for, which the client may run",
            play: acts(&["Hm.", "| show:1"]),
            events: &["call show {\"n\":1}", "tool_calls 4"],
            transcript: "[show]",
            choices: &["AsRequested"],
        },
        Row {
            about: "talk is asked again once",
            play: acts(&["Hm.", "No."]),
            events: &["stop 4"],
            transcript: "",
            choices: &["AsRequested"],
        },
        Row {
            about: "text beside and after calls is not delivered",
            play: acts(&["Go. | roll:1", "Five."]),
            events: &["runs roll", "roll ran", "stop 4"],
            transcript: "[roll] =roll",
            choices: &["AsRequested"],
        },
        Row { about: "silence is an answer", play: acts(&[""]), events: &["stop 2"], transcript: "", choices: &[] },
        Row {
            about: "calls that succeed end the turn with a confirmation",
            play: confirms(&["| roll:1 look:2"]),
            events: &["runs roll", "runs look", "roll ran", "look ran", "text roll ran. look ran.", "stop 2"],
            transcript: "[roll,look] =roll =look roll ran. look ran.[]",
            choices: &[],
        },
        Row {
            about: "a call that fails goes back to the model",
            play: confirms(&["| roll:[] look:2", "| roll:1"]),
            events: &[
                "runs look",
                "Error: Invalid parameters",
                "look ran",
                "runs roll",
                "roll ran",
                "text roll ran.",
                "stop 4",
            ],
            transcript: "[roll,look] =Error: =look [roll] =roll roll ran.[]",
            choices: &["AsRequested"],
        },
        Row {
            about: "what did not run is cancelled, the client's calls too",
            play: Play { interrupted_in: Some(0), ..Play::new(&["Go. | show:1 roll:1 look:[] roll:2"]) },
            events: &["text Go.", "runs roll", "runs roll", "interrupted"],
            transcript: "Go.[show,roll,look,roll] =Error: =roll =Error: =Error:",
            choices: &[],
        },
    ]);
}

#[test]
fn what_was_done_is_reported() {
    let single = CallRules { parallel: false, ..CallRules::default() };
    let limited = CharacterRules { most_calls: Some(0), ..Play::new(&[]).stage };
    let table = [
        (Play::new(&["| show:[] roll:1"]), "reasked=invalid_tool_arguments"),
        (Play::new(&["| show:[] save:1"]), "reasked=invalid_tool_arguments"),
        (Play { late_after: Some(0), ..Play::new(&["| show:[] save:1 roll:1"]) }, "refused=invalid_tool_arguments"),
        (Play { rules: single, ..Play::new(&["| show:1 roll:1"]) }, "parallel_tool_calls"),
        (Play { stage: limited, ..Play::new(&["| roll:1 show:1"]) }, "refused=max_tool_calls"),
    ];
    for (play, expected) in table {
        let report = play.play().report;
        assert!(report.contains(expected), "{report} lacks {expected}: {play:?}");
    }
}
