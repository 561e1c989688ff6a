//! Log lines on standard error. What users and models say is written at debug level only.

use tracing_subscriber::EnvFilter;

/// Starts logging at a level such as `info`, or with filters such as `info,callboard=debug`.
pub fn start(level: &str) -> Result<(), tracing_subscriber::filter::ParseError> {
    let filter = EnvFilter::try_new(level)?;
    let ansi = std::io::IsTerminal::is_terminal(&std::io::stderr());
    // A second start in one process (as in tests) keeps the first subscriber.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(ansi).try_init();
    Ok(())
}
