//! `xtask fuzz`: runs the fuzz targets under AFL++, one after the other on one core, and reports what each reached and found.
//!
//! The queue of a run is kept in `.cache/fuzz`, and the next run continues from it.

mod afl;
mod arguments;
mod outcome;
mod run;
mod target_folder;

pub(crate) use run::run;
