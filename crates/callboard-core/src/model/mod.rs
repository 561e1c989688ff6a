//! Shared types: call ids, deltas, usage, conversation items, and rejected requests.
//!
//! Plain data without logic. `contract` validates it; `wire` serialises it.

mod appended_item;
mod bad_request;
mod call_id;
mod delta;
mod usage;

pub use appended_item::{Item, SpokenCall};
pub use bad_request::BadRequest;
pub use call_id::{CallId, RandomBytes};
pub use delta::{CallFragment, Delta, Finish};
pub use usage::Usage;
