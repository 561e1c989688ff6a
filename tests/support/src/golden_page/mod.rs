//! Golden pages as data: the part of their format that the tests of more than one crate read.
//!
//! A page's inputs (request, settings, upstream replies) are parsed here, so that the tests over sockets and the tests that cut
//! streams at every byte use the same ones. Expectations are handled by the tests themselves.

mod page;
mod reply;
mod shared_tools;
mod stream;
mod streamed_turn;

pub use page::{Page, Section, Step, read_pages};
pub use reply::Reply;
pub use stream::StreamPiece;
pub use streamed_turn::StreamedTurn;
