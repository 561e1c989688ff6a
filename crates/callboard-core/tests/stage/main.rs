//! Turns on stage with tools of the character and tools of the client, played against a model that reads from a script.

#[cfg(test)]
mod any_order;

#[cfg(test)]
mod further;

#[cfg(test)]
mod rows;

#[cfg(test)]
mod script;
