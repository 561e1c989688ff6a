//! `callboard upstreams`: the model servers as a running Callboard sees them, or whether they answer now.

use std::io::Write;

use anyhow::bail;
use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::json;

use super::running_callboard::{QueryResult, RunningCallboard};
use super::server_table::{KnownModel, write_models};
use super::stats::open_existing_store;
use crate::cli::UpstreamsArgs;
use crate::config::Settings;
use crate::server_findings;
use crate::services::Services;
use crate::upstream::Client;

#[derive(Deserialize)]
struct UpstreamList {
    data: Vec<UpstreamState>,
}

#[derive(Deserialize)]
struct UpstreamState {
    url: String,
    #[serde(default)]
    built_in: bool,
    in_flight: usize,
    set_aside: bool,
    known: Vec<KnownModel>,
    process: Option<ProcessState>,
}

/// The process of a server that Callboard starts.
#[derive(Deserialize)]
struct ProcessState {
    words: String,
    last_exit: Option<LastExit>,
}

#[derive(Deserialize)]
struct LastExit {
    output: Vec<String>,
}

/// Probes or forgets what is to be, and writes what is known; false when no server answers.
pub(super) async fn upstreams(
    arguments: &UpstreamsArgs,
    app: &Services,
    kept: &Settings,
    out: &mut impl Write,
) -> anyhow::Result<bool> {
    if arguments.model_name.is_some() && !arguments.probe && !arguments.forget {
        bail!("a model is named to probe it or to forget it; add --probe or --forget");
    }
    let client = app.client();
    let running = RunningCallboard::of(&app.settings);
    match ask(&running, arguments, &client).await {
        QueryResult::Answer(list) => {
            writeln!(out, "as seen by the Callboard at {}:", running.address)?;
            list.data.iter().try_for_each(|upstream| write_state(upstream, out))?;
            return Ok(true);
        }
        QueryResult::Unauthorized => writeln!(
            out,
            "the Callboard at {} wants one of its keys, in api_keys or CALLBOARD_API_KEYS; the model servers are asked directly:",
            running.address
        )?,
        QueryResult::NotRunning => {
            writeln!(out, "no Callboard runs at {}; the model servers are asked directly:", running.address)?;
        }
    }
    update_findings(arguments, app, kept).await;
    write_answers(app, &client, out).await
}

/// Does itself what a Callboard that runs would do: takes what is known from the store, probes or forgets, and stores what has changed.
async fn update_findings(arguments: &UpstreamsArgs, app: &Services, kept: &Settings) {
    // Without a store nothing is known yet.
    let store = open_existing_store(kept).ok();
    if let Some(store) = &store {
        server_findings::load(&app.upstreams, store, kept.keep.finding_days).await;
    }
    let servers = || app.upstreams.list().iter().filter(|server| server.local.is_none() && server.supervised.is_none());
    let (model, client) = (arguments.model_name.as_deref(), app.client().for_probes());
    if arguments.forget {
        servers().for_each(|server| server.forget(model));
    }
    if arguments.probe {
        join_all(servers().map(|server| server.probe_now(model, &client))).await;
    }
    if let Some(store) = &store {
        server_findings::save(&app.upstreams, store).await;
    }
}

/// Writes which servers answer now, and what is known of their models; false when none does.
async fn write_answers(app: &Services, client: &Client, out: &mut impl Write) -> anyhow::Result<bool> {
    let mut answered = false;
    for upstream in app.upstreams.on_offer() {
        if upstream.local.is_some() {
            answered = true;
            writeln!(out, "{}: {BUILT_IN}", upstream.url)?;
            continue;
        }
        match &upstream.supervised {
            Some(_) => writeln!(out, "{}: {STARTED}", upstream.url)?,
            None => {
                let state = upstream.state(client).await;
                answered |= state.answers();
                writeln!(out, "{}: {state}", upstream.url)?;
            }
        }
        write_models(&serde_json::from_value::<Vec<_>>(upstream.known_models().into())?, out)?;
    }
    Ok(answered)
}

/// Asks the Callboard that runs, which probes or forgets first where that is wanted.
async fn ask(running: &RunningCallboard, arguments: &UpstreamsArgs, client: &Client) -> QueryResult<UpstreamList> {
    let selection = json!({"model": arguments.model_name});
    match arguments {
        UpstreamsArgs { probe: true, .. } => running.post(client, "/upstreams/probe", &selection).await,
        UpstreamsArgs { forget: true, .. } => running.post(client, "/upstreams/forget", &selection).await,
        _ => running.get(client, "/upstreams").await,
    }
}

const BUILT_IN: &str = "the built-in model, used because no model server was found; name one with --upstream URL";

const STARTED: &str = "started by Callboard, which does not run";

fn write_state(upstream: &UpstreamState, out: &mut impl Write) -> std::io::Result<()> {
    let state = match upstream {
        UpstreamState { built_in: true, .. } => BUILT_IN,
        UpstreamState { set_aside: true, .. } => "skipped for a while after failures",
        _ => "in use",
    };
    let requests = if upstream.in_flight == 1 { "request" } else { "requests" };
    writeln!(out, "{}: {state}, {} {requests} in flight", upstream.url, upstream.in_flight)?;
    if let Some(process) = &upstream.process {
        writeln!(out, "  it {}", process.words)?;
        let mut output = process.last_exit.iter().flat_map(|exit| &exit.output);
        output.try_for_each(|line| writeln!(out, "    {line}"))?;
    }
    write_models(&upstream.known, out)
}
