//! Tests of the whole model: everyday speech over many tool sets, and its manners.

mod everyday;
mod manners;
mod reading;

use reading::calls_of;
