//! The entry point: read the settings and do what the command line asks for.

use std::process::ExitCode;

use callboard::cli::{self, Command};
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

#[expect(clippy::print_stderr, reason = "the one place where a failed start is reported")]
fn report(error: &anyhow::Error) {
    eprintln!("callboard: {error:#}");
}
