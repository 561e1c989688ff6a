//! Shared types: call ids, deltas, usage, conversation items, and rejected requests.
//!
//! Plain data without logic. `contract` validates it; `wire` serialises it.

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
