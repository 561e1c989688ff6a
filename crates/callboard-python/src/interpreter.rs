//! The Python interpreter: asked once for its name and version, so that a wrong one is told of before anything needs it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use thiserror::Error;

/// The oldest version that runs characters.
const OLDEST: Version = Version { major: 3, minor: 9 };

const PATIENCE_SECONDS: i64 = 10;

const QUESTION: &str = "import sys; print(sys.implementation.name, *sys.version_info[:2])";

/// A version of Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The 3 of 3.11.
    pub major: u32,
    /// The 11 of 3.11.
    pub minor: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// An interpreter that can run characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interpreter {
    /// The program.
    pub program: PathBuf,
    /// What it says of itself.
    pub version: Version,
}

/// Why an interpreter cannot run characters.
#[derive(Debug, Error)]
pub enum InterpreterError {
    /// It cannot be started.
    #[error(
        "Python cannot be started as {program:?}: {source}; set [python] interpreter to a CPython of {OLDEST} or newer"
    )]
    NotStarted {
        /// The program that was tried.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is something else, or gives no answer.
    #[error(
        "{program:?} is not a CPython: it answered {answer:?}; set [python] interpreter to a CPython of {OLDEST} or newer"
    )]
    NotCPython {
        /// The program that was tried.
        program: PathBuf,
        /// What it said.
        answer: String,
    },
    /// It is too old.
    #[error("{program:?} is Python {version}; characters need {OLDEST} or newer: set [python] interpreter")]
    TooOld {
        /// The program that was tried.
        program: PathBuf,
        /// Its version.
        version: Version,
    },
}

impl Interpreter {
    /// Asks a program whether it is a fitting interpreter. Blocks until it has answered.
    pub fn probe(program: &Path) -> Result<Self, InterpreterError> {
        let answer = ask(program).map_err(|source| InterpreterError::NotStarted { program: program.into(), source })?;
        let Some(version) = read_answer(&answer) else {
            return Err(InterpreterError::NotCPython { program: program.into(), answer });
        };
        if version < OLDEST {
            return Err(InterpreterError::TooOld { program: program.into(), version });
        }
        Ok(Self { program: program.into(), version })
    }
}

/// What a program says when it is asked. One that does not answer is killed.
fn ask(program: &Path) -> io::Result<String> {
    let mut command = Command::new(program);
    let command = command.args(["-I", "-S", "-c", QUESTION]).stdin(Stdio::null()).stderr(Stdio::null());
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
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidData)?;
    let handle = pidfd_open(pid, PidfdFlags::empty())?;
    let patience = Timespec { tv_sec: PATIENCE_SECONDS, tv_nsec: 0 };
    Ok(poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&patience))? > 0)
}

fn read_answer(answer: &str) -> Option<Version> {
    let mut words = answer.split(' ');
    let (name, major, minor) = (words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    (name == "cpython").then_some(Version { major, minor })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_python_is_found() {
        let found = Interpreter::probe(Path::new("python3")).unwrap();
        assert!(found.version >= OLDEST);
    }

    #[test]
    fn what_is_no_python_is_named() {
        let missing = Interpreter::probe(Path::new("no-such-python")).unwrap_err().to_string();
        assert!(missing.contains("no-such-python") && missing.contains("3.9"));
        assert!(matches!(Interpreter::probe(Path::new("echo")), Err(InterpreterError::NotCPython { .. })));
    }

    #[test]
    fn answers_are_read() {
        assert_eq!(read_answer("cpython 3 11"), Some(Version { major: 3, minor: 11 }));
        assert!(["", "pypy 3 10", "cpython 3", "cpython x 1"].iter().all(|answer| read_answer(answer).is_none()));
        assert!(Version { major: 3, minor: 8 } < OLDEST && Version { major: 3, minor: 10 } > OLDEST);
    }
}
