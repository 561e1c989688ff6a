//! The program as a child process in its own folder, killed when the test ends.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use tempfile::TempDir;

/// A running Callboard.
pub struct Program {
    child: Child,
    /// `HOST:PORT`.
    pub address: String,
    lines: Receiver<String>,
    folder: TempDir,
}

/// The binary that was built with the running test.
pub fn binary() -> PathBuf {
    let test = std::env::current_exe().expect("the path of the test");
    test.ancestors().nth(2).expect("the folder of the build").join("callboard")
}

fn command(folder: &TempDir, arguments: &[&str], environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new(binary());
    command.args(["--log", "error", "serve"]).args(arguments).env_clear();
    // Python is found through PATH. Each program has its own store, unless the test names one.
    command.envs(std::env::var_os("PATH").map(|path| ("PATH", path))).env("CALLBOARD_STORE", "sqlite::memory:");
    command.envs(environment.iter().copied()).current_dir(folder.path()).stdin(Stdio::null());
    command
}

impl Program {
    /// Starts the program and waits until it listens.
    pub fn start(arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        Self::with_settings("", arguments, environment)
    }

    /// Starts a program and returns its log, line by line until it exits.
    pub fn start_with_log(arguments: &[&str], environment: &[(&str, &str)]) -> (Self, Receiver<String>) {
        let folder = TempDir::new().unwrap();
        let mut command = command(&folder, arguments, environment);
        command.stderr(Stdio::piped());
        let mut program = Self::begin(command, folder);
        let log = lines_of(program.child.stderr.take().unwrap());
        (program, log)
    }

    /// Starts the program with the limits that a command of the shell sets.
    pub fn start_in_shell(limits: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        let program = command(&folder, arguments, environment);
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &format!("{limits}; exec \"$0\" \"$@\"")])
            .arg(program.get_program())
            .args(program.get_args());
        shell.env_clear().envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.current_dir(folder.path()).stdin(Stdio::null());
        Self::begin(shell, folder)
    }

    /// A program with this text as its settings file.
    pub fn with_settings(settings: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("callboard.toml"), settings).unwrap();
        Self::begin(command(&folder, arguments, environment), folder)
    }

    /// A program in front of several model servers that all serve every model.
    pub fn with_upstreams(urls: &[&str], environment: &[(&str, &str)]) -> Self {
        let upstream = |url: &&str| format!("[[upstream]]\nurl = \"{url}\"\nmodels = [\"*\"]\n");
        Self::with_settings(&urls.iter().map(upstream).collect::<String>(), &[], environment)
    }

    /// A program in front of one model server.
    pub fn with_upstream(upstream: &str, environment: &[(&str, &str)]) -> Self {
        Self::start(&["--upstream", upstream], environment)
    }

    fn begin(mut command: Command, folder: TempDir) -> Self {
        let mut child = command.args(["--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).spawn().unwrap();
        let lines = lines_of(child.stdout.take().unwrap());
        let line = lines.iter().find(|line| line.contains("listening on http://")).expect("a line with the address");
        let address = line.split("listening on http://").nth(1).unwrap().trim().to_owned();
        Self { child, address, lines, folder }
    }

    /// Waits for a line on the program's terminal; false when the program ends without it.
    pub fn prints_line(&self, text: &str) -> bool {
        self.lines.iter().any(|line| line.contains(text))
    }

    /// Stops the program; the lines that it printed since it listened.
    pub fn printed_until_exit(mut self) -> Vec<String> {
        self.terminate();
        self.child.wait().unwrap();
        self.lines.iter().collect()
    }

    /// The folder that it runs in, with its settings file.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The most memory that it has held, in bytes.
    pub fn peak_memory(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line with the peak");
        line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
    }

    /// Sends SIGTERM.
    pub fn terminate(&self) {
        self.signal("TERM");
    }

    /// Sends SIGHUP.
    pub fn hang_up(&self) {
        self.signal("HUP");
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits until the program accepts no more connections, as it does when it drains.
    pub fn wait_until_closed(&self) {
        while TcpStream::connect(&self.address).is_ok() {
            std::thread::yield_now();
        }
    }

    /// Sends SIGTERM until the program exits; its exit code.
    pub fn terminate_until_it_ends(mut self) -> Option<i32> {
        loop {
            match self.child.try_wait().unwrap() {
                Some(status) => return status.code(),
                None => self.terminate(),
            }
        }
    }

    /// Sends SIGKILL.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for the exit code.
    pub fn exit_code(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

/// The lines of a pipe, read to the end on a thread of its own.
fn lines_of(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            let _ = sender.send(line);
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

/// Starts a program that must refuse to start; its stderr.
pub fn refused_start(arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let folder = TempDir::new().unwrap();
    let output = command(&folder, arguments, environment).stdout(Stdio::null()).output().unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}
