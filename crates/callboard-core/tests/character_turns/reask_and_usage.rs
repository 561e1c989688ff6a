//! Further requests to the model: valid calls that wait for broken ones, and the token limit over all rounds.

use callboard_core::turn::CharacterRules;

use crate::rows::{Row, check};
use crate::script::Play;

#[test]
fn valid_calls_of_the_client_wait_for_their_broken_siblings() {
    let invalid = "Error: Invalid parameters";
    let rounds = |rounds: u32, replies: &[&str]| {
        let play = Play::new(replies);
        Play { stage: CharacterRules { rounds, ..play.stage.clone() }, ..play }
    };
    check(&[
        Row {
            about: "what is mended takes the place of what was broken",
            play: Play::new(&["| show:1 save:[] roll:1 show:3", "| save:2"]),
            events: &[
                "runs roll",
                invalid,
                "roll ran",
                "call show {\"n\":1}",
                "call save {\"n\":2}",
                "call show {\"n\":3}",
                "tool_calls 4",
            ],
            transcript: "[save,roll] =Error: =roll [show,save,show]",
            choices: &["AsRequested"],
        },
        Row {
            about: "calls that the model repeats go out once, and tools may run again",
            play: Play::new(&["| show:1 save:[]", "| show:1 roll:1 save:2"]),
            events: &[invalid, "runs roll", "roll ran", "call show {\"n\":1}", "call save {\"n\":2}", "tool_calls 4"],
            transcript: "[save] =Error: [roll,show,save] =roll",
            choices: &["AsRequested"],
        },
        Row {
            about: "a model that reads its errors and lets the calls be",
            play: Play::new(&["| show:1 save:[] fly:1", "Never mind."]),
            events: &[invalid, "Error: Unknown tool: fly", "text Never mind.", "call show {\"n\":1}", "tool_calls 4"],
            transcript: "[save,fly] =Error: =Error: Never mind.[show]",
            choices: &["AsRequested"],
        },
        Row {
            about: "a call that is broken again is asked for again",
            play: Play::new(&["| show:1 save:[]", "| save:x", "| save:2"]),
            events: &[
                invalid,
                "Error: Invalid JSON arguments",
                "call show {\"n\":1}",
                "call save {\"n\":2}",
                "tool_calls 6",
            ],
            transcript: "[save] =Error: [save] =Error: [show,save]",
            choices: &["AsRequested", "AsRequested"],
        },
        Row {
            about: "rounds used up: the valid one goes out alone",
            play: rounds(2, &["| show:1 save:[]", "| save:[]"]),
            events: &[invalid, invalid, "call show {\"n\":1}", "tool_calls 4"],
            transcript: "[save] =Error: [save,show] =Error:",
            choices: &["AsRequested"],
        },
        Row {
            about: "the time is over",
            play: Play { late_after: Some(0), ..Play::new(&["| show:1 roll:1 save:[]"]) },
            events: &["runs roll", "roll ran", invalid, "call show {\"n\":1}", "tool_calls 2"],
            transcript: "[show,roll,save] =roll =Error:",
            choices: &[],
        },
        Row {
            about: "interrupted while they wait: they are cancelled",
            play: Play { interrupted_in: Some(0), ..Play::new(&["| show:1 save:[]", "| save:2 roll:1"]) },
            events: &[invalid, "runs roll", "interrupted"],
            transcript: "[show,save] =Error: =Error: [save,roll] =Error: =roll",
            choices: &["AsRequested"],
        },
    ]);
}

#[test]
fn tokens_are_counted_over_all_rounds() {
    let most = |most: u64, replies: &[&str]| Play { most_tokens: Some(most), ..Play::new(replies) };
    let cut = |mut play: Play| {
        play.replies[0].cut = true;
        play
    };
    check(&[
        Row {
            about: "used up by the first reply: its tools run, and that is all",
            play: most(1, &["I roll. | roll:1", "Five."]),
            events: &["text I roll.", "runs roll", "roll ran", "length 2"],
            transcript: "I roll.[roll] =roll",
            choices: &[],
        },
        Row {
            about: "enough for another reply",
            play: most(2, &["| roll:1", "Five."]),
            events: &["runs roll", "roll ran", "text Five.", "stop 4"],
            transcript: "[roll] =roll Five.[]",
            choices: &["AsRequested"],
        },
        Row {
            about: "a reply that was cut off has used them up, whatever the count",
            play: cut(most(9, &["| roll:1", "Five."])),
            events: &["runs roll", "roll ran", "length 2"],
            transcript: "[roll] =roll",
            choices: &[],
        },
        Row {
            about: "nothing left for mending: the client's calls go out",
            play: most(1, &["| show:1 save:[]"]),
            events: &["Error: Invalid parameters", "call show {\"n\":1}", "tool_calls 2"],
            transcript: "[show,save] =Error:",
            choices: &[],
        },
    ]);
    let played = most(3, &["| roll:1", "| roll:2", "Five."]).play();
    assert_eq!(played.asks.iter().map(|ask| ask.tokens_left).collect::<Vec<_>>(), [None, Some(2), Some(1)]);
}
