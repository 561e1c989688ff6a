//! A response in the making, for whichever transport: what it goes on from, its turn, and how it is kept.
//!
//! The wire format is `callboard_core::wire::responses`; the turn is `session`'s or `stage`'s; what lasts is in `store`. Here
//! the three are brought together. HTTP and WebSockets only carry what comes out.

mod conversations;
mod earlier;
mod ids;
mod keeping;
mod lineage;
mod local;
mod measure;
mod player;
mod turn;

pub use conversations::{begin_turn, items_behind, owned_conversation};
pub use earlier::{Earlier, Followed, Remembered, TURN_WAIT, input_of, load};
pub use ids::{item_ids, new_conversation_id, new_response_id, renew_taken};
pub use keeping::{Home, Keeping};
pub use local::LocalResponses;
pub use turn::{ResponseTurn, Sheet, Step};
