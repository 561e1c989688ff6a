//! How a response is kept: with its conversation, its items and the character's state in one transaction, or not at all.

use callboard_core::wire::responses::{ItemText, ResponseObject};
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::earlier::Remembered;
use super::local::LocalResponse;
use crate::clock;
use crate::stage::Scene;
use crate::store::{
    NewItem, NewSnapshot, Notes, Opening, Place, Response, Said, Snapshot, Store, StoreError, Turn, TurnWrite,
};

/// Where a response is kept.
pub enum Home {
    /// Nowhere: the client keeps its history itself.
    Nowhere,
    /// As a response that others may follow.
    Response {
        /// The one that it follows.
        previous: Option<String>,
    },
    /// In a conversation whose turn is claimed.
    Conversation(Box<Turn>),
}

/// All that is needed to keep a response.
pub struct Keeping {
    /// What lasts.
    pub store: Store,
    /// Where it is kept.
    pub home: Home,
    /// Whether it can be asked for by its id.
    pub stored: bool,
    /// Whose it is.
    pub owner: String,
    /// The input as it is stored.
    pub input: Vec<Value>,
    /// The items before the input, where only the connection knows them.
    pub earlier: Vec<Value>,
    /// Whether those items are stored nowhere, so that they belong to the input of a response that is.
    pub alone: bool,
    /// The character that plays.
    pub character: Option<String>,
    /// Whether the character's part of the conversation begins with this turn.
    pub opens: bool,
    /// Where the journal is stored already.
    pub place: Option<Place>,
}

/// What comes of keeping a response.
pub(super) type Kept = BoxFuture<'static, Result<(), StoreError>>;

/// What was said in a response, item by item.
struct Words {
    input: Vec<NewItem>,
    output: Vec<NewItem>,
}

/// Under which key a character's part at the end of a response is kept.
pub(super) fn snapshot_key(response: &str, character: &str) -> String {
    format!("{response}/{character}")
}

/// The character whose part is kept under a key with this response.
pub(super) fn character_of<'a>(key: &'a str, response: &str) -> Option<&'a str> {
    key.strip_prefix(response)?.strip_prefix('/')
}

impl Keeping {
    /// Whether it is kept in a conversation.
    pub fn is_in_conversation(&self) -> bool {
        matches!(self.home, Home::Conversation(_))
    }

    /// Keeps a response at its end.
    pub(super) fn keep(self, object: &ResponseObject, scene: Option<&Scene>) -> Kept {
        let words = self.words(object);
        let notes = self.notes(object, &words, scene);
        if !self.is_in_conversation() {
            return Box::pin(self.note(notes));
        }
        let write = self.turn_write(words, scene, notes);
        Box::pin(async move {
            let Home::Conversation(turn) = self.home else { return Ok(()) };
            turn.finish(write).await.map(drop)
        })
    }

    async fn note(self, notes: Notes) -> Result<(), StoreError> {
        // Only a connection that knows what stood before can do without it.
        let again = (!self.earlier.is_empty()).then(|| notes.clone());
        match (self.store.note(notes).await, again) {
            (Err(StoreError::BaseGone(_)), Some(notes)) => self.store.note(self.standing_alone(notes)).await,
            (kept, _) => kept,
        }
    }

    /// Keeps a response beside its conversation, which stays as it was; not beside one that was deleted meanwhile.
    pub async fn keep_alone(self, object: &ResponseObject) -> Result<(), StoreError> {
        if let Home::Conversation(turn) = &self.home
            && self.store.conversation(&turn.standing().conversation.id).await?.is_none()
        {
            return Ok(());
        }
        self.store.note(self.notes(object, &self.words(object), None)).await
    }

    /// Keeps a response that its client has left, without waiting.
    pub fn keep_unawaited(self, object: &ResponseObject, scene: Option<&Scene>) -> Result<(), StoreError> {
        let words = self.words(object);
        let notes = self.notes(object, &words, scene);
        if self.is_in_conversation() {
            let write = self.turn_write(words, scene, notes);
            let Home::Conversation(turn) = self.home else { return Ok(()) };
            return turn.finish_unawaited(write);
        }
        self.store.note_unawaited(notes)
    }

