//! Daily counts by character and model, for statistics over a long time.

use super::error::StoreError;
use super::handle::Store;
use super::statement::{Row, Statement, cells};

/// Rows per count, so that concurrent writers rarely wait for each other.
const SHARDS: u64 = 16;

const ADD: &str = "INSERT INTO counts (day, character, model, name, amount, shard) VALUES ($1, $2, $3, $4, $5, $6) \
     ON CONFLICT (day, character, model, name, shard) DO UPDATE SET amount = counts.amount + excluded.amount";
const SINCE: &str = "SELECT day, character, model, name, CAST(sum(amount) AS BIGINT) FROM counts WHERE day >= $1 \
     GROUP BY day, character, model, name ORDER BY day, character, model, name";

/// Something counted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count {
    /// Days since 1970.
    pub day: i64,
    /// The character; empty for the gateway.
    pub character: String,
    /// The model.
    pub model: String,
    /// What was counted.
    pub name: String,
    /// The amount.
    pub amount: i64,
}

impl Store {
    /// All counts since a day.
    pub async fn counts(&self, since_day: i64) -> Result<Vec<Count>, StoreError> {
        self.reads.all(Statement::new(SINCE, cells![since_day]), Count::read).await
    }
}

impl Count {
    fn read(row: &mut Row) -> Result<Self, StoreError> {
        Ok(Self { day: row.get()?, character: row.get()?, model: row.get()?, name: row.get()?, amount: row.get()? })
    }
}

/// Adds counts, always in the same order, so that two transactions with the same rows never deadlock.
pub(super) fn add(mut counts: Vec<Count>, number: u64) -> impl Iterator<Item = Statement> {
    counts.sort();
    let shard = i64::try_from(number % SHARDS).unwrap_or_default();
    counts.into_iter().map(move |count| {
        Statement::new(ADD, cells![count.day, count.character, count.model, count.name, count.amount, shard])
    })
}
