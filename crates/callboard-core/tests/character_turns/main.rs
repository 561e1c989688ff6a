//! Turns of a character with its own tools and tools of the client, against a scripted model.

#[cfg(test)]
mod any_order;

#[cfg(test)]
mod further;

#[cfg(test)]
mod rows;

#[cfg(test)]
mod script;
