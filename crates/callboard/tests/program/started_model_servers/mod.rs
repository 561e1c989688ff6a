//! Model servers that Callboard starts: real processes that are waited for, killed, started again, and ended with the program.

mod ends;
mod restarts;
mod setup;
mod starting;
