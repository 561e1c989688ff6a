//! What can be seen from outside: log lines and metrics.

pub mod log;
pub mod metrics;
pub mod seldom;
pub mod stage;
pub mod turns;
