//! The root process: the one interpreter that is started, not forked. It imports no character.
//!
//! Should it end, the kernel ends everything below it, and the next load or call that needs it starts another.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::channel_process::{Child, Pipes};
use super::process_handle::Process;
use super::protocol::{Boot, HostEvent, VERSION};
use super::transport::json_frame;
use crate::environment::restrict_environment;
use crate::error::StartError;
use crate::sandbox::KernelSupport;
use crate::settings::HostSettings;

const START_TIMEOUT: Duration = Duration::from_secs(30);
const LARGEST_FRAME: usize = 64 << 10;

/// The name under which it prints.
const NAME: &str = "python";

/// What the interpreter runs first.
const BOOT: &str = include_str!("../python/boot.py");

/// The modules of the package `callboard_host`, each after those it imports.
const MODULES: &[(&str, &str)] = &[
    ("kernel", include_str!("../python/callboard_host/kernel.py")),
    ("channel", include_str!("../python/callboard_host/channel.py")),
    ("problems", include_str!("../python/callboard_host/problems.py")),
    ("state", include_str!("../python/callboard_host/state.py")),
    ("schema_check", include_str!("../python/callboard_host/schema_check.py")),
    ("function_schema", include_str!("../python/callboard_host/function_schema.py")),
    ("view_check", include_str!("../python/callboard_host/view_check.py")),
    ("variables", include_str!("../python/callboard_host/variables.py")),
    ("awaiting", include_str!("../python/callboard_host/awaiting.py")),
    ("references", include_str!("../python/callboard_host/references.py")),
    ("imports", include_str!("../python/callboard_host/imports.py")),
    ("own_modules", include_str!("../python/callboard_host/own_modules.py")),
    ("self_writes", include_str!("../python/callboard_host/self_writes.py")),
    ("descendants", include_str!("../python/callboard_host/descendants.py")),
    ("capabilities", include_str!("../python/callboard_host/capabilities.py")),
    ("landlock", include_str!("../python/callboard_host/landlock.py")),
    ("seccomp", include_str!("../python/callboard_host/seccomp.py")),
    ("sandbox", include_str!("../python/callboard_host/sandbox.py")),
    ("process_setup", include_str!("../python/callboard_host/process_setup.py")),
    ("fork_runner", include_str!("../python/callboard_host/fork_runner.py")),
    ("handler_probe", include_str!("../python/callboard_host/handler_probe.py")),
    ("implementations", include_str!("../python/callboard_host/implementations.py")),
    ("tool_checks", include_str!("../python/callboard_host/tool_checks.py")),
    ("trial", include_str!("../python/callboard_host/trial.py")),
    ("loading", include_str!("../python/callboard_host/loading.py")),
    ("fork_server", include_str!("../python/callboard_host/fork_server.py")),
    ("leftovers", include_str!("../python/callboard_host/leftovers.py")),
    ("worker", include_str!("../python/callboard_host/worker.py")),
    ("zygote", include_str!("../python/callboard_host/zygote.py")),
    ("root_process", include_str!("../python/callboard_host/root_process.py")),
];

/// Starts the interpreter and waits for its hello.
pub(crate) async fn start_root(settings: &HostSettings) -> Result<(Child, KernelSupport), StartError> {
    let (pipes, [channel, stdout, stderr]) = Pipes::new(NAME, settings, LARGEST_FRAME)?;
    let mut command = Command::new(&settings.interpreter);
    let child = restrict_environment(&mut command, &settings.environment)
        .args(["-B", "-X", "utf8", "-c", &boot_command()])
        .stdin(Stdio::from(channel))
        .stdout(Stdio::from(stdout))
        .stderr(Stdio::from(stderr))
        .process_group(0)
        .spawn()?;
    // The command has the child's ends of the pipes.
    drop(command);
    let mut root = Child { process: Process::from_child(child, pipes.sender.clone())?, pipes };
    let kernel = boot(&mut root, settings).await?;
    match kernel.lacking() {
        Some(lacking) if settings.sandbox => Err(StartError::Sandbox(lacking)),
        _ => Ok((root, kernel)),
    }
}

/// Reads the boot script from the channel: lists of processes show this command line, so it is short.
fn boot_command() -> String {
    format!("exec(__import__('os').read(0, {}))", BOOT.len())
}

async fn boot(root: &mut Child, settings: &HostSettings) -> Result<KernelSupport, StartError> {
    let HostSettings { limits, sandbox, .. } = settings;
    let message = json_frame(&Boot { modules: MODULES, parent: std::process::id(), limits, sandbox: *sandbox })?;
    let hello = root.pipes.exchange(&[BOOT.as_bytes(), &message], START_TIMEOUT).await;
    let body = hello.ok().and_then(Result::ok).flatten();
    match body.map(|body| serde_json::from_slice(&body)) {
        Some(Ok(HostEvent::Hello { version: Some(VERSION), kernel: Some(kernel), .. })) => Ok(kernel),
        Some(Ok(HostEvent::Hello { version, .. })) => Err(StartError::Version { ours: VERSION, theirs: version }),
        _ => {
            root.process.kill();
            root.process.ended().await;
            root.pipes.output.flush();
            Err(StartError::NoAnswer { waited: START_TIMEOUT, stderr: root.pipes.output.stderr_tail() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_modules_are_embedded() {
        assert!(MODULES.iter().all(|(name, source)| !name.is_empty() && source.starts_with("\"\"\"")));
        assert!(BOOT.contains("root_process") && MODULES.last().is_some_and(|(name, _)| *name == "root_process"));
    }

    #[test]
    fn both_sides_speak_the_same_version() {
        let line = format!("VERSION = {VERSION}\n");
        assert!(MODULES.iter().any(|(name, source)| *name == "channel" && source.contains(&line)));
    }
}
