//! `callboard eval`: how well a model calls tools, measured on files of cases, through all that a real request goes through.
//!
//! Cases of a character are played on the stage: their state is laid under a conversation, their words are said, and what
//! reaches the tools is compared. Questions of BFCL go through the gateway. Both end in the same figures.

mod bfcl;
mod cases;
mod command;
mod finding;
mod judge;
mod opening;
mod pairing;
mod play;
mod report;
mod samples;
mod undo_wish;
mod values;
mod venue;
mod verdict;

pub use command::{Evaluation, eval};
