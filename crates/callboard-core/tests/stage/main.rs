//! Turns on stage with tools of the character and tools of the client, played against a model that reads from a script.

mod any_order;
mod rows;
mod script;
