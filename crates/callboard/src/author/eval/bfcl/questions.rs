//! BFCL's files: questions in one, accepted answers in another, both with a JSON object per line.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::accepted_answer::Answer;
use super::schema;

/// Questions with this word in their id are to be answered without a call.
const NO_CALL: &str = "irrelevance";

/// One question.
#[derive(Debug)]
pub(in crate::author::eval) struct Question {
    pub(super) id: String,
    /// Its id without the number: `simple`, `multiple`, `parallel`, `irrelevance`.
    pub(super) category: String,
    pub(super) messages: Value,
    pub(super) tools: Vec<Value>,
    /// The expected calls, in any order.
    pub(super) answers: Vec<Answer>,
}

/// Reads the questions, and their answers from the named file or the one beside them.
pub(in crate::author::eval) fn read(path: &Path, text: &str, answers: Option<&Path>) -> anyhow::Result<Vec<Question>> {
    let lines = lines(path, text)?;
    let needs_answers = lines.iter().any(|line| !id_of(line).contains(NO_CALL));
    let answers = if needs_answers { read_answers(path, answers)? } else { HashMap::new() };
    lines.iter().map(|line| question(line, &answers).with_context(|| format!("{}", path.display()))).collect()
}

fn lines(path: &Path, text: &str) -> anyhow::Result<Vec<Value>> {
    let mut values = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = || format!("{}:{} is not a line of JSON", path.display(), number + 1);
        values.push(serde_json::from_str(line).with_context(place)?);
    }
    if values.is_empty() {
        bail!("{} is empty", path.display());
    }
    Ok(values)
}

fn read_answers(path: &Path, named: Option<&Path>) -> anyhow::Result<HashMap<String, Vec<Answer>>> {
    let beside =
        || path.parent().unwrap_or(Path::new("")).join("possible_answer").join(path.file_name().unwrap_or_default());
    let file = named.map_or_else(beside, PathBuf::from);
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("cannot read the answers {}; name their file with --answers", file.display()))?;
    let lines = lines(&file, &text)?;
    Ok(lines.iter().map(|line| (id_of(line), answers_of(line))).collect())
}

fn answers_of(line: &Value) -> Vec<Answer> {
    let calls = match line.get("ground_truth") {
        Some(Value::Array(calls)) => calls.as_slice(),
        Some(call) => std::slice::from_ref(call),
        None => &[],
    };
    let named = calls.iter().filter_map(Value::as_object).flatten();
    let answer = |(name, accepted): (&String, &Value)| Answer {
        tool: schema::tool_name(name),
        accepted: accepted.as_object().cloned().unwrap_or_default(),
    };
    named.map(answer).collect()
}

fn question(line: &Value, answers: &HashMap<String, Vec<Answer>>) -> anyhow::Result<Question> {
    let id = id_of(line);
    let tools = match line.get("function") {
        Some(Value::Array(functions)) => functions.iter().map(schema::tool).collect(),
        Some(function) => vec![schema::tool(function)],
        None => bail!("question {id:?} has no function; this is neither a file of cases nor one of BFCL"),
    };
    let answers = match answers.get(&id) {
        _ if id.contains(NO_CALL) => Vec::new(),
        Some(answers) if !answers.is_empty() => answers.clone(),
        _ => bail!("question {id:?} has no answer"),
    };
    let messages = messages(line.get("question")).with_context(|| format!("question {id:?} has no text"))?;
    Ok(Question { category: category(&id), id, messages, tools, answers })
}

/// A text, a list of messages, or a list of turns of which the first is asked.
fn messages(question: Option<&Value>) -> Option<Value> {
    match question? {
        Value::String(text) => Some(json!([{"role": "user", "content": text}])),
        Value::Array(list) => match list.first()? {
            turn @ Value::Array(_) => Some(turn.clone()),
            _ => Some(Value::Array(list.clone())),
        },
        _ => None,
    }
}

fn id_of(line: &Value) -> String {
    line.get("id").and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn category(id: &str) -> String {
    id.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '-').trim_end_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_have_several_forms() {
        let table = [
            (json!("hi"), json!([{"role": "user", "content": "hi"}])),
            (json!([{"role": "user", "content": "hi"}]), json!([{"role": "user", "content": "hi"}])),
            (json!([[{"role": "user", "content": "hi"}], []]), json!([{"role": "user", "content": "hi"}])),
        ];
        for (given, expected) in table {
            assert_eq!(messages(Some(&given)), Some(expected), "{given}");
        }
        assert_eq!(messages(Some(&json!([]))), None);
    }

    #[test]
    fn categories_are_ids_without_numbers() {
        for (id, expected) in [("simple_0", "simple"), ("live_simple_3-2-0", "live_simple"), ("parallel", "parallel")] {
            assert_eq!(category(id), expected);
        }
    }

    #[test]
    fn mistakes_name_the_place() {
        let path = Path::new("no/such/BFCL_simple.json");
        let question = r#"{"id": "simple_0", "question": "hi", "function": []}"#;
        let table = [
            ("", "is empty"),
            ("{}\n{", "BFCL_simple.json:2"),
            (question, "possible_answer"),
            (r#"{"id": "irrelevance_0", "question": "hi"}"#, "no function"),
        ];
        for (text, expected) in table {
            let error = format!("{:#}", read(path, text, None).unwrap_err());
            assert!(error.contains(expected), "{error}");
        }
    }
}
