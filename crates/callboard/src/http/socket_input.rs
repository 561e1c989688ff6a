//! What arrives on a WebSocket, counted below the protocol: a message that is never finished is seen nowhere else.

use std::io;
use std::time::{Duration, Instant};

use super::client_connection::ClientConnection;
use crate::memory_budget::{MemoryBudget, RequestMemory};

/// The size of a control frame of a client without its data: two bytes and the mask.
const CONTROL_FRAME: usize = 6;

/// The bytes of the message that is arriving.
pub(super) struct SocketInput {
    memory: RequestMemory,
    /// When its first byte arrived.
    begun: Option<Instant>,
}

impl SocketInput {
    pub(super) fn new(budget: &MemoryBudget) -> Self {
        Self { memory: budget.start(), begun: None }
    }

    /// Counts bytes; an error when there is no room for them.
    pub(super) fn received(&mut self, bytes: usize) -> io::Result<()> {
        if bytes > 0 {
            self.begun.get_or_insert_with(Instant::now);
        }
        self.memory.grow(bytes).map_err(io::Error::other)
    }

    /// A ping or a pong was among them. It may come between the frames of a message.
    pub(super) fn control_frame(&mut self, data: usize) {
        self.memory.shrink(CONTROL_FRAME.saturating_add(data));
        if self.memory.bytes() == 0 {
            self.begun = None;
        }
    }

    /// The message is complete; its memory, to hold while it is being answered.
    pub(super) fn message(&mut self) -> RequestMemory {
        self.begun = None;
        let next = self.memory.budget().start();
        std::mem::replace(&mut self.memory, next)
    }

    /// The socket is not read for a while, which is not the client's fault.
    pub(super) fn pause(&mut self) {
        self.begun = self.begun.map(|_| Instant::now());
    }
}

/// Waits until a message has been arriving for so long.
pub(super) async fn overdue(client: &ClientConnection, time: Duration) {
    loop {
        let begun = client.input().as_ref().and_then(|input| input.begun);
        let left = begun.map_or(time, |begun| time.saturating_sub(begun.elapsed()));
        if left.is_zero() {
            return;
        }
        tokio::time::sleep(left).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_frames_belong_to_no_message() {
        let mut input = SocketInput::new(&MemoryBudget::new(100, 100));
        input.received(6 + 4).unwrap();
        input.control_frame(4);
        assert!(input.begun.is_none(), "nothing but a ping has arrived");
        input.received(20).unwrap();
        let begun = input.begun;
        input.received(6).unwrap();
        input.control_frame(0);
        assert_eq!(
            (input.begun, input.memory.bytes()),
            (begun, 20),
            "the message has been arriving since its first byte"
        );
        assert!(input.received(81).is_err(), "over the budget");
        assert_eq!(input.message().bytes(), 20);
        assert!(input.begun.is_none());
    }
}
