//! Probes what a model server does with the parts of a request that concern tools, by a few tiny requests.
//!
//! Each request differs from the first one by the field that it tests, so an error is about that field. A field counts as honored or
//! ignored only by what no model does on its own: by the count of prompt tokens, by a native call that nothing in the conversation asks
//! for, by a word that only a constraint can bring about. Prose alone proves nothing but that no call was forced. The caller sends the
//! requests; a reply that shows nothing leaves the feature unknown.

mod reply;
mod requests;
mod sequence;
#[cfg(test)]
mod tests;
mod verdict;

pub use sequence::Probe;
