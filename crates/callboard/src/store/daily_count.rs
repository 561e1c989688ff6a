//! Counts by day, character and model: what figures over a long time are made of.

use super::error::StoreError;
use super::handle::Store;
use super::statement::{Cell, Statement};

/// One count is kept in so many rows.
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
    /// How often.
    pub amount: i64,
}

impl Store {
    /// All counts since a day.
    pub async fn counts(&self, since_day: i64) -> Result<Vec<Count>, StoreError> {
        let rows = self.reads().read(Statement::new(SINCE, [since_day.into()])).await?;
        let read = |mut row: super::statement::Row| {
            Ok(Count {
                day: row.integer()?,
                character: row.text()?,
                model: row.text()?,
                name: row.text()?,
                amount: row.integer()?,
            })
        };
        rows.into_iter().map(read).collect()
    }
}

/// Adds counts, always in the same order: two transactions that take the same rows then never wait for each other in a circle.
pub(super) fn add(mut counts: Vec<Count>, number: u64) -> impl Iterator<Item = Statement> {
    counts.sort();
    let shard = i64::try_from(number % SHARDS).unwrap_or_default();
    counts.into_iter().map(move |count| {
        let cells: [Cell; 6] = [
            count.day.into(),
            count.character.into(),
            count.model.into(),
            count.name.into(),
            count.amount.into(),
            shard.into(),
        ];
        Statement::new(ADD, cells)
    })
}
