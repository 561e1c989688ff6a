//! The entry point: read the settings and do what the command line asks for.

use std::ffi::OsString;
use std::process::ExitCode;

use callboard::cli::{self, Command};
use callboard::upstream::{GUARDIAN, guard};
use callboard::{author, config, server};

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            report(&error);
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<bool> {
    if let Some(command) = guarded_command() {
        return Ok(guard(&command).map(|()| true)?);
    }
    let environment = config::Environment::new(std::env::vars_os());
    let directory = std::env::current_dir()?;
    let command = cli::parse();
    let loaded = config::load(command.flags(), &environment, &directory)?;
    if command.needs_characters() {
        loaded.check_characters(matches!(command, Command::Serve(_)))?;
    }
    match command {
        Command::Serve(_) => {
            let read = || Ok(config::load(command.flags(), &environment, &directory)?.settings);
            server::serve(loaded.settings, &read).map(|()| true)
        }
        Command::Config(_) => Ok(cli::write_config(&loaded, &mut std::io::stdout()).map(|()| true)?),
        command => author::run(command, loaded.settings),
    }
}

/// The command of a model server, where this process is to be its guardian.
fn guarded_command() -> Option<Vec<OsString>> {
    let mut words = std::env::args_os().skip(1);
    (words.next()? == GUARDIAN).then(|| words.collect())
}

#[expect(clippy::print_stderr, reason = "the one place where a failed start is reported")]
fn report(error: &anyhow::Error) {
    eprintln!("callboard: {error:#}");
}
