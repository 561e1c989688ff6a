//! Rules about the source tree that the compiler and clippy cannot state.
//!
//! `run` gathers what the checks find. `tree`, `lexer`, `rust_file`, `paths` and `markdown` read the tree;
//! `problem` and `exceptions` are what is said about it; every other file is one kind of check.

mod exceptions;
mod lexer;
mod markdown;
mod paths;
mod problem;
mod run;
mod rust_file;
mod tree;

mod attributes;
mod budgets;
mod decisions;
mod golden;
mod headers;
mod imports;
mod leftovers;
mod links;
mod machine_paths;
mod manifests;
mod mod_files;
mod names;
mod sleeps;
mod spawns;

pub(crate) use run::run;
