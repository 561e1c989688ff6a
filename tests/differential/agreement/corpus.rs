//! The texts: every form with all sorts of values, alone, several at once, with words around, damaged, and cut.
//!
//! Nothing is drawn at random, so a case keeps its name, and its judgement, from run to run.

use serde_json::{Value, json};

use crate::family_forms::{Call, FORMS, Form, Oracle};

/// One text.
pub(crate) struct Case {
    /// `family: what is special about it`.
    pub(crate) name: String,
    pub(crate) oracle: Oracle,
    pub(crate) text: String,
    /// The words in it that are for the user.
    pub(crate) words: String,
    /// The token limit cut it.
    pub(crate) cut: bool,
}

/// The tools on offer.
pub(crate) fn tools() -> Value {
    let function = |name: &str, parameters: Value| json!({"type": "function", "function": {"name": name, "parameters": parameters}});
    json!([
        function(
            "get_weather",
            json!({"type": "object", "required": ["city"], "properties": {
                "city": {"type": "string"}, "days": {"type": "integer"}, "metric": {"type": "boolean"},
                "hours": {"type": "array", "items": {"type": "integer"}}, "place": {"type": "object"}, "height": {"type": "number"}}})
        ),
        function("list_files", json!({"type": "object", "properties": {}})),
    ])
}

fn weather(arguments: Vec<(&'static str, Value)>) -> Call {
    Call { name: "get_weather", arguments }
}

fn files() -> Call {
    Call { name: "list_files", arguments: Vec::new() }
}

/// The arguments of a call.
fn values() -> Vec<(&'static str, Vec<(&'static str, Value)>)> {
    let city = |text: &str| vec![("city", json!(text))];
    vec![
        ("a word", city("Paris")),
        ("two words", city("New York")),
        ("other letters", city("Zürich 北京 🎭")),
        ("digits that are text", city("02134")),
        ("null that is text", city("null")),
        ("true that is text", city("true")),
        ("no text at all", city("")),
        ("quotes", city("a \"b\" 'c'")),
        ("backslashes", city("C:\\new\\table")),
        ("line breaks", city("a\n  b\n\nc")),
        ("space around", city("  a  ")),
        ("braces", city("fn f() { x[0] } // }}")),
        ("other tags", city("<b>x</b> a < b && c > d")),
        ("thinking tags", city("a <think> b </think> c")),
        ("a fence", city("```\ncode\n```")),
        ("JSON that is text", city("{\"a\": [1]}")),
        ("a number", vec![("city", json!("Paris")), ("days", json!(3))]),
        ("a negative number", vec![("city", json!("Paris")), ("days", json!(-3))]),
        ("a fraction", vec![("city", json!("Paris")), ("height", json!(1.5))]),
        ("a switch", vec![("city", json!("Paris")), ("metric", json!(true))]),
        ("a list", vec![("city", json!("Paris")), ("hours", json!([1, 2]))]),
        ("an object", vec![("city", json!("Paris")), ("place", json!({"x": {"y": "z"}}))]),
        (
            "everything",
            vec![
                ("city", json!("Paris")),
                ("days", json!(3)),
                ("metric", json!(false)),
                ("hours", json!([])),
                ("place", json!({})),
            ],
        ),
    ]
}

/// All texts of all families.
pub(crate) fn corpus() -> Vec<Case> {
    FORMS.iter().flat_map(of_form).collect()
}

fn of_form(form: &Form) -> Vec<Case> {
    let mut cases = clean(form);
    cases.extend(arranged(form));
    cases.extend(damaged(form));
    cases.extend(cut(form));
    cases
}

fn case(form: &Form, what: &str, text: String, words: &str) -> Case {
    Case { name: format!("{}: {what}", form.name), oracle: form.oracle, text, words: words.to_owned(), cut: false }
}

fn clean(form: &Form) -> Vec<Case> {
    let call = |(what, arguments): (&str, _)| case(form, what, (form.write)(&[weather(arguments)]), "");
    values().into_iter().map(call).collect()
}

fn sample(form: &Form) -> String {
    (form.write)(&[weather(vec![("city", json!("Paris")), ("days", json!(3))])])
}

