//! Shared types: call ids, deltas, usage, conversation items, and rejected requests.
//!
//! Plain data without logic. `contract` validates it; `wire` serialises it.

mod appended_item;
mod bad_request;
mod call_id;
mod delta;
mod other_fields;
mod usage;

pub use appended_item::{Item, SpokenCall};
pub use bad_request::BadRequest;
pub use call_id::{CallId, RandomBytes};
pub use delta::{CallFragment, Delta, Finish};
pub use other_fields::OtherFields;
pub(crate) use other_fields::map_bytes;
pub use usage::Usage;
