//! Requests in a form that the model server at hand takes.
//!
//! Servers and models refuse fields, roles and content shapes that others need. After a refusal the caller tries the
//! request in other forms (`learn`), remembers what helped as a set of quirks, and adapts later requests to them
//! (`adapt`); where there are no native tools, they go into the prompt. Histories are healed first. JSON in, JSON out:
//! nothing here sends a request or keeps a memory.

mod alternation;
mod apply;
mod call_ids;
mod capability;
pub mod constrain;
mod content;
mod finding;
mod heal;
mod learn;
mod message_accessors;
mod probe;
mod prompt;
mod quirk;
mod response_format;
mod system;
#[cfg(test)]
mod tests;

pub use apply::adapt;
pub use capability::{Capabilities, Constraint, Feature, Support, ToolsMode};
pub use finding::Finding;
pub use heal::heal;
pub use learn::{Lessons, Refusal, is_validation_error};
pub use probe::Probe;
pub use prompt::Family;
pub use quirk::Quirk;
