//! Stored traces of turns.

use serde_json::json;

use super::daily_count::{self, Count};
use super::error::StoreError;
use super::handle::Store;
use super::statement::{Row, Statement, cells};

const INSERT: &str = "INSERT INTO traces (id, conversation_id, request_id, created_at, body, content_of) \
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING";
const ONE: &str = "SELECT id, conversation_id, request_id, created_at, body, content_of FROM traces WHERE id = $1";
const LIKE: &str = "SELECT id, conversation_id, request_id, created_at, body, content_of FROM traces \
     WHERE ($1 = '' OR conversation_id = $1) AND body LIKE $2 ESCAPE '!' AND (created_at, id) < ($3, $4) \
     ORDER BY created_at DESC, id DESC LIMIT $5";
/// The same for one request: few rows, found by its index.
const OF_REQUEST: &str = "SELECT id, conversation_id, request_id, created_at, body, content_of FROM traces \
     WHERE ($1 = '' OR conversation_id = $1) AND body LIKE $2 ESCAPE '!' AND (created_at, id) < ($3, $4) \
     AND request_id = $5 ORDER BY created_at DESC, id DESC LIMIT $6";

/// A page of traces, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracePage {
    /// Only traces older than this one: its time and id.
    pub before: Option<(i64, String)>,
    /// The most traces on the page.
    pub limit: i64,
}

/// Selects traces; none matches any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceFilter {
    /// Those of this conversation.
    pub conversation: Option<String>,
    /// Those of this character.
    pub character: Option<String>,
    /// Those of this model.
    pub model: Option<String>,
    /// Those of this request.
    pub request_id: Option<String>,
}

impl TraceFilter {
    /// A `LIKE` pattern for the start of the trace's JSON. It is inexact: SQLite ignores case, and an omitted name matches any text.
    fn pattern(&self) -> String {
        let name = |name: &Option<String>| match name {
            None => "%".to_owned(),
            Some(name) => json!(name).to_string().replace('!', "!!").replace('%', "!%").replace('_', "!_"),
        };
        format!("{{\"character\":{},\"model\":{},%", name(&self.character), name(&self.model))
    }
}

/// A stored trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// Its id.
    pub id: String,
    /// The conversation it belongs to.
    pub conversation: Option<String>,
    /// The request that it came with.
    pub request_id: Option<String>,
    /// When the turn began.
    pub created_at: i64,
    /// The trace as JSON.
    pub body: String,
    /// The conversation or the response whose content it holds: it is deleted with it.
    pub content_of: Option<String>,
}

impl Store {
    /// Stores traces and adds counts, in one transaction.
    pub async fn store_traces(&self, traces: Vec<Trace>, counts: Vec<Count>) -> Result<(), StoreError> {
        let (has_traces, added) = (!traces.is_empty(), daily_count::add(counts, self.inner.next_number()));
        let statements: Vec<Statement> = traces.into_iter().map(insert).chain(added).collect();
        self.writes.write(statements).await?;
        if has_traces {
            self.inner.changes.notify_traces();
        }
        Ok(())
    }

    /// One trace.
    pub async fn trace(&self, id: &str) -> Result<Option<Trace>, StoreError> {
        self.reads.first(Statement::new(ONE, cells![id]), Trace::read).await
    }

    /// Traces that may match the filter, newest first. The caller checks them, since the pattern is inexact.
    pub async fn traces_like(&self, page: &TracePage, filter: &TraceFilter) -> Result<Vec<Trace>, StoreError> {
        let (time, id) = page.before.clone().unwrap_or((i64::MAX, String::new()));
        let conversation = filter.conversation.as_deref().unwrap_or_default();
        let (pattern, limit) = (filter.pattern(), page.limit);
        let statement = match &filter.request_id {
            None => Statement::new(LIKE, cells![conversation, pattern, time, id, limit]),
            Some(request) => {
                Statement::new(OF_REQUEST, cells![conversation, pattern, time, id, request.as_str(), limit])
            }
        };
        self.reads.all(statement, Trace::read).await
    }
}

pub(super) fn insert(trace: Trace) -> Statement {
    let Trace { id, conversation, request_id, created_at, body, content_of } = trace;
    Statement::new(INSERT, cells![id, conversation, request_id, created_at, body, content_of])
}

impl Trace {
    fn read(row: &mut Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.get()?,
            conversation: row.get()?,
            request_id: row.get()?,
            created_at: row.get()?,
            body: row.get()?,
            content_of: row.get()?,
        })
    }
}
