//! Models that live in this process. They take the same requests and give the same replies as model servers do.

use std::fmt;

/// A model in this process.
pub trait LocalModel: Send + Sync {
    /// Answers the body of a chat request with the body of a whole chat reply.
    fn reply(&self, request: &[u8]) -> Vec<u8>;
}

impl fmt::Debug for dyn LocalModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LocalModel")
    }
}
