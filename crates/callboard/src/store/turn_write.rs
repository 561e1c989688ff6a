//! What a turn writes: items, the state with new entries of its journal, and the notes beside them.
//!
//! All of it becomes one list of statements, led by the check that the conversation is still where the turn found it.

use callboard_core::journal::Entry;
use serde_json::Value;

use super::error::StoreError;
use super::item::{self, Item};
use super::journal;
use super::notes::Notes;
use super::standing::{self, Opening, Standing};
use super::statement::{Cell, Conflict, Statement};

const ADVANCE: &str = "UPDATE conversations SET version = version + 1, updated_at = $1, next_position = $2, next_sequence = $3, \
     bytes = bytes + $4 WHERE id = $5 AND version = $6";

/// What a turn writes at once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnWrite {
    /// When.
    pub at: i64,
    /// What the conversation began with, in its first turn.
    pub opening: Option<Opening>,
    /// How the state changed, where it did.
    pub change: Option<Change>,
    /// New items, in their order.
    pub items: Vec<NewItem>,
    /// What is written beside the conversation.
    pub notes: Notes,
}

/// A new state, and how it came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The state after all of it, as JSON text.
    pub state: String,
    /// New entries of the journal, the next one first.
    pub entries: Vec<Entry>,
    /// Which entries, old or new, were undone or brought back: their sequences, and by which entry. The last word counts.
    pub marks: Vec<(u64, Option<u64>)>,
}

/// An item to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewItem {
    /// Its id.
    pub id: String,
    /// The item as JSON.
    pub body: String,
}

impl NewItem {
    /// An item that carries its id.
    pub fn of(item: &Value) -> Self {
        let id = item.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        Self { id, body: item.to_string() }
    }

    /// How much such items add to a conversation.
    pub fn bytes_of(items: &[Value]) -> u64 {
        items.iter().map(|item| item.to_string().len() as u64).sum()
    }

    /// What it adds to its conversation.
    fn bytes(&self) -> i64 {
        i64::try_from(self.body.len()).unwrap_or(i64::MAX)
    }
}

/// Statements, and how the conversation stands when they are done.
pub(super) struct Plan {
    pub(super) statements: Vec<Statement>,
    pub(super) after: Standing,
    /// Whether the state is another one then.
    sets_state: bool,
    /// Bytes of new items.
    added: i64,
}

impl Plan {
    /// Nothing but the next version of the conversation.
    pub(super) fn new(before: &Standing, at: i64) -> Self {
        let mut after = before.clone();
        after.conversation.version += 1;
        after.conversation.updated_at = at;
        Self { statements: Vec::new(), after, sets_state: false, added: 0 }
    }

    /// Adds an entry of the journal, which must be the next one.
    pub(super) fn append(&mut self, entry: &Entry) -> Result<(), StoreError> {
        if i64::try_from(entry.sequence) != Ok(self.after.conversation.next_sequence) {
            return Err(StoreError::Conflict(self.after.conversation.id.clone()));
        }
        self.statements.push(journal::insert(&self.after.conversation.id, entry)?);
        self.after.conversation.next_sequence += 1;
        Ok(())
    }

    /// Adds items behind the others.
    fn add(&mut self, items: Vec<NewItem>) {
        let conversation = &mut self.after.conversation;
        self.added = items.iter().map(NewItem::bytes).sum();
        let items: Vec<Item> = (conversation.next_position..)
            .zip(items)
            .map(|(position, NewItem { id, body })| Item { position, id, body })
            .collect();
        conversation.next_position += i64::try_from(items.len()).unwrap_or_default();
        conversation.bytes += self.added;
        self.statements.extend(item::insert(&conversation.id, items));
    }

    /// Adds what the conversation begins with.
    fn open(&mut self, opening: Opening) -> Result<(), StoreError> {
        self.statements.push(opening.put(&self.after.conversation.id)?);
        if let Some(state) = opening.state.clone() {
            self.set_state(state);
        }
        self.after.opening = Some(opening);
        Ok(())
    }

    /// Adds a change of state with its entries.
    fn change(&mut self, change: Change) -> Result<(), StoreError> {
        for entry in &change.entries {
            self.append(entry)?;
        }
        let id = self.after.conversation.id.clone();
        self.statements.extend(change.marks.iter().map(|(sequence, by)| journal::mark(&id, *sequence, *by)));
        self.set_state(change.state);
        Ok(())
    }

    /// Sets the state.
    pub(super) fn set_state(&mut self, state: String) {
        self.sets_state = true;
        self.after.state = Some(state);
    }

    /// Adds the state, and puts the check of the version before everything else: it also locks the conversation's row.
    pub(super) fn checked(mut self, version: i64) -> Self {
        let conversation = &self.after.conversation;
        let state = self.after.state.as_deref().filter(|_| self.sets_state);
        self.statements.extend(state.map(|state| standing::put_state(&conversation.id, state)));
        let cells: [Cell; 6] = [
            conversation.updated_at.into(),
            conversation.next_position.into(),
            conversation.next_sequence.into(),
            self.added.into(),
            conversation.id.as_str().into(),
            version.into(),
        ];
        self.statements.insert(0, Statement::new(ADVANCE, cells).or(Conflict::Version));
        self
    }
}

impl TurnWrite {
    pub(super) fn plan(self, before: &Standing) -> Result<Plan, StoreError> {
        let mut plan = Plan::new(before, self.at);
        if let Some(opening) = self.opening {
            plan.open(opening)?;
        }
        if let Some(change) = self.change {
            plan.change(change)?;
        }
        plan.add(self.items);
        Ok(plan.checked(before.conversation.version))
    }
}
