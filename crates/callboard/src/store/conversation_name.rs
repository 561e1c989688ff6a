//! Names that clients give conversations in Chat Completions. A name leads to the conversation of its newest turn.

use super::error::StoreError;
use super::handle::Store;
use super::statement::{Row, Statement, cells};

/// The same name may lead to several: a character's, and a user's, have their own. Newest first.
const NAMED: &str = "SELECT c.id, n.character FROM named_snapshots n \
     JOIN snapshots s ON s.history = n.history JOIN conversations c ON c.id = s.conversation_id \
     WHERE n.owner = $1 AND n.client_name = $2 ORDER BY n.kept_at DESC, c.id DESC LIMIT 100";

/// A name that a client gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientName {
    /// Whose name it is.
    pub owner: String,
    /// The character that was asked for with it.
    pub character: String,
    /// The client's own words.
    pub name: String,
}

/// A conversation that a name leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedConversation {
    /// `conv_…`.
    pub id: String,
    /// The character that the name was used with.
    pub character: String,
}

impl Store {
    /// The conversations that an owner's name leads to, newest first.
    pub async fn named_conversations(&self, owner: &str, name: &str) -> Result<Vec<NamedConversation>, StoreError> {
        let query = Statement::new(NAMED, cells![owner, name]);
        let read = |row: &mut Row| Ok(NamedConversation { id: row.get()?, character: row.get()? });
        self.settled_reads().await.all(query, read).await
    }
}
