//! Readable JSON: values that fit are written on one line.

use serde_json::Value;

const WIDTH: usize = 110;

/// A value as text, indented by two.
pub(super) fn compact(value: &Value) -> String {
    written(value, 0)
}

fn written(value: &Value, indent: usize) -> String {
    let line = one_line(value);
    if indent + line.chars().count() <= WIDTH {
        return line;
    }
    let (inside, outside) = (" ".repeat(indent + 2), " ".repeat(indent));
    let (open, entries, close) = match value {
        Value::Object(map) => {
            let entry = |(key, value): (&String, &Value)| {
                format!("{inside}{}: {}", Value::from(key.as_str()), written(value, indent + 2))
            };
            ("{", map.iter().map(entry).collect::<Vec<_>>(), "}")
        }
        Value::Array(list) => {
            ("[", list.iter().map(|value| format!("{inside}{}", written(value, indent + 2))).collect(), "]")
        }
        _ => return line,
    };
    format!("{open}\n{}\n{outside}{close}", entries.join(",\n"))
}

/// A value on one line, with a space after each colon and comma.
pub(super) fn one_line(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let entries: Vec<String> =
                map.iter().map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), one_line(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(one_line).collect::<Vec<_>>().join(", ")),
        scalar => scalar.to_string(),
    }
}
