//! How a log line is written: as text with `key=value` pairs, or as one JSON object.
//!
//! A value that holds spaces, quotes or signs of the format is quoted and escaped, so a line is always one line, and parsers of either
//! form read every pair.

use std::fmt;

use serde_json::Value;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// The form of log lines.
#[derive(Debug, Clone, Copy)]
pub(super) enum LineFormat {
    /// Time, level, module, message, `key=value` pairs. Levels are coloured on a terminal.
    Text,
    /// One JSON object.
    Json,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>, N: for<'a> FormatFields<'a> + 'static> FormatEvent<S, N> for LineFormat {
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        match self {
            Self::Text => text(&mut writer, event),
            Self::Json => json(&mut writer, event),
        }
    }
}

fn text(writer: &mut Writer<'_>, event: &Event<'_>) -> fmt::Result {
    SystemTime.format_time(writer)?;
    let level = *event.metadata().level();
    match writer.has_ansi_escapes() {
        true => write!(writer, " \x1b[{}m{level:>5}\x1b[0m", colour(level))?,
        false => write!(writer, " {level:>5}")?,
    }
    write!(writer, " {}:", event.metadata().target())?;
    event.record(&mut Pairs { writer, form: LineFormat::Text });
    writeln!(writer)
}

fn colour(level: Level) -> u8 {
    match level {
        Level::ERROR => 31,
        Level::WARN => 33,
        Level::INFO => 32,
        Level::DEBUG => 34,
        Level::TRACE => 35,
    }
}

fn json(writer: &mut Writer<'_>, event: &Event<'_>) -> fmt::Result {
    writer.write_str("{\"timestamp\":\"")?;
    SystemTime.format_time(writer)?;
    let metadata = event.metadata();
    write!(writer, "\",\"level\":\"{}\",\"target\":\"{}\"", metadata.level(), metadata.target())?;
    event.record(&mut Pairs { writer, form: LineFormat::Json });
    writeln!(writer, "}}")
}

/// Writes the fields of an event one by one, the message first.
struct Pairs<'a, 'w> {
    writer: &'a mut Writer<'w>,
    form: LineFormat,
}

impl Pairs<'_, '_> {
    /// A failed write ends with the line, which nothing can report.
    fn pair(&mut self, field: &Field, value: &str, is_text: bool) {
        let name = field.name().trim_start_matches("r#");
        let _ = match self.form {
            LineFormat::Json if is_text => write!(self.writer, ",\"{name}\":{}", Value::from(value)),
            LineFormat::Json => write!(self.writer, ",\"{name}\":{value}"),
            LineFormat::Text if name == "message" => self.message(value),
            LineFormat::Text if is_bare(value) => {
                [" ", name, "=", value].iter().try_for_each(|part| self.writer.write_str(part))
            }
            LineFormat::Text => write!(self.writer, " {name}={}", Value::from(value)),
        };
    }

    fn message(&mut self, text: &str) -> fmt::Result {
        self.writer.write_char(' ')?;
        text.chars().try_for_each(|letter| match letter.is_control() {
            true => write!(self.writer, "{}", letter.escape_default()),
            false => self.writer.write_char(letter),
        })
    }
}

/// True for a value that needs no quotes. Most values are ASCII, which needs no tables of letters.
fn is_bare(value: &str) -> bool {
    let is_sign = |letter: char| letter.is_whitespace() || letter.is_control() || matches!(letter, '"' | '=' | '\\');
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'=' | b'\\');
    !value.is_empty() && (value.bytes().all(is_plain) || !value.contains(is_sign))
}

impl Visit for Pairs<'_, '_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.pair(field, value, true);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.pair(field, &format!("{value:?}"), true);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.pair(field, &value.to_string(), !value.is_finite());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.pair(field, &value.to_string(), false);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.pair(field, &value.to_string(), false);
    }

    fn record_i128(&mut self, field: &Field, value: i128) {
        self.pair(field, &value.to_string(), false);
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        self.pair(field, &value.to_string(), false);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.pair(field, if value { "true" } else { "false" }, false);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn logged(form: LineFormat, ansi: bool, log: impl FnOnce()) -> String {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber =
            tracing_subscriber::fmt().with_ansi(ansi).event_format(form).with_writer(move || writer.clone());
        tracing::subscriber::with_default(subscriber.finish(), log);
        let bytes = lines.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    fn log() {
        let (missing, words): (Option<&str>, &str) = (None, "two words");
        tracing::warn!(
            url = "http://a/v1", words, missing, empty = "", pair = "a=b", quoted = "a\"b", line = "a\nb", number = 3_u64, ms = 4_u128,
            part = 0.5, truth = true, failure = %"status 500: x", list = ?["a"], "something\nfailed"
        );
    }

    #[test]
    fn text_is_one_line_with_quoted_values() {
        let line = logged(LineFormat::Text, false, log);
        let (time, rest) = line.split_once(' ').unwrap();
        assert!(time.ends_with('Z') && time.contains('T'), "{line}");
        let expected = " WARN callboard::telemetry::line_format::tests: something\\nfailed url=http://a/v1 words=\"two words\" empty=\"\" \
            pair=\"a=b\" quoted=\"a\\\"b\" line=\"a\\nb\" number=3 ms=4 part=0.5 truth=true failure=\"status 500: x\" list=\"[\\\"a\\\"]\"\n";
        assert_eq!(rest, expected);
        assert!(logged(LineFormat::Text, true, log).contains("\x1b[33m WARN\x1b[0m"));
    }

    #[test]
    fn json_is_one_object_a_line() {
        let line = logged(LineFormat::Json, true, log);
        assert_eq!(line.lines().count(), 1, "{line}");
        let mut value: Value = serde_json::from_str(&line).unwrap();
        assert!(value.as_object_mut().unwrap().remove("timestamp").unwrap().as_str().unwrap().ends_with('Z'));
        let expected = serde_json::json!({"level": "WARN", "target": "callboard::telemetry::line_format::tests",
            "message": "something\nfailed", "url": "http://a/v1", "words": "two words", "empty": "", "pair": "a=b",
            "quoted": "a\"b", "line": "a\nb", "number": 3, "ms": 4, "part": 0.5, "truth": true, "failure": "status 500: x",
            "list": "[\"a\"]"});
        assert_eq!(value, expected);
    }
}
