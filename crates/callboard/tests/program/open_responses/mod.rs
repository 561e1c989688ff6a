//! The rules of the Open Responses specification (2026-04-24), and the cases of its compliance suite. `rules.rs` says what shows each
//! rule; `docs/responses.md` lists the places where OpenAI's SDKs expect something else and come first.

mod compaction;
mod compliance;
mod input;
mod own_items;
mod requests;
mod response_object;
mod rules;
mod schema;
mod shown_values;
mod sockets;
mod streams;
