//! The Python interpreter: its name and version are probed at start, so that an unsuitable one is reported at once.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use thiserror::Error;

use crate::environment::restrict_environment;

/// Major and minor version of Python.
type Version = (u32, u32);

/// The oldest version that runs characters.
const MINIMUM: Version = (3, 9);

const PROBE_TIMEOUT_SECONDS: i64 = 10;

const PROBE: &str = "import sys; print(sys.implementation.name, *sys.version_info[:2])";

/// Why an interpreter cannot run characters.
#[derive(Debug, Error)]
pub enum InterpreterError {
    /// It cannot be started.
    #[error("Python cannot be started as {program:?}: {source}; set [python] interpreter to {}", needed())]
    NotStarted {
        /// The program that was tried.
        program: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// It is something else, or does not answer.
    #[error("{program:?} is not a CPython: it answered {answer:?}; set [python] interpreter to {}", needed())]
    NotCPython {
        /// The program that was tried.
        program: PathBuf,
        /// What it printed.
        answer: String,
    },
    /// It is too old.
    #[error("{program:?} is Python {version}; set [python] interpreter to {}", needed())]
    TooOld {
        /// The program that was tried.
        program: PathBuf,
        /// Its version.
        version: String,
    },
}

fn needed() -> String {
    let (major, minor) = MINIMUM;
    format!("a CPython of {major}.{minor} or newer")
}

/// Checks that a program is a suitable interpreter. Blocks until it has answered.
pub(crate) fn check_interpreter(program: &Path, environment: &[String]) -> Result<(), InterpreterError> {
    let answer = run_probe(program, environment)
        .map_err(|source| InterpreterError::NotStarted { program: program.into(), source })?;
    match parse_version(&answer) {
        None => Err(InterpreterError::NotCPython { program: program.into(), answer }),
        Some(version) if version >= MINIMUM => Ok(()),
        Some((major, minor)) => {
            Err(InterpreterError::TooOld { program: program.into(), version: format!("{major}.{minor}") })
        }
    }
}

/// What a program prints when it runs the probe. One that does not end is killed.
fn run_probe(program: &Path, environment: &[String]) -> io::Result<String> {
    let mut command = Command::new(program);
    let command = restrict_environment(&mut command, environment)
        .args(["-I", "-S", "-c", PROBE])
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    if !ends_in_time(&child)? {
        child.kill()?;
        child.wait()?;
        return Ok("nothing at all".to_owned());
    }
    let output = child.wait_with_output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn ends_in_time(child: &Child) -> io::Result<bool> {
    let handle = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let limit = Timespec { tv_sec: PROBE_TIMEOUT_SECONDS, tv_nsec: 0 };
    Ok(poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&limit))? > 0)
}

fn parse_version(answer: &str) -> Option<Version> {
    let mut words = answer.split(' ');
    let (name, major, minor) = (words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    (name == "cpython").then_some((major, minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_python_is_suitable() {
        check_interpreter(Path::new("python3"), &[]).unwrap();
    }

    #[test]
    fn unsuitable_programs_are_named() {
        let missing = check_interpreter(Path::new("no-such-python"), &[]).unwrap_err().to_string();
        assert!(missing.contains("no-such-python") && missing.contains("3.9"));
        assert!(matches!(check_interpreter(Path::new("echo"), &[]), Err(InterpreterError::NotCPython { .. })));
    }

    #[test]
    fn versions_are_parsed() {
        assert_eq!(parse_version("cpython 3 11"), Some((3, 11)));
        assert!(["", "pypy 3 10", "cpython 3", "cpython x 1"].iter().all(|answer| parse_version(answer).is_none()));
        assert!((3, 8) < MINIMUM && (3, 10) > MINIMUM);
    }
}
