//! The repository's own chores, run with `cargo run -p xtask -- NAME`.
//!
//! This file only picks the chore. Nothing here is part of the program that users run.

mod deny;
mod fuzz;
mod tidy;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;

const USAGE: &str = "\
Usage: cargo run -p xtask -- COMMAND

Commands:
  tidy    check the source tree: layers, headers, lengths, words, links and the like
  deny    check licences, versions and sources of all dependencies (deny.toml)
  fuzz    run the fuzz targets under AFL++: --seconds N for each [--target NAME]
  help    print this text
";

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["tidy"] => tidy::run(&mut io::stdout().lock()),
        ["deny"] => deny::run(&mut io::stdout().lock()),
        ["fuzz", words @ ..] => fuzz::run(words, &mut io::stdout().lock()),
        ["help" | "--help" | "-h"] => {
            io::stdout().write_all(USAGE.as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            io::stderr().write_all(USAGE.as_bytes())?;
            Ok(ExitCode::from(2))
        }
    }
}
