//! Something between a store and its PostgreSQL that loses what a test wants lost.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What goes wrong next. It goes wrong once; what hangs or refuses does so until told otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// The connection is cut instead of carrying a COMMIT to the server.
    LoseCommit,
    /// The connection is cut instead of carrying the answer to a COMMIT back.
    LoseAnswer,
    /// The answer to a COMMIT does not come, nor anything else on this connection, which stays open.
    KeepAnswer,
    /// The connection is cut instead of carrying the answer to a COMMIT back, and nobody is let in again.
    LoseAnswerAndRefuse,
    /// The connection is cut instead of carrying the answer to an INSERT of one row back.
    LoseInsert,
    /// The same, and nobody is let in again.
    LoseInsertAndRefuse,
    /// Connections are taken and cut.
    Refuse,
    /// Nothing is carried any more, in either direction.
    Hang,
}

/// The way to a server.
pub(crate) struct Proxy {
    /// The address of the server, by way of the proxy.
    pub(crate) address: String,
    fault: Arc<Mutex<Fault>>,
}

impl Proxy {
    pub(crate) fn before(address: &str) -> Self {
        let (user, rest) = address.split_once('@').unwrap();
        let (server, rest) = rest.split_once('/').unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("{user}@{}/{rest}", listener.local_addr().unwrap());
        let fault = Arc::new(Mutex::new(Fault::None));
        let (server, at) = (server.to_owned(), Arc::clone(&fault));
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if *at.lock().unwrap() != Fault::Refuse {
                    join(client, TcpStream::connect(&server).unwrap(), &at);
                }
            }
        });
        Self { address, fault }
    }

    pub(crate) fn set(&self, fault: Fault) {
        *self.fault.lock().unwrap() = fault;
    }

    pub(crate) fn fault(&self) -> Fault {
        *self.fault.lock().unwrap()
    }
}

fn join(client: TcpStream, server: TcpStream, fault: &Arc<Mutex<Fault>>) {
    let up = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let (to_server, to_client) = (Arc::clone(fault), Arc::clone(fault));
    std::thread::spawn(move || {
        let mut seen = Commits::default();
        carry(up.0, up.1, &to_server, |bytes, fault| match fault {
            Fault::LoseCommit if seen.commits(bytes) => Some(Fault::None),
            _ => {
                seen.commits(bytes);
                None
            }
        });
    });
    std::thread::spawn(move || {
        carry(server, client, &to_client, |bytes, fault| match fault {
            Fault::LoseAnswer | Fault::KeepAnswer if holds(bytes, b"COMMIT\0") => Some(Fault::None),
            Fault::LoseAnswerAndRefuse if holds(bytes, b"COMMIT\0") => Some(Fault::Refuse),
            Fault::LoseInsert if holds(bytes, b"INSERT 0 1\0") => Some(Fault::None),
            Fault::LoseInsertAndRefuse if holds(bytes, b"INSERT 0 1\0") => Some(Fault::Refuse),
            _ => None,
        });
    });
}

/// Carries bytes until an end, or until they are to be lost: then the connection is cut, and another fault begins.
fn carry(
    mut from: TcpStream,
    mut to: TcpStream,
    fault: &Mutex<Fault>,
    mut lost: impl FnMut(&[u8], Fault) -> Option<Fault>,
) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let bytes = &buffer[..read];
        let mut now = fault.lock().unwrap();
        if let Some(next) = lost(bytes, *now) {
            let is_silent = std::mem::replace(&mut *now, next) == Fault::KeepAnswer;
            drop(now);
            while is_silent && from.read(&mut buffer).is_ok_and(|read| read > 0) {}
            break;
        }
        let hangs = *now == Fault::Hang;
        drop(now);
        if !hangs && to.write_all(bytes).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

/// Tells when a client executes a COMMIT: prepared once, under a name, and called by that name from then on.
#[derive(Default)]
struct Commits {
    name: Option<Vec<u8>>,
}

impl Commits {
    fn commits(&mut self, bytes: &[u8]) -> bool {
        let called = self.name.as_ref().is_some_and(|name| holds(bytes, name));
        if let Some(at) = bytes.windows(8).position(|window| window == b"\0COMMIT\0") {
            let start = bytes[..at].iter().rposition(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(0) + 1;
            self.name = Some([b"\0", &bytes[start..at], b"\0"].concat());
        }
        called
    }
}

fn holds(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}
