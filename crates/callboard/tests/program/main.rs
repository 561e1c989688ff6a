//! End-to-end tests of the program: real processes, real sockets, and a model server that each test scripts.

#[cfg(test)]
mod author_commands;
#[cfg(test)]
mod author_messages;
#[cfg(test)]
mod bad_calls;
#[cfg(test)]
mod calls;
#[cfg(test)]
mod characters;
#[cfg(test)]
mod characters_folder;
#[cfg(test)]
mod chat;
#[cfg(test)]
mod chat_conversations;
#[cfg(test)]
mod connections;
#[cfg(test)]
mod constrained_decoding;
#[cfg(test)]
mod conversation_forks;
#[cfg(test)]
mod conversation_refusals;
#[cfg(test)]
mod docs;
#[cfg(test)]
mod eval;
#[cfg(test)]
mod events;
#[cfg(test)]
mod keys_limits_and_drain;
#[cfg(test)]
mod late_failures;
#[cfg(test)]
mod log_lines;
#[cfg(test)]
mod needless_retries;
#[cfg(test)]
mod open_responses;
#[cfg(test)]
mod page;
#[cfg(test)]
mod passthrough;
#[cfg(test)]
mod persistence;
#[cfg(test)]
mod probes;
#[cfg(test)]
mod rehearsal;
#[cfg(test)]
mod request_budget;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod server_findings;
#[cfg(test)]
mod shutdown;
#[cfg(test)]
mod silent_model_server;
#[cfg(test)]
mod slow_clients;
#[cfg(test)]
mod spoken_names;
#[cfg(test)]
mod started_model_servers;
#[cfg(test)]
mod startup;
#[cfg(test)]
#[path = "../postgres/test_server.rs"]
mod test_server;
#[cfg(test)]
mod tools_by_hand;
#[cfg(test)]
mod trace_context;
#[cfg(test)]
mod traces;
#[cfg(test)]
mod upstream_connection_reuse;
#[cfg(test)]
mod upstream_failures;
#[cfg(test)]
mod upstream_reply_formats;
#[cfg(test)]
mod upstreams;
#[cfg(test)]
mod web_pages;
#[cfg(test)]
mod websocket;
