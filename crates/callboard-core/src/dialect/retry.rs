//! When an undecided reader is asked again.
//!
//! A reader that keeps no position rereads its text from the mark on. Asked with every character, it would do quadratic work
//! on a long run of spaces or brackets. So the more it rereads, the more text has to arrive before. Decisions depend on the
//! text only, not on when a reader is asked.

/// This much is reread whenever text arrives.
const REREAD_AT_ONCE: usize = 64;

/// Beyond that, a reader is asked again after this fraction of what it rereads has arrived.
const SHARE: usize = 16;

/// The length of the text at which a reader is asked again that now rereads `reread` of `length` bytes.
pub(super) fn retry_length(length: usize, reread: usize) -> usize {
    length + 1 + reread.saturating_sub(REREAD_AT_ONCE) / SHARE
}
