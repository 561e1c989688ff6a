//! Characters as models: the registry of a folder, loaded files, and what models are offered of them.
//!
//! `callboard_python` runs a character's code; `session` runs its turns.

mod hot_reload;
mod loaded_character;
mod offered_tools;
mod output_sinks;
mod registry;
mod source_excerpt;
mod tool_problems;
mod undo_tool_definition;

pub use hot_reload::reload_on_change;
pub use loaded_character::LoadedCharacter;
pub use offered_tools::{compile_tools, offered};
pub use output_sinks::{OutputBuffer, terminal_output};
pub use registry::{CharacterRegistry, FileProblem};
pub use source_excerpt::source_excerpt;
pub use undo_tool_definition::UNDO;
