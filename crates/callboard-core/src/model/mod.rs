//! The vocabulary that all parts share: ids, deltas, usage, items of a conversation, and refusals of a request.
//!
//! Plain data without decisions. What a value must fulfil is decided in `contract`; how it looks on a wire, in `wire`.

mod bad_request;
mod call_id;
mod delta;
mod item;
mod usage;

pub use bad_request::BadRequest;
pub use call_id::{CallId, RandomBytes};
pub use delta::{CallFragment, Delta, Finish};
pub use item::{Item, SpokenCall};
pub use usage::Usage;
