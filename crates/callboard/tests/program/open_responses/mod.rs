//! The rules of the Open Responses specification (2026-04-24), each with a test of its own or a suite that checks it throughout.
//!
//! Besides the files here: every golden page runs over this API whole, streamed and on a WebSocket, and checks item and event
//! lifecycles, numbers, ids, `tool_choice` and its enforcement. Where OpenAI's SDKs expect something else, they come first;
//! `docs/responses.md` lists those places.

mod compaction;
mod input;
mod requests;
mod response_object;
mod sockets;
mod streams;
