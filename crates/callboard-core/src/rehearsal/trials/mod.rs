//! Tests of the whole model: everyday speech over many tool sets, and its manners.

mod calls_in_reply;
mod everyday;
mod manners;

use calls_in_reply::calls_of;
