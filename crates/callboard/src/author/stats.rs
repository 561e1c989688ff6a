//! `callboard stats`: how models call tools, per character and model, from the counts in the store.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::bail;
use serde_json::{Value, json};

use crate::app;
use crate::clock;
use crate::config::Settings;
use crate::store::{Address, Count, Store};
use crate::trace::{TurnCount, TurnCounts};

const MILLIS_PER_DAY: i64 = 24 * 60 * 60 * 1000;

/// The counts of one character and model; no character is the gateway.
type Group = (String, String);

/// Opens the store that a serving process has made.
pub(super) fn open_existing_store(settings: &Settings) -> anyhow::Result<Store> {
    let address = Address::read(settings.store.expose())?;
    match &address {
        Address::Memory => bail!(
            "the store {address} exists only in the memory of the serving process: read its /metrics, or serve with a store \
             on disk, such as --store sqlite:callboard.db"
        ),
        Address::File { path, .. } if !path.exists() => {
            bail!("the store {address} does not exist yet: `callboard serve` creates it; name another with --store URL")
        }
        Address::File { .. } | Address::Postgres(_) => app::open_store(settings, 0),
    }
}

/// Writes the counts of the last `days` days, today included, as a table or as JSON.
pub(super) async fn stats(days: u16, json: bool, settings: &Settings, out: &mut impl Write) -> anyhow::Result<bool> {
    let today = clock::milliseconds().div_euclid(MILLIS_PER_DAY);
    let since = today.saturating_sub(i64::from(days.max(1)) - 1);
    let store = open_existing_store(settings)?;
    let groups = grouped(store.counts(since).await?);
    if json {
        writeln!(out, "{}", to_json(&groups, days))?;
    } else {
        write_page(&groups, days, out)?;
    }
    Ok(true)
}

fn grouped(counts: Vec<Count>) -> BTreeMap<Group, TurnCounts> {
    let mut groups: BTreeMap<Group, TurnCounts> = BTreeMap::new();
    for count in counts {
        let counts = groups.entry((count.character, count.model)).or_default();
        counts.add_named(&count.name, u64::try_from(count.amount).unwrap_or_default());
    }
    groups
}

fn to_json(groups: &BTreeMap<Group, TurnCounts>, days: u16) -> Value {
    let data: Vec<Value> = groups.iter().map(|((character, model), counts)| entry(character, model, counts)).collect();
    json!({"object": "stats", "days": days, "data": data})
}

fn entry(character: &str, model: &str, counts: &TurnCounts) -> Value {
    let mut entry = json!({"character": (!character.is_empty()).then_some(character), "model": model});
    if let Some(object) = entry.as_object_mut() {
        for count in TurnCount::ALL {
            object.insert(count.as_str().to_owned(), counts.get(count).into());
        }
        object.insert("tool_call_rate".to_owned(), call_rate(counts).into());
        object.insert("median_ms".to_owned(), counts.took_within(50).into());
        object.insert("p95_ms".to_owned(), counts.took_within(95).into());
    }
    entry
}

/// The share of turns with a call among those where tools were offered on a user message.
fn call_rate(counts: &TurnCounts) -> Option<f64> {
    let number = |count| f64::from(u32::try_from(counts.get(count)).unwrap_or(u32::MAX));
    (counts.get(TurnCount::Offered) > 0).then(|| number(TurnCount::WithCalls) / number(TurnCount::Offered))
}

/// A column of the table: its heading, and its cell in a row.
type Column = (&'static str, fn(&TurnCounts) -> String);

const COLUMNS: [Column; 14] = [
    ("turns", |counts| counts.get(TurnCount::Turns).to_string()),
    ("failed", |counts| counts.get(TurnCount::Failed).to_string()),
    ("left", |counts| counts.get(TurnCount::Interrupted).to_string()),
    ("call rate", |counts| percent(call_rate(counts))),
    ("text only", |counts| counts.get(TurnCount::TextOnly).to_string()),
    ("calls", |counts| counts.get(TurnCount::Calls).to_string()),
    ("broken before", |counts| counts.get(TurnCount::ViolationsBefore).to_string()),
    ("after", |counts| counts.get(TurnCount::ViolationsAfter).to_string()),
    ("re-asked", |counts| counts.get(TurnCount::Reasked).to_string()),
    ("refused", |counts| counts.get(TurnCount::Refused).to_string()),
    ("not run", |counts| counts.get(TurnCount::ToolsRefused).to_string()),
    ("tool errors", |counts| counts.get(TurnCount::ToolErrors).to_string()),
    ("timeouts", |counts| counts.get(TurnCount::ToolTimeouts).to_string()),
    ("median/95th", times),
];

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0))
}

fn times(counts: &TurnCounts) -> String {
    match (counts.took_within(50), counts.took_within(95)) {
        (Some(median), Some(most)) => format!("{median}/{most} ms"),
        _ => "-".to_owned(),
    }
}

fn write_page(groups: &BTreeMap<Group, TurnCounts>, days: u16, out: &mut impl Write) -> std::io::Result<()> {
    let when = if days == 1 { "today".to_owned() } else { format!("in the last {days} days") };
    if groups.is_empty() {
        return writeln!(out, "nothing was counted {when}; look further back with --since DAYS");
    }
    let mut rows = vec![row("character", "model", |(heading, _)| (*heading).to_owned())];
    for ((character, model), counts) in groups {
        let [character, model] = [character, model].map(|name| if name.is_empty() { "-" } else { name });
        rows.push(row(character, model, |(_, cell)| cell(counts)));
    }
    writeln!(
        out,
        "{when}, by character and model (character - is the gateway; model - are tools run by hand, and requests without a model):\n"
    )?;
    let width = |place: usize| rows.iter().filter_map(|row| row.get(place)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..COLUMNS.len() + 2).map(|place| width(place).unwrap_or_default()).collect();
    for row in &rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(place, (cell, width))| {
            if place < 2 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

fn row(character: &str, model: &str, cell: impl Fn(&Column) -> String) -> Vec<String> {
    [character.to_owned(), model.to_owned()].into_iter().chain(COLUMNS.iter().map(cell)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(character: &str, name: &str, amount: i64) -> Count {
        Count { day: 1, character: character.to_owned(), model: "m".to_owned(), name: name.to_owned(), amount }
    }

    #[test]
    fn days_are_added_up_by_character_and_model() {
        let counts = vec![
            count("", "turns", 1),
            count("grimlog", "turns", 2),
            count("grimlog", "turns", 3),
            count("grimlog", "offered", 4),
            count("grimlog", "with_calls", 3),
            count("grimlog", "took_ms_15", 5),
        ];
        let groups = grouped(counts);
        let json = to_json(&groups, 7);
        assert_eq!(json["data"][0]["character"], Value::Null);
        assert_eq!(json["data"][0]["tool_call_rate"], Value::Null);
        assert_eq!((&json["data"][1]["turns"], &json["data"][1]["tool_call_rate"]), (&json!(5), &json!(0.75)));
        let mut page = Vec::new();
        write_page(&groups, 7, &mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        let line = page.lines().find(|line| line.starts_with("grimlog")).unwrap();
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(
            cells,
            ["grimlog", "m", "5", "0", "0", "75.0", "%", "0", "0", "0", "0", "0", "0", "0", "0", "0", "15/15", "ms"]
        );
    }

    #[test]
    fn an_empty_table_says_so() {
        let mut page = Vec::new();
        write_page(&BTreeMap::new(), 1, &mut page).unwrap();
        assert_eq!(
            String::from_utf8(page).unwrap(),
            "nothing was counted today; look further back with --since DAYS\n"
        );
    }
}
