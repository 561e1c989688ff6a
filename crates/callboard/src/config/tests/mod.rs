//! Tests of the settings as a whole: layers, messages, and what `callboard config` prints.

mod layers;
mod messages;
mod printing;
mod setup;
mod upstreams;
