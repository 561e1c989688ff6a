//! Results as a terminal shows them: JSON on several lines, long lines wrapped, long texts folded.

use serde_json::Value;

const WIDTH: usize = 100;
/// A text of more lines is folded.
const MOST_LINES: usize = 8;
const SHOWN_LINES: usize = 6;

/// The text, folded where it is long.
pub(super) fn folded(text: &str) -> Vec<String> {
    let mut lines = whole(text);
    if lines.len() > MOST_LINES {
        let hidden = lines.len().saturating_sub(SHOWN_LINES);
        lines.truncate(SHOWN_LINES);
        lines.push(format!("… {hidden} more lines; /results shows them"));
    }
    lines
}

/// All lines of the text.
pub(super) fn whole(text: &str) -> Vec<String> {
    let short = text.chars().count() <= WIDTH;
    let pretty = match serde_json::from_str::<Value>(text) {
        Ok(json @ (Value::Object(_) | Value::Array(_))) if !short => format!("{json:#}"),
        _ => text.to_owned(),
    };
    pretty.lines().flat_map(wrapped).collect()
}

fn wrapped(line: &str) -> Vec<String> {
    let letters: Vec<char> = line.chars().collect();
    if letters.is_empty() {
        vec![String::new()]
    } else {
        letters.chunks(WIDTH).map(|part| part.iter().collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_results_are_folded() {
        assert_eq!(folded("Noted."), ["Noted."]);
        assert_eq!(folded(r#"{"success":true}"#), [r#"{"success":true}"#]);
        let lines: Vec<String> = (1..=20).map(|number| format!("line {number}")).collect();
        let shown = folded(&lines.join("\n"));
        assert_eq!(shown.len(), 7);
        assert_eq!((shown[0].as_str(), shown[6].as_str()), ("line 1", "… 14 more lines; /results shows them"));
        assert_eq!(whole(&lines.join("\n")), lines);
        assert_eq!(
            folded(&"ü".repeat(250)).iter().map(|line| line.chars().count()).collect::<Vec<_>>(),
            [100, 100, 50]
        );
        let json = serde_json::json!({"message": "x".repeat(90), "units": [1, 2]}).to_string();
        assert_eq!(
            folded(&json)[1],
            format!("  \"message\": \"{}\",", "x".repeat(90))[..].chars().take(100).collect::<String>()
        );
    }
}
