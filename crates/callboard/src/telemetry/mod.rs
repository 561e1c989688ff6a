//! Log lines and metrics. Every other module may use this one; it uses none of them.

pub mod character_metrics;
mod line_format;
pub mod log;
pub mod log_throttle;
mod log_writer;
pub mod metrics;
