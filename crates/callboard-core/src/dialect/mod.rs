//! Tool calls, reasoning and control tokens that models write into plain text.
//!
//! One incremental reader takes the text as it arrives and returns three kinds of pieces: text for
//! the user, reasoning, and calls. Each model family that writes calls in a form of its own has
//! one file here. Arguments are not interpreted here: they leave as the model wrote them, and the
//! contract repairs and checks them.

mod active_reader;
mod bar_tokens;
mod bare_json;
mod begins_json_call;
mod call_words;
mod channel_writer;
#[cfg(test)]
mod damage_tests;
mod deepseek;
mod delimited;
mod dropped_tokens;
mod enclosing_marks;
mod fence;
mod gemma;
mod glm;
mod harmony;
mod hermes;
mod input;
mod invoke_tags;
mod json_call;
mod json_scan;
mod kimi;
mod marked_json;
mod missing_mark;
mod mistral;
mod opening_marks;
mod piece;
mod pythonic;
mod qwen_coder;
mod reader;
mod reasoning_tags;
mod retry;
mod separate_reasoning;
#[cfg(test)]
mod table_runner;
mod tag;
mod tag_key;
mod tag_parameters;
mod tagged;
#[cfg(test)]
mod tests;
mod text_context;
mod tool_name;
mod tool_names;
mod unknown_form;
mod unlisted_form;
mod unlisted_head;
mod unlisted_tags;
#[cfg(test)]
mod unlisted_tests;
mod unlisted_words;
mod written_arguments;

pub use piece::{TextCall, TextEnd, TextPiece};
pub use reader::TextReader;
pub use separate_reasoning::{SeparatedAnswer, separate_reasoning};
pub use tool_name::resolve_name;
pub use tool_names::ToolNames;
