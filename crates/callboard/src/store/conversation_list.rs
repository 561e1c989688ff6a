//! An owner's conversations, newest first, page by page.

use serde_json::json;

use super::error::StoreError;
use super::handle::Store;
use super::statement::{Row, Statement, cells};

/// The character is read from the beginning of the opening, where it is written first; a state behind it may be large.
const ALL: &str = "SELECT c.id, c.created_at, c.updated_at, c.metadata, substr(o.body, 1, 2000) FROM conversations c \
     LEFT JOIN openings o ON o.conversation_id = c.id WHERE c.owner = $1 AND (c.created_at, c.id) < ($2, $3) \
     ORDER BY c.created_at DESC, c.id DESC LIMIT $4";
/// Those of one character: $4 is how its openings begin.
const OF_CHARACTER: &str = "SELECT c.id, c.created_at, c.updated_at, c.metadata, substr(o.body, 1, 2000) FROM conversations c \
     JOIN openings o ON o.conversation_id = c.id WHERE c.owner = $1 AND (c.created_at, c.id) < ($2, $3) \
     AND substr(o.body, 1, length(CAST($4 AS TEXT))) = $4 ORDER BY c.created_at DESC, c.id DESC LIMIT $5";
/// The text before the character in an opening.
const BEFORE_CHARACTER: &str = "{\"character\":";

/// A page of conversations, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationPage {
    /// Whose conversations.
    pub owner: String,
    /// Only those of this character; none for all.
    pub character: Option<String>,
    /// Only those older than this one: its time and id.
    pub before: Option<(i64, String)>,
    /// The most conversations on the page.
    pub limit: i64,
}

/// A conversation in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedConversation {
    /// `conv_…`.
    pub id: String,
    /// When it began.
    pub created_at: i64,
    /// When it was last written.
    pub updated_at: i64,
    /// A JSON object.
    pub metadata: String,
    /// The character that it belongs to, once one has answered in it.
    pub character: Option<String>,
}

impl Store {
    /// Conversations of an owner, newest first.
    pub async fn conversations(&self, page: &ConversationPage) -> Result<Vec<ListedConversation>, StoreError> {
        let owner = page.owner.as_str();
        let (time, id) = page.before.clone().unwrap_or((i64::MAX, String::new()));
        let statement = match &page.character {
            None => Statement::new(ALL, cells![owner, time, id, page.limit]),
            Some(character) => {
                let beginning = format!("{BEFORE_CHARACTER}{},", json!(character));
                Statement::new(OF_CHARACTER, cells![owner, time, id, beginning, page.limit])
            }
        };
        self.settled_reads().await.all(statement, ListedConversation::read).await
    }
}

impl ListedConversation {
    fn read(row: &mut Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.get()?,
            created_at: row.get()?,
            updated_at: row.get()?,
            metadata: row.get()?,
            character: row.get::<Option<String>>()?.as_deref().and_then(character_of),
        })
    }
}

/// The character that the beginning of an opening names; earlier versions wrote none.
fn character_of(opening: &str) -> Option<String> {
    let named = opening.strip_prefix(BEFORE_CHARACTER)?;
    serde_json::Deserializer::from_str(named).into_iter::<String>().next()?.ok().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_character_is_read_from_the_beginning_of_an_opening() {
        for (opening, character) in [
            (r#"{"character":"a \"b\"","system_prompt":"You"#, Some("a \"b\"")),
            (r#"{"character":"","system_prompt":"You."}"#, None),
            (r#"{"character":"cut of"#, None),
            (r#"{"system_prompt":"You.","state":null}"#, None),
        ] {
            assert_eq!(character_of(opening).as_deref(), character, "{opening}");
        }
    }
}
