//! Python for Callboard's characters. Knows nothing of HTTP, SQL or models.
//!
//! So far this finds the interpreter that will run characters and checks that it can: any CPython from 3.9 on.

mod interpreter;

pub use interpreter::{Interpreter, InterpreterError, Version};
