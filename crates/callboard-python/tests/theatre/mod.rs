//! What every suite needs: a company with a real interpreter, characters from the folder beside, and their output.

mod cast;
mod processes;

pub use cast::{Theatre, call, characters, scratch};
pub use processes::{descendants, is_dead, open_files, wait_until_dead};
