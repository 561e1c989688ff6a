//! Stored conversations through the whole program on a real store: kills, drains, two processes and database outages.

mod client;
mod concurrent_turns;
mod consistency;
mod database_outage;
mod deletion;
mod disconnects;
mod fixture;
mod history_limits;
mod kills;
mod ownership;
mod restart;
mod store_cannot_be_opened;
mod two_programs;
