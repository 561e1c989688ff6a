//! Lists of an owner's conversations.

use std::sync::Arc;

use callboard::store::{CharacterMemory, ConversationPage, NewConversation, Store, TurnWrite};

use super::conversations::new;
use super::run::Promise;
use super::turns::WAIT;
use crate::databases::{Database, block_on};

pub(super) const PROMISES: &[Promise] = &[
    ("an owner's conversations are listed newest first, page by page", newest_first),
    ("conversations are listed by the exact id of their character", by_character),
];

async fn listed(store: &Store, page: &ConversationPage) -> Vec<String> {
    store.conversations(page).await.unwrap().into_iter().map(|conversation| conversation.id).collect()
}

fn whole(owner: &str) -> ConversationPage {
    ConversationPage { owner: owner.to_owned(), character: None, before: None, limit: 100 }
}

fn newest_first(database: &Database) {
    let store = database.open();
    block_on(async {
        for (id, at) in [("conv_b", 5), ("conv_d", 9), ("conv_a", 5), ("conv_c", 5)] {
            store.create_conversation(new(id, at)).await.unwrap();
        }
        store.create_conversation(NewConversation { owner: "other".to_owned(), ..new("conv_e", 7) }).await.unwrap();
        assert_eq!(listed(&store, &whole("someone")).await, ["conv_d", "conv_c", "conv_b", "conv_a"]);
        assert_eq!(listed(&store, &whole("other")).await, ["conv_e"]);
        assert_eq!(listed(&store, &whole("nobody")).await, [""; 0]);
        let first = ConversationPage { limit: 2, ..whole("someone") };
        assert_eq!(listed(&store, &first).await, ["conv_d", "conv_c"]);
        let next = ConversationPage { before: Some((5, "conv_c".to_owned())), ..first };
        assert_eq!(listed(&store, &next).await, ["conv_b", "conv_a"]);
        store.set_metadata("conv_a", r#"{"topic":"x"}"#.to_owned(), 11).await.unwrap();
        let last = store.conversations(&whole("someone")).await.unwrap().pop().unwrap();
        assert_eq!((last.created_at, last.updated_at, last.metadata.as_str()), (5, 11, r#"{"topic":"x"}"#));
    });
}

/// Ids that a pattern, a prefix or another case would confuse, and a prompt that looks like an id.
fn by_character(database: &Database) {
    let store = database.open();
    let ids = ["bard", "Bard", "bar%", "bar_", "bards", "b\"a\\rd", "Élise", r#"bard","system_prompt":"x"#];
    block_on(async {
        for (number, character) in ids.into_iter().enumerate() {
            let id = format!("conv_{number}");
            store.create_conversation(new(&id, 1)).await.unwrap();
            let memory = CharacterMemory::new(
                character,
                "You are a bard.".to_owned(),
                Some("x".repeat(5000)).map(|x| format!("\"{x}\"")),
            );
            let write = TurnWrite { at: 2, memory: Some(Arc::new(memory)), ..TurnWrite::default() };
            store.begin_turn(&id, WAIT).await.unwrap().finish(write).await.unwrap();
        }
        store.create_conversation(new("conv_plain", 3)).await.unwrap();
        for (number, character) in ids.into_iter().enumerate() {
            let page = ConversationPage { character: Some(character.to_owned()), ..whole("someone") };
            let found = store.conversations(&page).await.unwrap();
            let found: Vec<_> = found.iter().map(|one| (one.id.as_str(), one.character.as_deref())).collect();
            assert_eq!(found, [(format!("conv_{number}").as_str(), Some(character))]);
        }
        let all = store.conversations(&whole("someone")).await.unwrap();
        assert_eq!((all.len(), all.first().unwrap().character.as_deref()), (ids.len() + 1, None));
    });
}
