//! What lasts, as its users meet it: the whole program on a real store, killed, drained, moved and cut off from its database.

mod clients;
mod crowding;
mod forgetting;
mod house;
mod kills;
mod leaving;
mod movement;
mod opening;
mod outage;
mod owners;
mod proof;
mod restart;
mod sizes;
