//! Every reader of a reply, and of long requests, does linear work: four times the text takes about four times as long, not sixteen times.
//!
//! The states of a reader are generated: it has read a beginning of any well-formed reply. Each is followed by long runs of
//! what it may wait for. Text is scanned in too many places to count the bytes, so the CPU time of this thread is compared.

#[cfg(test)]
mod arguments;
#[cfg(test)]
mod cpu_time;
#[cfg(test)]
mod dialects;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod turns;
#[cfg(test)]
mod wires;
