//! What authors of characters do at the terminal: check files, write a new one, try a tool, run scenarios, talk.

mod chat;
mod check;
mod new;
mod prompt;
mod run;
mod scenario;
mod script;
mod test;
mod try_tool;
mod upstreams;

pub use chat::{Parlour, chat};
pub use check::check;
pub use new::new;
pub use run::run;
pub use test::{Rehearsal, test};
pub use try_tool::try_tool;
pub use upstreams::upstreams;
