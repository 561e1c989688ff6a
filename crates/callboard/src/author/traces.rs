//! `callboard traces`: what happened in the last turns, or in those of one request, with every call that was not valid.

use std::collections::HashSet;
use std::io::Write;
use std::time::Duration;

use anyhow::bail;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::running_callboard::{QueryResult, RunningCallboard};
use super::shown_trace::ShownTrace;
use super::stats::open_existing_store;
use crate::cli::TracesArgs;
use crate::config::Settings;
use crate::store::{Store, TraceFilter, TracePage};
use crate::upstream::Client;

/// The most traces on a page over HTTP.
const PAGE: usize = 100;
const POLL_EVERY: Duration = Duration::from_millis(500);

#[derive(Deserialize)]
struct TraceList {
    data: Vec<Box<RawValue>>,
    last_id: String,
    has_more: bool,
}

/// Where the traces are.
enum Source<'a> {
    /// A Callboard that serves.
    Running(&'a RunningCallboard, &'a Client),
    /// The store of one that does not.
    Store(Store),
}

/// Writes traces, the oldest first; false when there is none of the request.
pub(super) async fn traces(
    arguments: &TracesArgs,
    settings: &Settings,
    client: &Client,
    out: &mut impl Write,
) -> anyhow::Result<bool> {
    let request = arguments.request.as_deref().unwrap_or_default();
    if !request.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte)) {
        bail!("{request:?} is no id of a request: give what the header x-request-id of the reply says");
    }
    let running = RunningCallboard::of(settings);
    let source = match running.get::<Value>(client, "/traces?limit=1").await {
        QueryResult::Answer(_) => Source::Running(&running, client),
        QueryResult::Unauthorized => {
            bail!("the Callboard at {} wants one of its keys, in api_keys or CALLBOARD_API_KEYS", running.address)
        }
        QueryResult::NotRunning => Source::Store(open_existing_store(settings)?),
    };
    let mut page = Page { out, json: arguments.json, seen: HashSet::new(), hides_content: false };
    let found = page.write(source.newest(request, arguments.last).await?)?;
    if arguments.follow {
        page.follow(&source, request).await?;
    }
    if !found && !request.is_empty() {
        writeln!(
            page.out,
            "there is no trace of the request {request}; it was not a turn, was not recorded, or is past its retention"
        )?;
        return Ok(false);
    }
    if !found {
        writeln!(page.out, "there are no traces")?;
    }
    page.hint()?;
    Ok(true)
}

impl Source<'_> {
    /// The newest traces, newest first.
    async fn newest(&self, request: &str, most: usize) -> anyhow::Result<Vec<String>> {
        match self {
            Self::Running(running, client) => from_callboard(running, client, request, most).await,
            Self::Store(store) => {
                let request_id = (!request.is_empty()).then(|| request.to_owned());
                let filter = TraceFilter { request_id, ..TraceFilter::default() };
                let page = TracePage { before: None, limit: i64::try_from(most).unwrap_or(i64::MAX) };
                Ok(store.traces_like(&page, &filter).await?.into_iter().map(|trace| trace.body).collect())
            }
        }
    }
}

async fn from_callboard(
    running: &RunningCallboard,
    client: &Client,
    request: &str,
    most: usize,
) -> anyhow::Result<Vec<String>> {
    let (mut found, mut after) = (Vec::new(), String::new());
    while found.len() < most {
        let limit = PAGE.min(most - found.len());
        let mut path = format!("/traces?limit={limit}");
        for (name, value) in [("request_id", request), ("after", &after)].iter().filter(|(_, value)| !value.is_empty())
        {
            path.push_str(&format!("&{name}={value}"));
        }
        let QueryResult::Answer(list) = running.get::<TraceList>(client, &path).await else {
            bail!("the Callboard at {} does not answer any more", running.address);
        };
        found.extend(list.data.iter().map(|trace| trace.get().to_owned()));
        if !list.has_more {
            break;
        }
        after = list.last_id;
    }
    Ok(found)
}

/// What is written.
struct Page<'a, W> {
    out: &'a mut W,
    json: bool,
    /// The traces that were written, when more are waited for.
    seen: HashSet<String>,
    /// Whether a call was written without its content.
    hides_content: bool,
}

impl<W: Write> Page<'_, W> {
    /// Writes traces that were not written yet, the oldest first; whether there were any.
    fn write(&mut self, newest_first: Vec<String>) -> anyhow::Result<bool> {
        let mut any = false;
        for text in newest_first.into_iter().rev() {
            let trace: ShownTrace = serde_json::from_str(&text)?;
            if !self.seen.insert(trace.id.clone()) {
                continue;
            }
            any = true;
            self.hides_content |= trace.hides_content();
            if self.json { writeln!(self.out, "{text}")? } else { write!(self.out, "{trace}")? }
        }
        self.out.flush()?;
        Ok(any)
    }

    /// Writes new traces until the reader is gone. A turn that began earlier may end later, so all of the newest page are compared.
    async fn follow(&mut self, source: &Source<'_>, request: &str) -> anyhow::Result<()> {
        loop {
            tokio::time::sleep(POLL_EVERY).await;
            let newest = source.newest(request, PAGE).await?;
            self.write(newest)?;
        }
    }

    fn hint(&mut self) -> anyhow::Result<()> {
        if self.hides_content && !self.json {
            let hint = "set trace.content = true, or CALLBOARD_TRACE_CONTENT=true, to record what was called";
            writeln!(self.out, "{hint}")?;
        }
        Ok(())
    }
}
