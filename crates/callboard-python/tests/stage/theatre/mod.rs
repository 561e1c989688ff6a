//! What every suite needs: a company with a real interpreter, characters from the folder beside, and their output.

mod cast;
mod ending;
mod family;

pub(crate) use cast::{Theatre, call, characters, scratch};
pub(crate) use ending::wait_until_dead;
pub(crate) use family::is_dead;
