//! Runs the targets one after the other and prints what each reached and found.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, ensure};

use super::afl::FuzzProgram;
use super::arguments::Arguments;
use super::outcome::{HEADER, Outcome};
use super::target_folder::TargetFolder;

/// Runs the targets that the words ask for; fails if an input crashes or hangs one of them.
pub(crate) fn run(words: &[&str], output: &mut impl Write) -> Result<ExitCode> {
    let arguments = Arguments::read(words)?;
    let program = FuzzProgram::build()?;
    let mut names = program.target_names()?;
    if let Some(wanted) = &arguments.target {
        ensure!(names.contains(wanted), "there is no target {wanted}; the targets are {}", names.join(", "));
        names.retain(|name| name == wanted);
    }
    writeln!(output, "{HEADER}")?;
    let mut failed = false;
    for name in names {
        let outcome = fuzz(&program, &name, arguments.seconds)?;
        failed |= !outcome.findings.is_empty();
        write!(output, "{outcome}")?;
        output.flush()?;
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn fuzz(program: &FuzzProgram, name: &str, seconds: u64) -> Result<Outcome> {
    let folder = TargetFolder::new(name);
    program.write_seeds(name, folder.path())?;
    folder.prepare()?;
    program.fuzz(name, &folder, seconds)?;
    folder.keep_queue()?;
    let hangs = folder.hangs()?.into_iter().filter(|input| program.hangs(name, input)).collect::<Vec<_>>();
    Outcome::read(name, &folder, &hangs)
}
