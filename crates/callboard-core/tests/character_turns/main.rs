//! Turns of a character with its own tools and tools of the client, against a scripted model.

#[cfg(test)]
mod property_tests;

#[cfg(test)]
mod reask_and_usage;

#[cfg(test)]
mod rows;

#[cfg(test)]
mod script;
