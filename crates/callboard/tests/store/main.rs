//! The store's contract, run on SQLite in a file, on SQLite in memory and on PostgreSQL.
//!
//! The same list of checks runs on all of them. Crash recovery is tested with processes that are killed.

#[cfg(test)]
#[path = "../cluster/server.rs"]
mod cluster;
#[cfg(test)]
mod contract;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod databases;
#[cfg(test)]
mod disturbed;
mod encrypted;
#[cfg(test)]
mod files;
#[cfg(test)]
mod meetings;
#[cfg(test)]
mod movement;
#[cfg(test)]
#[path = "../cluster/proxy.rs"]
mod proxy;

#[cfg(test)]
use cluster::Server;
#[cfg(test)]
use databases::Kind;

#[test]
fn the_contract_holds_on_sqlite_in_a_file() {
    contract::run(&Kind::File);
}

#[test]
fn the_contract_holds_on_sqlite_in_memory() {
    contract::run(&Kind::Memory);
}

#[test]
fn the_contract_holds_on_postgres() {
    contract::run(&Kind::Postgres(Server::start()));
}

#[test]
fn kills_lose_nothing_on_sqlite() {
    crash::run(&Kind::File);
}

#[test]
fn kills_lose_nothing_on_postgres() {
    crash::run(&Kind::Postgres(Server::start()));
}

#[test]
fn concurrent_turns_and_deletions_on_postgres() {
    meetings::run(&Kind::Postgres(Server::start()));
}

#[test]
fn conversations_move_between_two_stores_on_sqlite() {
    movement::run(&Kind::File);
}

#[test]
fn conversations_move_between_two_stores_on_postgres() {
    movement::run(&Kind::Postgres(Server::start()));
}
