//! `callboard chat CHARACTER`: a conversation at the terminal.

mod conversation;
mod folded_text;
mod line_editor;
mod slash_command;
mod terminal_writer;

pub(super) use conversation::chat;
