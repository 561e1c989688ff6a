//! The entry point: read the settings, build the app, serve until told to stop.

use std::process::ExitCode;

use callboard::cli::{self, Command};
use callboard::{app, config};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<()> {
    let environment = config::Environment::new(std::env::vars_os());
    let directory = std::env::current_dir()?;
    match cli::parse() {
        Command::Serve(flags) => app::serve(config::load(&flags, &environment, &directory)?.settings),
        Command::Config(flags) => {
            let loaded = config::load(&flags, &environment, &directory)?;
            Ok(cli::write_config(&loaded, &mut std::io::stdout())?)
        }
    }
}

#[expect(clippy::print_stderr, reason = "the one place where a failed start is told to the person who started it")]
fn complain(error: &anyhow::Error) {
    eprintln!("callboard: {error:#}");
}
