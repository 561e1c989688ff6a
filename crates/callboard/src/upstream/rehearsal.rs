//! The rehearsal model: rule-based, in this process, always there.

use callboard_core::rehearsal;

use super::LocalModel;

/// Callboard's own model.
pub struct Rehearsal;

impl LocalModel for Rehearsal {
    fn reply(&self, request: &[u8]) -> Vec<u8> {
        let request = serde_json::from_slice(request).unwrap_or_default();
        rehearsal::reply(&request).to_string().into_bytes()
    }
}
