//! How a model server is started: its program, where, and with which environment, from its settings.

use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use super::guardian::GUARDIAN;
use super::program_path::{ProgramError, find_program};
use super::variables::variables_for;
use crate::config::{PORT, UpstreamSettings};

/// This program, also after its file was replaced.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// Everything that is needed to start a server.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The server's name in the log, in metrics and on pages.
    pub name: String,
    /// Whether the first request for it starts it.
    pub on_demand: bool,
    /// What holds for all servers.
    pub(super) rules: LaunchRules,
    program: PathBuf,
    arguments: Vec<String>,
    directory: PathBuf,
    environment: Vec<(OsString, OsString)>,
    url: String,
}

/// What holds for all servers that Callboard starts.
#[derive(Debug, Clone)]
pub struct LaunchRules {
    /// How long requests wait until a server is ready.
    pub start_limit: Duration,
    /// Whether output may be shown that may quote users.
    pub shows_content: bool,
}

/// Why a server cannot be started, found before it is tried.
#[derive(Debug, thiserror::Error)]
#[error("{place}: command = [{program:?}, …]: {problem}")]
pub struct LaunchError {
    place: String,
    program: String,
    problem: LaunchProblem,
}

#[derive(Debug, thiserror::Error)]
enum LaunchProblem {
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error("its directory {} does not exist", .0.display())]
    NoDirectory(PathBuf),
    #[error("the working directory cannot be determined: {0}")]
    NoWorkingDirectory(#[from] io::Error),
}

