//! What a turn writes: items, changes of state with their journal entries, and the notes beside them.
//!
//! All of it becomes one list of statements, led by the check that the conversation is still where the turn found it.

use callboard_core::journal::{CallNote, Entry};

use super::error::StoreError;
use super::item::{self, Item};
use super::journal;
use super::notes::Notes;
use super::standing::{self, Opening, Standing};
use super::statement::{Cell, Miss, Statement};

const ADVANCE: &str = "UPDATE conversations SET version = version + 1, updated_at = $1, next_position = $2, next_sequence = $3 \
     WHERE id = $4 AND version = $5";

/// What a turn writes at once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnWrite {
    /// When.
    pub at: i64,
    /// What the conversation began with, in its first turn.
    pub opening: Option<Opening>,
    /// Successful calls, in their order. Those that changed the state get an entry in the journal.
    pub changes: Vec<Change>,
    /// New items, in their order.
    pub items: Vec<NewItem>,
    /// What is written beside the conversation.
    pub notes: Notes,
}

/// A successful call of a character's tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The call.
    pub call: CallNote,
    /// The state after it, as JSON text.
    pub state: String,
}

/// An item to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewItem {
    /// Its id.
    pub id: String,
    /// The item as JSON.
    pub body: String,
}

/// Statements, and how the conversation stands when they are done.
pub(super) struct Plan {
    pub(super) statements: Vec<Statement>,
    pub(super) after: Standing,
}

impl Plan {
    /// Nothing but the next version of the conversation.
    pub(super) fn new(before: &Standing, at: i64) -> Self {
        let mut after = before.clone();
        after.conversation.version += 1;
        after.conversation.updated_at = at;
        Self { statements: Vec::new(), after }
    }

    /// Adds an entry of the journal, which must be the next one.
    pub(super) fn append(&mut self, entry: &Entry) -> Result<(), StoreError> {
        self.statements.push(journal::insert(&self.after.conversation.id, entry)?);
        self.after.conversation.next_sequence += 1;
        Ok(())
    }

    /// Sets the state.
    pub(super) fn set_state(&mut self, state: String) {
        self.statements.push(standing::put_state(&self.after.conversation.id, &state));
        self.after.state = Some(state);
    }

    /// Puts the check of the version before everything else: it also locks the conversation's row.
    pub(super) fn checked(mut self, version: i64) -> Self {
        let conversation = &self.after.conversation;
        let cells: [Cell; 5] = [
            conversation.updated_at.into(),
            conversation.next_position.into(),
            conversation.next_sequence.into(),
            conversation.id.as_str().into(),
            version.into(),
        ];
        self.statements.insert(0, Statement::new(ADVANCE, cells).or(Miss::Version));
        self
    }
}

impl TurnWrite {
    pub(super) fn plan(&self, before: &Standing) -> Result<Plan, StoreError> {
        let mut plan = Plan::new(before, self.at);
        if let Some(opening) = &self.opening {
            self.open(opening, &mut plan)?;
        }
        self.change(&mut plan)?;
        for new in &self.items {
            let conversation = &mut plan.after.conversation;
            let item = Item { position: conversation.next_position, id: new.id.clone(), body: new.body.clone() };
            plan.statements.push(item::insert(&conversation.id, item));
            conversation.next_position += 1;
        }
        Ok(plan.checked(before.conversation.version))
    }

    fn open(&self, opening: &Opening, plan: &mut Plan) -> Result<(), StoreError> {
        plan.statements.push(opening.put(&plan.after.conversation.id)?);
        plan.after.opening = Some(opening.clone());
        if let Some(state) = &opening.state {
            plan.set_state(state.clone());
        }
        Ok(())
    }

    fn change(&self, plan: &mut Plan) -> Result<(), StoreError> {
        let Some(last) = self.changes.last() else { return Ok(()) };
        let mut old = plan.after.value()?;
        let before = plan.after.conversation.next_sequence;
        for change in &self.changes {
            let new = standing::value(Some(&change.state))?;
            let sequence = u64::try_from(plan.after.conversation.next_sequence).unwrap_or_default();
            if let Some(entry) = Entry::of_call(sequence, change.call.clone(), &old, &new) {
                plan.append(&entry)?;
            }
            old = new;
        }
        if plan.after.conversation.next_sequence != before {
            plan.set_state(last.state.clone());
        }
        Ok(())
    }
}
