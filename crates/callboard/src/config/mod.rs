//! Settings of the program: where they can be set, and which values are in effect.
//!
//! There are two stages. Each layer (defaults, `callboard.toml`, `CALLBOARD_*`, flags) adds raw values; [`load`] turns them
//! into [`Settings`], typed and checked, and remembers the origin of each. Every key is defined once, in `table`; all names,
//! messages, listings and the reference come from there. Nothing in here reads the process environment or the working
//! directory: the caller passes them in.

mod base_url;
mod did_you_mean;
mod environment;
mod error;
mod file;
mod flags;
mod key;
mod kind;
mod list_values;
mod load;
mod number_values;
mod passthrough_path;
mod print;
mod raw;
mod reading;
mod reference;
mod secret;
mod settings;
mod started_command;
mod table;
mod text_values;

pub use environment::Environment;
pub use error::ConfigError;
pub use flags::{Flags, show_flags};
pub use load::{Loaded, load};
pub use raw::Origin;
pub use reference::reference;
pub use secret::{Secret, StoreUrl};
pub use settings::{ContractMode, PORT, Settings, UpstreamSettings};
pub use table::{
    ContractSettings, KeepSettings, Limits, OtlpSettings, PythonSettings, StageSettings, Timeouts, TraceSettings,
};

pub(crate) use did_you_mean::nearest;
pub(crate) use list_values::listed;

#[cfg(test)]
mod tests;
