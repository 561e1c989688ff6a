//! `callboard upstreams`: the model servers as a running Callboard sees them, or whether they answer now.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Deserialize;

use crate::services::Services;
use crate::upstream::Upstream;

#[derive(Deserialize)]
struct UpstreamList {
    data: Vec<UpstreamState>,
}

#[derive(Deserialize)]
struct UpstreamState {
    url: String,
    in_flight: usize,
    set_aside: bool,
    learned: BTreeMap<String, Vec<String>>,
}

/// Writes what is known; false when no server answers.
pub(super) async fn upstreams(app: &Services, out: &mut impl Write) -> anyhow::Result<bool> {
    let own = Upstream::new(format!("http://{}/v1", app.settings.listen));
    let client = app.client();
    if let Ok(body) = client.get(&own, "/upstreams", None, 1 << 20).await
        && let Ok(list) = serde_json::from_slice::<UpstreamList>(&body)
    {
        writeln!(out, "as seen by the Callboard at {}:", app.settings.listen)?;
        list.data.iter().try_for_each(|upstream| write_state(upstream, out))?;
        return Ok(true);
    }
    let mut answered = false;
    for upstream in app.upstreams.list() {
        match client.get(upstream, "/models", None, 4 << 20).await {
            Ok(_) => {
                answered = true;
                writeln!(out, "{}: answers", upstream.url)?;
            }
            Err(failure) => writeln!(out, "{}: {failure}", upstream.url)?,
        }
    }
    if app.upstreams.list().is_empty() {
        writeln!(out, "no model server is configured; name one with --upstream URL")?;
    }
    Ok(answered)
}

fn write_state(upstream: &UpstreamState, out: &mut impl Write) -> std::io::Result<()> {
    let state = if upstream.set_aside { "skipped for a while after failures" } else { "in use" };
    let requests = if upstream.in_flight == 1 { "request" } else { "requests" };
    writeln!(out, "{}: {state}, {} {requests} in flight", upstream.url, upstream.in_flight)?;
    for (model, quirks) in &upstream.learned {
        writeln!(out, "  {model} refuses: {}", quirks.join(", "))?;
    }
    Ok(())
}
