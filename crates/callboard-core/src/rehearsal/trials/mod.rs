//! Tests of the whole model: everyday utterances over many tool sets, and its other behaviour.

mod calls_in_reply;
mod everyday;
mod whole_model;

use calls_in_reply::calls_of;
