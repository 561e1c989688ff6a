//! The settings of a server that Callboard starts: where it listens, and which keys need a command.

use super::error::ConfigError;
use super::raw::RawUpstream;
use super::settings::{PORT, UpstreamSettings};

/// Where a server listens unless its settings say it.
const USUAL_URL: &str = "http://127.0.0.1:{port}/v1";

/// The keys that say how a command is started.
const OF_COMMAND: [&str; 3] = ["start", "directory", "environment"];

/// Fills in what follows from the command, and refuses what contradicts it.
pub(super) fn complete(settings: &mut UpstreamSettings, raw: &RawUpstream) -> Result<(), ConfigError> {
    let Some(command) = raw.values.get("command") else {
        return check_without_command(settings, raw);
    };
    let mut words = settings.command.iter().chain(&settings.environment);
    let takes_port = words.any(|word| word.contains(PORT));
    let place = || command.origin.clone();
    match (takes_port, settings.url.contains(PORT)) {
        (true, false) if settings.url.is_empty() => USUAL_URL.clone_into(&mut settings.url),
        (true, false) => return Err(ConfigError::PortFixed(place())),
        (false, is_open) if is_open || settings.url.is_empty() => return Err(ConfigError::PortMissing(place())),
        _ => {}
    }
    settings.command_place = place().to_string();
    Ok(())
}

fn check_without_command(settings: &UpstreamSettings, raw: &RawUpstream) -> Result<(), ConfigError> {
    let wrong = OF_COMMAND.into_iter().find_map(|key| Some((key, raw.values.get(key)?)));
    let open = || raw.values.get("url").filter(|_| settings.url.contains(PORT)).map(|value| ("url", value));
    match wrong.or_else(open) {
        Some((key, value)) => Err(ConfigError::NeedsCommand { key, origin: value.origin.clone() }),
        None => Ok(()),
    }
}
