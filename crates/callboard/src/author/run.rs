//! The commands of authors, each from its settings to its exit code.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context as _;

use super::{Parlour, Rehearsal, chat, check, new, test, try_tool, upstreams};
use crate::app;
use crate::cli::Command;
use crate::config::Settings;
use crate::stage::{self, Cast, Printed};
use crate::telemetry;
use crate::upstream::{Client, Tls};

/// Carries a command out; false when it found something wrong.
pub fn run(command: Command, mut settings: Settings) -> anyhow::Result<bool> {
    telemetry::log::start("off").context("logging cannot be started")?;
    if matches!(command, Command::Chat { .. } | Command::Upstreams(_)) {
        app::look_for_servers(&mut settings)?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut out = std::io::stdout();
    let done = runtime.block_on(carry_out(command, settings, &mut out))?;
    out.flush()?;
    runtime.shutdown_background();
    Ok(done)
}

async fn carry_out(command: Command, settings: Settings, out: &mut impl Write) -> anyhow::Result<bool> {
    match command {
        Command::New { name, .. } => new(&settings.characters, &name, out).map(|()| true),
        Command::Check { dir, .. } => check(&cast(&settings, dir), out).await,
        Command::Try { character, tool, arguments, .. } => {
            try_tool(&cast(&settings, None), &character, &tool, &arguments, out).await
        }
        Command::Test { dir, .. } => {
            let printed = Printed::default();
            let folder = dir.unwrap_or_else(|| settings.characters.clone());
            let cast = Cast::new(folder, app::company(&settings, printed.sink()));
            let rehearsal = Rehearsal { cast: &cast, settings: &settings, client: client(&settings)?, printed };
            test(&rehearsal, out).await
        }
        Command::Chat { character, .. } => {
            let role = cast(&settings, None).load_one(&character).await?;
            let app = app::App::build(settings)?;
            let parlour = Parlour { role, settings: &app.settings, upstreams: &app.upstreams, client: app.client() };
            chat(&parlour, out).await.map(|()| true)
        }
        Command::Upstreams(_) => upstreams(&app::App::build(settings)?, out).await,
        Command::Serve(_) | Command::Config(_) => Ok(true),
    }
}

fn cast(settings: &Settings, folder: Option<PathBuf>) -> Cast {
    let folder = folder.unwrap_or_else(|| settings.characters.clone());
    Cast::new(folder, app::company(settings, stage::terminal()))
}

fn client(settings: &Settings) -> anyhow::Result<Client> {
    Ok(Client::new(&Tls::load(false)?, settings.timeouts.connect, settings.timeouts.first_byte))
}
