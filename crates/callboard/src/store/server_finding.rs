//! What was found out about the models of model servers. What the words mean is the caller's business.

use super::error::StoreError;
use super::handle::Store;
use super::statement::{Row, Statement, cells};

const ALL: &str = "SELECT upstream, model, kind, name, value, found_at, version FROM server_findings \
     ORDER BY upstream, model, kind, name";
const KEEP: &str = "INSERT INTO server_findings (upstream, model, kind, name, value, found_at, version) \
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (upstream, model, kind, name) \
     DO UPDATE SET value = excluded.value, found_at = excluded.found_at, version = excluded.version";
const FORGET: &str = "DELETE FROM server_findings WHERE upstream = $1 AND model = $2";

/// One thing that was found out about a model of a server.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServerFinding {
    /// The base URL of the server.
    pub upstream: String,
    /// The model's name there.
    pub model: String,
    /// What kind of thing it is.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// What was found.
    pub value: String,
    /// When.
    pub found_at: i64,
    /// The version of the server and the model then; empty where they name none.
    pub version: String,
}

/// A change of what is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FindingChange {
    /// Something was found, for the first time or again.
    Found(ServerFinding),
    /// Nothing found about a model counts any more.
    Forgotten {
        /// The base URL of the server.
        upstream: String,
        /// The model's name there.
        model: String,
    },
}

impl Store {
    /// All that was found.
    pub async fn server_findings(&self) -> Result<Vec<ServerFinding>, StoreError> {
        self.reads.all(Statement::new(ALL, []), ServerFinding::read).await
    }

    /// Makes changes in their order, in one transaction.
    pub async fn change_server_findings(&self, changes: &[FindingChange]) -> Result<(), StoreError> {
        self.writes.write(changes.iter().map(FindingChange::statement).collect()).await.map(drop)
    }
}

impl FindingChange {
    fn statement(&self) -> Statement {
        match self {
            Self::Found(ServerFinding { upstream, model, kind, name, value, found_at, version }) => {
                Statement::new(KEEP, cells![upstream, model, kind, name, value, *found_at, version])
            }
            Self::Forgotten { upstream, model } => Statement::new(FORGET, cells![upstream, model]),
        }
    }
}

impl ServerFinding {
    fn read(row: &mut Row) -> Result<Self, StoreError> {
        Ok(Self {
            upstream: row.get()?,
            model: row.get()?,
            kind: row.get()?,
            name: row.get()?,
            value: row.get()?,
            found_at: row.get()?,
            version: row.get()?,
        })
    }
}
