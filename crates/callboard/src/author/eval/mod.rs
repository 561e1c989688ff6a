//! `callboard eval`: how well a model calls tools, measured on files of cases, through everything a real request goes through.
//!
//! Cases of a character are played as turns of that character, and the calls that reach its tools are compared. Questions of
//! BFCL go through the gateway. Both end in the same report.

mod bfcl;
mod call_matching;
mod case_run;
mod case_starting_state;
mod cases;
mod command;
mod comparison;
mod expectation_check;
mod report;
mod scripted_replies;
mod value_matching;
mod verdict;

pub(super) use command::eval;
