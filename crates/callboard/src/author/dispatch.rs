//! Runs the commands of authors.

use std::io::Write;
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use anyhow::{Context as _, bail};
use callboard_python::OutputSink;
use tokio::sync::watch;

use super::chat::chat;
use super::check::check;
use super::eval::eval;
use super::new::new;
use super::resolve_names::names;
use super::stats::stats;
use super::test::{Rehearsal, test};
use super::traces::traces;
use super::try_tool::{TriedCall, try_tool};
use super::upstream_status::upstreams;
use crate::app;
use crate::characters::{CharacterRegistry, OutputBuffer, terminal_output};
use crate::cli::Command;
use crate::config::{Settings, StoreUrl};
use crate::services::Services;
use crate::telemetry;
use crate::upstream::{Client, Tls};

/// How long a command waits for model servers to say who they are.
const FIRST_ANSWERS: Duration = Duration::from_secs(1);

/// Runs a command; false when it found something wrong.
pub fn run(command: Command, mut settings: Settings) -> anyhow::Result<bool> {
    telemetry::log::start("off", settings.log_format).context("logging cannot be started")?;
    check_folder(&command)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let asks_servers = matches!(command, Command::Chat { .. } | Command::Eval(_) | Command::Upstreams(_));
    let kept = settings.clone();
    if asks_servers {
        settings.store = StoreUrl::in_memory();
        runtime.block_on(app::find_model_servers(&mut settings))?;
    }
    let mut out = std::io::stdout();
    let done = runtime.block_on(dispatch(command, (settings, &kept), &mut out));
    runtime.shutdown_background();
    match done.and_then(|done| out.flush().map(|()| done).map_err(Into::into)) {
        // The reader closed the pipe early, as in `callboard eval … | head`.
        Err(error) if is_broken_pipe(&error) => Ok(true),
        done => done,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Refuses a folder argument that does not exist.
fn check_folder(command: &Command) -> anyhow::Result<()> {
    if let Command::Check { dir: Some(dir), .. } | Command::Test { dir: Some(dir), .. } = command
        && !dir.is_dir()
    {
        bail!("the folder {} does not exist; name a folder of characters", dir.display());
    }
    Ok(())
}

/// Runs a command with its settings; `kept` names the store of the Callboard that serves.
async fn dispatch(
    command: Command,
    (settings, kept): (Settings, &Settings),
    out: &mut impl Write,
) -> anyhow::Result<bool> {
    match command {
        Command::New { name, .. } => new(&settings.characters, &name, out).map(|()| true),
        Command::Check { dir, .. } => check(&registry(&settings, dir), out).await,
        Command::Try { character, tool, arguments, .. } => {
            try_tool(&registry(&settings, None), &settings, &TriedCall { character, tool, arguments }, out).await
        }
        Command::Test { dir, strict, .. } => {
            let printed = OutputBuffer::default();
            let folder = dir.unwrap_or_else(|| settings.characters.clone());
            let registry = registry_in(folder, &settings, printed.sink());
            let rehearsal = Rehearsal { registry: &registry, settings: &settings, client: client(&settings)?, printed };
            test(&rehearsal, strict, out).await
        }
        Command::Chat { character, .. } => {
            let character = registry(&settings, None).load_one(&character).await?;
            let app = app::build(settings, 0)?;
            with_model_servers(&app, chat(character, &app, out)).await.map(|()| true)
        }
        Command::Eval(arguments) => {
            let app = app::build(settings, 0)?;
            with_model_servers(&app, eval(&arguments, &app, out)).await
        }
        Command::Names(arguments) => names(&arguments, &registry(&settings, None), out).await,
        Command::Stats { since, json, .. } => stats(since, json, &settings, out).await,
        Command::Traces(arguments) => traces(&arguments, &settings, &client(&settings)?, out).await,
        Command::Upstreams(arguments) => upstreams(&arguments, &app::build(settings, 0)?, kept, out).await,
        Command::Serve(_) | Command::Config(_) => Ok(true),
    }
}

/// Does the work of a command beside the model servers that Callboard starts, which end with it, and beside probes of those that it asks.
async fn with_model_servers<T>(app: &Services, work: impl Future<Output = T>) -> T {
    let (stop, stopped) = watch::channel(false);
    let client = app.client().for_probes();
    let work = async {
        app.upstreams.states_within(FIRST_ANSWERS, &client).await;
        let mut work = pin!(work);
        let done = tokio::select! {
            done = &mut work => done,
            () = app.upstreams.run_probes(&client) => work.await,
        };
        stop.send_replace(true);
        done
    };
    let servers =
        || app.upstreams.list().iter().filter_map(|upstream| Some((&upstream.url, upstream.supervised.as_ref()?)));
    servers().for_each(|(name, _)| note(&format!("starting the model server {name}, which may take a while")));
    let done = tokio::join!(work, app.upstreams.supervise(&client, &stopped)).0;
    for (name, exit) in servers().filter_map(|(name, server)| Some((name, server.status().last_exit?))) {
        note(&format!("the model server {name} {}; its last lines:\n  {}", exit.words, exit.output.join("\n  ")));
    }
    done
}

/// A line on standard error: standard output is for results, and the log is off.
fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn registry(settings: &Settings, folder: Option<PathBuf>) -> CharacterRegistry {
    let folder = folder.unwrap_or_else(|| settings.characters.clone());
    registry_in(folder, settings, terminal_output())
}

fn registry_in(folder: PathBuf, settings: &Settings, output: OutputSink) -> CharacterRegistry {
    let limits = app::schema_limits(&settings.limits);
    CharacterRegistry::new(folder, app::python_settings(settings, output), limits)
}

fn client(settings: &Settings) -> anyhow::Result<Client> {
    Ok(Client::new(&Tls::load(false)?, settings.timeouts.connect, settings.timeouts.first_byte))
}
