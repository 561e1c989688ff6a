//! Tool calls, reasoning and control tokens that models write into plain text.
//!
//! One incremental reader takes the text as it arrives and hands out three kinds of pieces: text for
//! the user, reasoning, and calls. Each family of models that writes calls in a form of its own has
//! one file here. What the arguments mean is not decided here: they leave as the model wrote them,
//! and are repaired and checked by the contract.

mod call_head;
mod capture;
#[cfg(test)]
mod check;
mod control;
#[cfg(test)]
mod damage;
mod deepseek;
mod delimited;
mod fence;
mod gemma;
mod glm;
mod harmony;
mod hermes;
mod invoke;
mod json_call;
mod json_scan;
mod kimi;
mod marks;
mod mistral;
mod objects;
mod opener;
mod outlet;
mod piece;
mod plain;
mod pythonic;
mod qwen_coder;
mod reader;
mod sight;
mod special;
mod surroundings;
mod tag_key;
mod tag_values;
mod tagged;
#[cfg(test)]
mod tests;
mod think;
mod tool_names;
mod unmarked;
mod unreadable;

pub use piece::{End, Piece, TextCall};
pub use reader::TextReader;
