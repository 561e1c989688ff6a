//! Tool calls, reasoning and control tokens that models write into plain text.
//!
//! One incremental reader takes the text as it arrives and returns three kinds of pieces: text for
//! the user, reasoning, and calls. Each model family that writes calls in a form of its own has
//! one file here. Arguments are not interpreted here: they leave as the model wrote them, and the
//! contract repairs and checks them.

mod bare_json;
mod channel_writer;
mod control_tokens;
#[cfg(test)]
mod damage_tests;
mod deepseek;
mod delimited;
mod enclosing_marks;
mod fence;
mod gemma;
mod glm;
mod harmony;
mod hermes;
mod input;
mod invoke_tags;
mod json_call;
mod json_call_head;
mod json_scan;
mod kimi;
mod marked_json;
mod markup_reader;
mod missing_mark;
mod mistral;
mod opening_marks;
mod piece;
mod pythonic;
mod qwen_coder;
mod reader;
mod reasoning_tags;
mod special_tokens;
mod tag_key;
mod tag_values;
mod tagged;
#[cfg(test)]
mod test_table;
#[cfg(test)]
mod tests;
mod text_context;
mod tool_names;
mod unreadable;

pub use piece::{TextCall, TextEnd, TextPiece};
pub use reader::TextReader;
