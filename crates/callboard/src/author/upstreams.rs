//! `callboard upstreams`: the model servers as a running Callboard sees them, or as they are found now.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Deserialize;

use crate::services::Services;
use crate::upstream::Upstream;

#[derive(Deserialize)]
struct Seen {
    data: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    url: String,
    in_flight: usize,
    set_aside: bool,
    learned: BTreeMap<String, Vec<String>>,
}

/// Writes what is known; false when no server answers.
pub async fn upstreams(app: &Services, out: &mut impl Write) -> anyhow::Result<bool> {
    let own = Upstream::new(format!("http://{}/v1", app.settings.listen));
    let client = app.client();
    if let Ok(body) = client.get(&own, "/upstreams", None, 1 << 20).await
        && let Ok(seen) = serde_json::from_slice::<Seen>(&body)
    {
        writeln!(out, "as the Callboard at {} sees them:", app.settings.listen)?;
        return seen
            .data
            .iter()
            .map(|entry| write_entry(entry, out))
            .collect::<std::io::Result<Vec<()>>>()
            .map(|_| Ok(true))?;
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

fn write_entry(entry: &Entry, out: &mut impl Write) -> std::io::Result<()> {
    let state = if entry.set_aside { "set aside for a while" } else { "in use" };
    writeln!(out, "{}: {state}, {} requests in flight", entry.url, entry.in_flight)?;
    for (model, quirks) in &entry.learned {
        writeln!(out, "  {model} refuses: {}", quirks.join(", "))?;
    }
    Ok(())
}