impl Launch {
    /// The server that these settings start; none where they name no command.
    pub fn of(
        settings: &UpstreamSettings,
        rules: &LaunchRules,
        own_variables: impl Iterator<Item = (OsString, OsString)>,
    ) -> Result<Option<Self>, LaunchError> {
        let Some((program, arguments)) = settings.command.split_first() else { return Ok(None) };
        let environment = variables_for(own_variables, &settings.environment);
        let place = |problem| LaunchError { place: settings.command_place.clone(), program: program.clone(), problem };
        let directory = directory(settings).map_err(place)?;
        let path = environment.iter().rfind(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
        let found = find_program(program, &directory, path).map_err(|error| place(error.into()))?;
        Ok(Some(Self {
            name: name_of(program, arguments),
            on_demand: settings.start == "on_demand",
            rules: rules.clone(),
            program: found,
            arguments: arguments.to_vec(),
            directory,
            environment,
            url: settings.url.clone(),
        }))
    }

    /// The same with a number behind its name, where that is taken.
    #[must_use]
    pub fn with_other_name(mut self, is_taken: impl Fn(&str) -> bool) -> Self {
        let name = self.name.clone();
        for number in 2.. {
            if !is_taken(&self.name) {
                break;
            }
            self.name = format!("{name}-{number}");
        }
        self
    }

    /// The command that starts the server's guardian, and with it the server, at a free port; and the server's base URL.
    pub(super) fn guarded_command(&self) -> io::Result<(Command, String)> {
        if !self.url.contains(PORT) {
            check_unused(&self.url)?;
        }
        let port = free_port()?.to_string();
        let at_port = |text: &str| text.replace(PORT, &port);
        let mut command = Command::new(THIS_PROGRAM);
        command
            .arg0(format!("callboard: guardian of {}", self.name))
            .arg(GUARDIAN)
            .arg(&self.program)
            .args(self.arguments.iter().map(|argument| at_port(argument)))
            .current_dir(&self.directory)
            .env_clear();
        for (name, value) in &self.environment {
            let value = value.to_str().map_or_else(|| value.clone(), |value| at_port(value).into());
            command.env(name, value);
        }
        Ok((command, at_port(&self.url)))
    }
}

fn directory(settings: &UpstreamSettings) -> Result<PathBuf, LaunchProblem> {
    let directory = std::env::current_dir()?.join(&settings.directory);
    if directory.is_dir() { Ok(directory) } else { Err(LaunchProblem::NoDirectory(directory)) }
}

/// The name of the program, or of what an interpreter runs: a module or a file.
fn name_of(program: &str, arguments: &[String]) -> String {
    let file_name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let program = file_name(program);
    if !program.starts_with("python") {
        return program;
    }
    let module = arguments.iter().skip_while(|argument| *argument != "-m").nth(1).cloned();
    let file = || arguments.iter().find_map(|argument| file_name(argument).strip_suffix(".py").map(str::to_owned));
    module.or_else(file).unwrap_or(program)
}

/// A port that nothing listens on. Another program may take it before the server does, which then ends and is started at another.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Refuses a fixed address at which something listens already: it would be taken for the server.
fn check_unused(url: &str) -> io::Result<()> {
    let address = url.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
    match TcpListener::bind(address) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            let remedy = "end that program, or leave the command out if it is the server";
            Err(io::Error::other(format!("another program listens on {address} already: {remedy}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(command: &[&str]) -> UpstreamSettings {
        UpstreamSettings {
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            command_place: "callboard.toml line 2".to_owned(),
            url: "http://127.0.0.1:{port}/v1".to_owned(),
            environment: vec!["AT=127.0.0.1:{port}".to_owned()],
            ..UpstreamSettings::default()
        }
    }

    const RULES: LaunchRules = LaunchRules { start_limit: Duration::ZERO, shows_content: false };

    fn path() -> impl Iterator<Item = (OsString, OsString)> {
        std::env::vars_os().filter(|(name, _)| name == "PATH")
    }

    #[test]
    fn the_port_is_written_everywhere() {
        let launch = Launch::of(&settings(&["sh", "-c", "serve --port {port}"]), &RULES, path()).unwrap().unwrap();
        let (command, url) = launch.guarded_command().unwrap();
        let port = url.strip_prefix("http://127.0.0.1:").and_then(|rest| rest.strip_suffix("/v1")).unwrap();
        port.parse::<u16>().unwrap();
        let arguments: Vec<_> = command.get_args().collect();
        assert_eq!(arguments.last().unwrap().to_str(), Some(format!("serve --port {port}").as_str()));
        let at = command.get_envs().find(|(name, _)| *name == "AT").unwrap().1.unwrap();
        assert_eq!(at.to_str(), Some(format!("127.0.0.1:{port}").as_str()));
    }

    #[test]
    fn a_fixed_address_must_be_unused() {
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", other.local_addr().unwrap());
        let fixed = UpstreamSettings { url: url.clone(), ..settings(&["sh"]) };
        let launch = Launch::of(&fixed, &RULES, path()).unwrap().unwrap();
        let error = launch.guarded_command().unwrap_err().to_string();
        assert!(error.starts_with("another program listens on 127.0.0.1:"), "{error}");
        drop(other);
        assert_eq!(launch.guarded_command().unwrap().1, url);
    }

    #[test]
    fn a_mistake_names_its_place() {
        assert!(Launch::of(&settings(&[]), &RULES, path()).unwrap().is_none());
        let error = Launch::of(&settings(&["no-such-server", "-x"]), &RULES, path()).unwrap_err().to_string();
        assert_eq!(
            error,
            "callboard.toml line 2: command = [\"no-such-server\", …]: there is no program no-such-server in PATH: install it, or \
             write the path to it"
        );
        let missing_folder = UpstreamSettings { directory: "/no/such/folder".into(), ..settings(&["sh"]) };
        let error = Launch::of(&missing_folder, &RULES, path()).unwrap_err().to_string();
        assert!(error.ends_with("its directory /no/such/folder does not exist"), "{error}");
    }

    #[test]
    fn servers_are_named_after_their_program() {
        for (command, name) in [
            (&["llama-server", "-m", "model.gguf"][..], "llama-server"),
            (&["/opt/llama/llama-server"], "llama-server"),
            (&["python3", "-m", "llama_cpp.server"], "llama_cpp.server"),
            (&["python3", "bin/serve.py"], "serve"),
            (&["python3", "-c", "pass"], "python3"),
        ] {
            let words: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(name_of(&words[0], &words[1..]), name);
        }
        let launch = Launch::of(&settings(&["sh", "{port}"]), &RULES, path()).unwrap().unwrap();
        assert_eq!(launch.clone().with_other_name(|name| ["sh", "sh-2"].contains(&name)).name, "sh-3");
        assert_eq!(launch.with_other_name(|_| false).name, "sh");
    }
}
