//! The root: the one interpreter that we start ourselves. All other processes are forked from it, directly or not.
//!
//! It runs no character's code. Should it end all the same, the kernel ends everything below it, and the next file or
//! call that needs it starts another.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::host::{BOOT, MODULES, command};
use super::obituaries::Obituaries;
use super::process::Process;
use super::protocol::{Boot, Event, HostLimits, HostSettings, VERSION};
use super::relay::{Relay, relay};
use super::start_error::StartError;
use super::transport::{Receiver, Sender, channel, frame};
use crate::settings::{CompanySettings, Limits};

const PATIENCE: Duration = Duration::from_secs(30);
const LARGEST_FRAME: usize = 64 << 10;

/// Under which name the root prints. It has nothing to say, unless it fails.
const NAME: &str = "python";

pub(crate) struct Root {
    process: Process,
    child: Child,
    sender: Sender,
    receiver: Receiver,
    relay: Relay,
    obituaries: Rc<Obituaries>,
}

impl Root {
    /// Starts the interpreter and waits until it has said hello.
    pub(crate) async fn start(settings: &CompanySettings, obituaries: Rc<Obituaries>) -> Result<Self, StartError> {
        let (sender, receiver, theirs) = channel(LARGEST_FRAME)?;
        let (relay, [stdout, stderr]) = relay(NAME, &settings.output, settings.limits.output)?;
        let child = Command::new(&settings.interpreter)
            .args(["-B", "-X", "utf8", "-c", &command()])
            .env_remove("PYTHONINSPECT")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::from(stdout))
            .stderr(Stdio::from(stderr))
            .process_group(0)
            .spawn()?;
        let process = Process::adopt(child.id())?;
        let mut root = Self { process, child, sender, receiver, relay, obituaries };
        root.boot(&settings.limits).await?;
        Ok(root)
    }

    /// The way to it.
    pub(crate) fn sender(&self) -> Sender {
        self.sender.clone()
    }

    /// Notes what it says, until it ends or is told to leave.
    pub(crate) async fn serve(mut self, mut told_to_leave: oneshot::Receiver<()>) {
        loop {
            tokio::select! {
                frame = self.receiver.next() => match frame {
                    Ok(Some(body)) => self.note(&body),
                    _ => break,
                },
                _ = &mut told_to_leave => break,
                () = self.process.ended() => break,
                () = self.relay.run() => {}
            }
        }
    }

    async fn boot(&mut self, limits: &Limits) -> Result<(), StartError> {
        let order = frame(|bytes| serde_json::to_writer(bytes, &boot_order(limits)))?;
        let hello = async {
            self.sender.send(BOOT.as_bytes()).await?;
            self.sender.send(&order).await?;
            self.receiver.next().await
        };
        let answer = tokio::select! {
            answer = timeout(PATIENCE, hello) => answer.unwrap_or(Ok(None)),
            () = self.relay.run() => Ok(None),
        };
        match answer.map(|body| body.map(|body| serde_json::from_slice(&body))) {
            Ok(Some(Ok(Event::Hello { version: Some(VERSION), .. }))) => Ok(()),
            Ok(Some(Ok(Event::Hello { version, .. }))) => Err(StartError::Version { theirs: version }),
            _ => Err(self.no_answer().await),
        }
    }

    async fn no_answer(&self) -> StartError {
        self.process.kill();
        self.process.ended().await;
        self.relay.close_account();
        StartError::NoAnswer { waited: PATIENCE, stderr: self.relay.tail() }
    }

    fn note(&self, body: &[u8]) {
        match serde_json::from_slice(body) {
            Ok(Event::Exited { pid, status }) => self.obituaries.note(pid, status),
            Ok(Event::NotForked { number, why }) => tracing::error!(number, why, "no dresser could be forked"),
            _ => tracing::error!("the root said something unexpected"),
        }
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        self.process.kill();
        // It is our child, so it must be waited for; being killed, it ends at once.
        if let Err(error) = self.child.wait() {
            tracing::debug!(%error, "the root could not be waited for");
        }
    }
}

fn boot_order(limits: &Limits) -> Boot<'static> {
    let Limits { memory, open_files, result, state, .. } = *limits;
    let limits = HostLimits { memory, open_files, result, state };
    Boot { modules: MODULES, settings: HostSettings { parent: std::process::id(), limits } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_modules_are_all_there() {
        let order = boot_order(&Limits::default());
        assert!(order.modules.iter().all(|(name, source)| !name.is_empty() && source.starts_with("\"\"\"")));
        assert!(BOOT.contains("package.root.run") && order.modules.last().is_some_and(|(name, _)| *name == "root"));
    }

    #[test]
    fn both_sides_speak_the_same_version() {
        let line = format!("VERSION = {VERSION}\n");
        assert!(MODULES.iter().any(|(name, source)| *name == "wire" && source.contains(&line)));
    }
}
