//! A character's memory after calls, as a turn writes it.

use std::sync::Arc;

use callboard::store::{CharacterMemory, ConversationHead};
use callboard_core::journal::{CallNote, StateRecord};

/// A call and the state after it.
pub(crate) type Made = (CallNote, String);

/// The memory of a conversation after these calls. The initial state is used if the conversation has none yet.
pub(crate) fn memory_after(
    head: &ConversationHead,
    initial: Option<&str>,
    made: Vec<Made>,
) -> Option<Arc<CharacterMemory>> {
    let mut memory = head.memory.clone().unwrap_or_else(|| CharacterMemory {
        character: "bard".to_owned(),
        system_prompt: "You are".to_owned(),
        record: StateRecord::new(initial.map(str::to_owned)),
        ..CharacterMemory::default()
    });
    for (call, state) in made {
        memory.record.change(call, state);
    }
    Some(Arc::new(memory))
}