fn arranged(form: &Form) -> Vec<Case> {
    let one = sample(form);
    let two = (form.write)(&[weather(vec![("city", json!("Paris"))]), weather(vec![("city", json!("Rome"))])]);
    let three = (form.write)(&[files(), weather(vec![("city", json!("Rome"))]), files()]);
    let mut cases = vec![
        case(form, "no arguments", (form.write)(&[files()]), ""),
        case(form, "two calls", two.clone(), ""),
        case(form, "three calls", three, ""),
        case(form, "words before", format!("Let me see.\n\n{one}"), "Let me see."),
        case(form, "words after", format!("{one}\n\nThat is all."), "That is all."),
        case(form, "words around two calls", format!("Let me see.\n{two}\nThat is all."), "Let me see. That is all."),
        case(form, "words between two calls", format!("One.\n{one}\nTwo.\n{one}\nThree."), "One. Two. Three."),
        case(form, "an unknown tool", one.replace("get_weather", "get_whether"), ""),
    ];
    cases.extend(prose(form, &one));
    for token in ["</s>", "<|im_end|>", "<|eot_id|>\n", "<end_of_turn>\n", "<｜end▁of▁sentence｜>", " <eos>", "[e~["]
    {
        let left = |what: &str, text: String, words: &str| Case {
            oracle: Oracle::None,
            ..case(form, &format!("{what} and {}", token.trim()), text, words)
        };
        cases.push(left("a call", format!("{one}{token}"), ""));
        cases.push(left("words", format!("That is all.{token}"), "That is all."));
    }
    if let Some(think) = form.think {
        let thought = think("Paris it is.");
        cases.push(case(form, "a thought before", format!("{thought}{one}"), ""));
        cases.push(case(form, "a thought and words before", format!("{thought}Let me see.\n{one}"), "Let me see."));
        cases.push(case(form, "only a thought and words", format!("{thought}Hello."), "Hello."));
    }
    cases
}

/// Texts without a call.
fn prose(form: &Form, call: &str) -> Vec<Case> {
    let mark = form.marks[0];
    let unchanged = |what: &str, text: String| case(form, what, text.clone(), &text);
    let example = call.replace("get_weather", "example");
    vec![
        unchanged("only words", "The answer is 5 < 6, [see](x), {y} and <b>z</b>.".to_owned()),
        unchanged("the mark in backticks", format!("The mark `{mark}` opens a call.")),
        unchanged("a call in a fence", format!("For example:\n\n```text\n{example}\n```\n\nThat is how.")),
        unchanged("the mark in a sentence", format!("The mark {mark} opens a call.")),
    ]
}

/// Each mark of the form taken away: the first, the last, all of them; or written twice.
fn damaged(form: &Form) -> Vec<Case> {
    let city = |text: &str| weather(vec![("city", json!(text)), ("days", json!(3))]);
    let text = format!("Let me see.\n{}", (form.write)(&[city("Paris"), city("Rome")]));
    let mut cases = Vec::new();
    let marks = form.marks.iter().map(|mark| (mark, form.oracle));
    for (mark, oracle) in marks.chain(form.inner.iter().map(|part| (part, Oracle::None))) {
        let last = text.rfind(mark).expect("the mark is part of the form");
        let (before, after) = (&text[..last], &text[last + mark.len()..]);
        let mut add = |what: String, text: String| {
            cases.push(Case { oracle, ..case(form, &what, text, "Let me see.") });
        };
        add(format!("the first {mark} is missing"), text.replacen(mark, "", 1));
        add(format!("the last {mark} is missing"), format!("{before}{after}"));
        add(format!("no {mark}"), text.replace(mark, ""));
        add(format!("{mark} twice"), text.replacen(mark, &mark.repeat(2), 1));
        add(format!("ends before the last {mark}"), before.to_owned());
    }
    cases
}

/// A text that the token limit cut behind every character. The first three of a mark may be those of a word.
fn cut(form: &Form) -> Vec<Case> {
    const BEFORE: &str = "So. ";
    let text = format!("{BEFORE}{}", sample(form));
    let places: Vec<usize> = text.char_indices().skip(1).map(|(at, _)| at).collect();
    let cut_at = |(number, at): (usize, usize)| {
        let words = if at < BEFORE.len() + 4 { &text[..at] } else { BEFORE };
        Case { cut: true, ..case(form, &format!("cut at {}", number + 1), text[..at].to_owned(), words) }
    };
    places.into_iter().enumerate().map(cut_at).collect()
}
