//! Log lines on standard error. What users and models say is written at debug level only.

use tracing_subscriber::EnvFilter;

use super::line_format::LineFormat;
use super::log_writer::LogWriter;

/// Starts logging at a level such as `info`, or with filters such as `info,callboard=debug`; `format` is `text` or `json`.
pub fn start(level: &str, format: &str) -> Result<(), tracing_subscriber::filter::ParseError> {
    let filter = EnvFilter::try_new(level)?;
    let ansi = std::io::IsTerminal::is_terminal(&std::io::stderr());
    let form = if format == "json" { LineFormat::Json } else { LineFormat::Text };
    let lines = tracing_subscriber::fmt().with_ansi(ansi).event_format(form).with_env_filter(filter);
    // A second start in one process (as in tests) keeps the first subscriber.
    let _ = match LogWriter::start() {
        Ok(writer) => lines.with_writer(writer).try_init(),
        Err(_) => lines.with_writer(std::io::stderr).try_init(),
    };
    Ok(())
}
