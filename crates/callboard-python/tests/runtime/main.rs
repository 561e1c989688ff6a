//! Characters on real interpreters. `CALLBOARD_TEST_PYTHON` picks the one; without it `python3` is used.

#[cfg(test)]
mod escapes;
#[cfg(test)]
mod handlers;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod isolation;
#[cfg(test)]
mod loading;
#[cfg(test)]
mod output;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod rest;
#[cfg(test)]
mod sandbox;
#[cfg(test)]
mod state;
#[cfg(test)]
mod tools;
