//! Where the ids of responses and their items come from: the caller, for randomness is his.

/// Makes an id that was never used before from a prefix: `msg` becomes `msg_…`. Prefixes are `msg`, `fc`, `fco`, `ctc`, `ctco`,
/// `rs`, `mcp` and `item`.
pub type NewId = Box<dyn FnMut(&'static str) -> String + Send + Sync>;
