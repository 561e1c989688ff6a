//! The real program as a child process, ended when the test ends.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

pub(crate) struct Program {
    child: Child,
    pub(crate) address: String,
    lines: Receiver<String>,
}

fn command(arguments: &[&str], environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_callboard"));
    command.args(["serve", "--log", "error"]).args(arguments).env_clear();
    // A store of its own, unless the test names one.
    command.env("CALLBOARD_STORE", "sqlite::memory:").envs(environment.iter().copied());
    command.current_dir(env!("CARGO_TARGET_TMPDIR")).stdin(Stdio::null());
    command
}

impl Program {
    pub(crate) fn start(arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        Self::begin(command(arguments, environment))
    }

    /// A program whose log comes back line by line, until the program ends.
    pub(crate) fn start_with_log(arguments: &[&str], environment: &[(&str, &str)]) -> (Self, Receiver<String>) {
        let mut command = command(arguments, environment);
        command.stderr(Stdio::piped());
        let mut program = Self::begin(command);
        let log = lines_of(program.child.stderr.take().unwrap());
        (program, log)
    }

    fn begin(mut command: Command) -> Self {
        let mut child = command.args(["--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).spawn().unwrap();
        let lines = lines_of(child.stdout.take().unwrap());
        let line = lines.iter().find(|line| line.contains("listening on http://")).expect("a line that says where");
        let address = line.split("listening on http://").nth(1).unwrap().trim().to_owned();
        Self { child, address, lines }
    }

    /// Waits for a line on the program's terminal; false when the program ends without it.
    pub(crate) fn prints_line(&self, text: &str) -> bool {
        self.lines.iter().any(|line| line.contains(text))
    }

    /// A program in front of one model server.
    pub(crate) fn before(upstream: &str, environment: &[(&str, &str)]) -> Self {
        Self::start(&["--upstream", upstream], environment)
    }

    pub(crate) fn terminate(&self) {
        let sent = Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        assert!(sent.success());
    }

    /// Asks it again and again, and tells its exit code.
    pub(crate) fn terminate_until_it_ends(mut self) -> Option<i32> {
        loop {
            match self.child.try_wait().unwrap() {
                Some(status) => return status.code(),
                None => self.terminate(),
            }
        }
    }

    /// Ends it at once, wherever it is.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn exit_code(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

/// The lines of a pipe, read to the end on a thread of its own.
fn lines_of(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (told, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            let _ = told.send(line);
        }
    });
    lines
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a program that must not start, and returns what it complains of.
pub(crate) fn refused_start(arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let mut child = command(arguments, environment).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut words = String::new();
    child.stderr.take().unwrap().read_to_string(&mut words).unwrap();
    assert!(!child.wait().unwrap().success());
    words
}
