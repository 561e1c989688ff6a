//! Settings of the program: where they may be said, and what holds in the end.
//!
//! There are two stages. Each layer (defaults, `callboard.toml`, `CALLBOARD_*`, flags) only adds to
//! what was *said*; [`load`] then turns that into [`Settings`], typed and checked, and remembers
//! where each value came from. Every key is defined once, in `table`; all names, messages, listings
//! and the reference come from there. Nothing in here looks at the process: environment and working
//! directory are handed in.

mod environment;
mod error;
mod exposure;
mod file;
mod flags;
mod key;
mod kind;
mod ledger_table;
mod load;
mod nearest;
mod origin;
mod print;
mod reading;
mod reference;
mod said;
mod secret;
mod settings;
mod table;
mod upstream_table;
mod upstream_url;

pub use environment::Environment;
pub use error::ConfigError;
pub use exposure::check_exposure;
pub use flags::Flags;
pub use load::{Loaded, load};
pub use origin::Origin;
pub use reference::reference;
pub use secret::{Secret, StoreUrl};
pub use settings::{
    ContractMode, ContractSettings, KeepSettings, Limits, LogLevel, OtlpSettings, PythonSettings, Settings,
    StageSettings, Timeouts, TraceSettings, UpstreamSettings,
};

pub(crate) use flags::CONFIG_FLAG;
pub(crate) use key::{About, Flag};
pub(crate) use table::every_key;

#[cfg(test)]
mod tests;
