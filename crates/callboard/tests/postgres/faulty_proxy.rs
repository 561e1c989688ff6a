//! A proxy between a store and PostgreSQL that injects faults.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// The next fault. It occurs once, except `Refuse` and `Hang`, which last until reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// Cuts the connection instead of forwarding a COMMIT.
    LoseCommit,
    /// As `LoseCommit`, then refuses connections.
    LoseCommitAndRefuse,
    /// Cuts the connection instead of forwarding the answer to a COMMIT.
    LoseAnswer,
    /// Drops the answer to a COMMIT and everything after it; the connection stays open.
    WithholdAnswer,
    /// As `LoseAnswer`, then refuses connections.
    LoseAnswerAndRefuse,
    /// Cuts the connection instead of forwarding a single-statement turn.
    LoseTurn,
    /// As `LoseTurn`, then refuses connections.
    LoseTurnAndRefuse,
    /// Cuts the connection instead of forwarding the answer to such a turn, or to a query of one row.
    LoseTurnAnswer,
    /// Drops that answer and everything after it; the connection stays open.
    WithholdTurnAnswer,
    /// As `LoseTurnAnswer`, then refuses connections.
    LoseTurnAnswerAndRefuse,
    /// Cuts the connection instead of forwarding the answer to an INSERT of one row.
    LoseInsert,
    /// As `LoseInsert`, then refuses connections.
    LoseInsertAndRefuse,
    /// Accepts and closes connections.
    Refuse,
    /// Forwards nothing, in either direction.
    Hang,
}

/// A proxy in front of a server.
pub(crate) struct Proxy {
    /// The address of the server, through the proxy.
    pub(crate) address: String,
    fault: Arc<State>,
}

/// The next fault, and a signal when it changes.
struct State {
    next: Mutex<Fault>,
    changed: Condvar,
}

impl State {
    fn now(&self) -> Fault {
        *self.next.lock().unwrap()
    }

    /// Triggers the current fault if `lost` returns its successor; returns the fault that was triggered.
    fn trigger(&self, lost: impl FnOnce(Fault) -> Option<Fault>) -> Option<Fault> {
        let mut now = self.next.lock().unwrap();
        let next = lost(*now)?;
        self.changed.notify_all();
        Some(std::mem::replace(&mut *now, next))
    }
}

impl Proxy {
    pub(crate) fn before(address: &str) -> Self {
        let (user, rest) = address.split_once('@').unwrap();
        let (server, rest) = rest.split_once('/').unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("{user}@{}/{rest}", listener.local_addr().unwrap());
        let fault = Arc::new(State { next: Mutex::new(Fault::None), changed: Condvar::new() });
        let (server, at) = (server.to_owned(), Arc::clone(&fault));
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if at.now() != Fault::Refuse {
                    join(client, TcpStream::connect(&server).unwrap(), &at);
                }
            }
        });
        Self { address, fault }
    }

    pub(crate) fn set(&self, fault: Fault) {
        *self.fault.next.lock().unwrap() = fault;
    }

    pub(crate) fn fault(&self) -> Fault {
        self.fault.now()
    }

    /// Waits until this is the next fault.
    pub(crate) fn wait_for(&self, fault: Fault) {
        let (next, within) = (self.fault.next.lock().unwrap(), Duration::from_secs(60));
        let (now, _) = self.fault.changed.wait_timeout_while(next, within, |now| *now != fault).unwrap();
        assert_eq!(*now, fault, "nothing was lost");
    }
}

fn join(client: TcpStream, server: TcpStream, fault: &Arc<State>) {
    let up = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let (to_server, to_client) = (Arc::clone(fault), Arc::clone(fault));
    std::thread::spawn(move || {
        let (mut commits, mut turns) = (Calls::of(b"\0COMMIT\0"), Calls::of(b"\0WITH part0 "));
        forward(up.0, up.1, &to_server, |bytes, fault| match (fault, commits.are_in(bytes), turns.are_in(bytes)) {
            (Fault::LoseCommit, true, _) | (Fault::LoseTurn, _, true) => Some(Fault::None),
            (Fault::LoseTurnAndRefuse, _, true) | (Fault::LoseCommitAndRefuse, true, _) => Some(Fault::Refuse),
            _ => None,
        });
    });
    std::thread::spawn(move || {
        forward(server, client, &to_client, |bytes, fault| match fault {
            Fault::LoseAnswer | Fault::WithholdAnswer if holds(bytes, b"COMMIT\0") => Some(Fault::None),
            Fault::LoseAnswerAndRefuse if holds(bytes, b"COMMIT\0") => Some(Fault::Refuse),
            Fault::LoseTurnAnswer | Fault::WithholdTurnAnswer if holds(bytes, b"SELECT 1\0") => Some(Fault::None),
            Fault::LoseTurnAnswerAndRefuse if holds(bytes, b"SELECT 1\0") => Some(Fault::Refuse),
            Fault::LoseInsert if holds(bytes, b"INSERT 0 1\0") => Some(Fault::None),
            Fault::LoseInsertAndRefuse if holds(bytes, b"INSERT 0 1\0") => Some(Fault::Refuse),
            _ => None,
        });
    });
}

/// Forwards bytes until EOF or a fault, then closes the connection.
fn forward(mut from: TcpStream, mut to: TcpStream, fault: &State, mut lost: impl FnMut(&[u8], Fault) -> Option<Fault>) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let bytes = &buffer[..read];
        if let Some(was) = fault.trigger(|now| lost(bytes, now)) {
            let is_silent = matches!(was, Fault::WithholdAnswer | Fault::WithholdTurnAnswer);
            while is_silent && from.read(&mut buffer).is_ok_and(|read| read > 0) {}
            break;
        }
        if fault.now() != Fault::Hang && to.write_all(bytes).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

/// Detects executions of a statement: it is prepared once under a name, and later executed by that name.
struct Calls {
    /// The start of its SQL, which follows its name.
    text: &'static [u8],
    name: Option<Vec<u8>>,
}

impl Calls {
    fn of(text: &'static [u8]) -> Self {
        Self { text, name: None }
    }

    fn are_in(&mut self, bytes: &[u8]) -> bool {
        let called = self.name.as_ref().is_some_and(|name| holds(bytes, name));
        if let Some(at) = bytes.windows(self.text.len()).position(|window| window == self.text) {
            // An `s` and a number. The bytes before them are a length, and can have any value.
            let start = bytes[..at].iter().rposition(|byte| !byte.is_ascii_digit()).unwrap_or(0);
            self.name = Some([b"\0", &bytes[start..at], b"\0"].concat());
        }
        called
    }
}

fn holds(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}
