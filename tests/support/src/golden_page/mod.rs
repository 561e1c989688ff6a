//! Golden pages as data: the part of their format that the tests of more than one crate read.
//!
//! A page's inputs (request, settings, what the model server sends) are understood here, so that the pages played over
//! sockets and the streams cut at every byte are the same ones. Expectations are the business of the tests themselves.

mod page;
mod reply;
mod stream;
mod tool_box;

pub use page::{Page, Section, Step, read_pages};
pub use reply::Reply;
pub use stream::StreamPiece;
