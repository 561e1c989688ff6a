//! What authors of characters do at the terminal: check files, write a new one, try a tool or a name, run scenarios, talk,
//! measure models.

mod chat;
mod check;
mod eval;
mod names;
mod new;
mod prompt;
mod recorded_turn;
mod run;
mod scenario;
mod script;
mod stats;
mod test;
mod try_tool;
mod upstreams;

pub use chat::{Parlour, chat};
pub use check::check;
pub use eval::{Evaluation, eval};
pub use names::{NameTrial, names};
pub use new::new;
pub use run::run;
pub use stats::{StatsWish, stats};
pub use test::{Rehearsal, test};
pub use try_tool::try_tool;
pub use upstreams::upstreams;