    /// The response for those who go on from it on the same connection.
    pub(super) fn local(&self, object: &ResponseObject, scene: Option<&Scene>) -> LocalResponse {
        let items = self.earlier.iter().chain(&self.input).cloned().chain(object.output_items()).collect();
        let remembered = self.character.clone().zip(scene).map(|(character, scene)| Remembered {
            character,
            system_prompt: scene.system_prompt().to_owned(),
            record: scene.record().settled(),
            place: None,
        });
        // A response of a conversation holds its own items only, so it cannot be followed outside of it.
        let stored = self.stored && !self.is_in_conversation();
        LocalResponse { id: object.id().to_owned(), items, remembered, stored }
    }

    fn words(&self, object: &ResponseObject) -> Words {
        let new_item = |ItemText { id, text }| NewItem { id, body: text };
        Words {
            input: self.input.iter().map(NewItem::of).collect(),
            output: object.output_texts().into_iter().map(new_item).collect(),
        }
    }

    fn notes(&self, object: &ResponseObject, words: &Words, scene: Option<&Scene>) -> Notes {
        let conversation = match &self.home {
            Home::Conversation(turn) => Some(turn.standing().conversation.id.clone()),
            _ => None,
        };
        let previous = match &self.home {
            Home::Response { previous } => previous.clone(),
            _ => None,
        };
        let response = self.stored.then(|| {
            // The input stands behind all that can be found nowhere else.
            let earlier: Vec<NewItem> = self.earlier.iter().filter(|_| self.alone).map(NewItem::of).collect();
            let (input, output) = (array(earlier.iter().chain(&words.input)), array(&words.output));
            let body = object.to_text_without(&output);
            let said =
                Said { id: object.id().to_owned(), owner: self.owner.clone(), conversation, previous, input, output };
            Response { said, created_at: clock::milliseconds(), expires_at: None, body }
        });
        let snapshot = match &self.home {
            Home::Response { .. } => {
                self.character.as_ref().zip(scene).map(|(id, scene)| self.snapshot(object, id, scene))
            }
            _ => None,
        };
        Notes { response, snapshot, ..Notes::default() }
    }

    /// What this connection knows of a response that was deleted becomes a part of the one that follows it.
    fn standing_alone(&self, mut notes: Notes) -> Notes {
        if let Some(response) = &mut notes.response {
            response.said.previous = None;
            let all: Vec<NewItem> = self.earlier.iter().chain(&self.input).map(NewItem::of).collect();
            response.said.input = array(&all);
        }
        notes
    }

    fn snapshot(&self, object: &ResponseObject, character: &str, scene: &Scene) -> NewSnapshot {
        let record = scene.record();
        let snapshot = Snapshot {
            system_prompt: scene.system_prompt().to_owned(),
            initial: record.initial().map(str::to_owned),
            state: record.state().map(str::to_owned),
            journal: record.journal().to_vec(),
            messages: Vec::new(),
            interrupted: None,
            place: self.place.clone(),
        };
        let (id, at) = (object.id(), clock::milliseconds());
        NewSnapshot { key: snapshot_key(id, character), name: None, at, snapshot, response: Some(id.to_owned()) }
    }

    fn turn_write(&self, words: Words, scene: Option<&Scene>, notes: Notes) -> TurnWrite {
        let items = words.input.into_iter().chain(words.output).collect();
        let record = scene.map(Scene::record);
        let opening = self.character.as_ref().zip(scene).filter(|_| self.opens).map(|(character, scene)| Opening {
            character: character.clone(),
            system_prompt: scene.system_prompt().to_owned(),
            state: scene.record().initial().map(str::to_owned),
        });
        let change = record.and_then(|record| record.changes());
        TurnWrite { at: clock::milliseconds(), opening, change, items, notes }
    }
}

/// Items as a JSON array.
fn array<'a>(items: impl IntoIterator<Item = &'a NewItem>) -> String {
    let bodies: Vec<&str> = items.into_iter().map(|item| item.body.as_str()).collect();
    format!("[{}]", bodies.join(","))
}
