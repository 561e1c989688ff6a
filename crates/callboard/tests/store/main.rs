//! The store's contract, run on SQLite in a file, on SQLite in memory and on PostgreSQL.
//!
//! The same list of checks runs on all of them. Crash recovery is tested with processes that are killed.

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
#[path = "../postgres/faulty_proxy.rs"]
mod proxy;
#[cfg(test)]
#[path = "../postgres/test_server.rs"]
mod test_server;
#[cfg(test)]
mod two_stores;

#[cfg(test)]
use databases::Kind;
#[cfg(test)]
use test_server::Server;

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
    two_stores::run(&Kind::File);
}

#[test]
fn conversations_move_between_two_stores_on_postgres() {
    two_stores::run(&Kind::Postgres(Server::start()));
}
