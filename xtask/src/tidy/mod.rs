//! Rules about the source tree that the compiler and clippy cannot state.
//!
//! `run` collects the problems. `tree`, `source_parts`, `rust_file` and `rust_paths` read the tree; every other file but
//! `problem` is one kind of check.

mod problem;
mod run;
mod rust_file;
mod rust_paths;
mod source_parts;
mod tree;

mod banned_code;
mod decisions_and_contract;
mod file_layout;
mod forbidden_imports;
mod layers;
mod links;
mod machine_paths;
mod names;
mod words;

pub(crate) use run::run;
