//! The settings in effect as TOML, with the origin of each value as a comment.
//!
//! The output is a valid settings file, except that secrets are masked.

use super::key::{UPSTREAM, header};
use super::load::{EffectiveValue, Loaded};
use super::table::SECTIONS;

/// Longer values do not push the column of comments further out.
const WIDEST_VALUE: usize = 40;

impl Loaded {
    /// All settings as TOML, each with its origin as a comment.
    pub fn to_toml(&self) -> String {
        let all = || self.entries.iter().chain(self.upstreams.iter().flatten());
        let names = all().map(|entry| entry.name.len()).max();
        let values = all().map(|entry| entry.written.chars().count()).filter(|width| *width <= WIDEST_VALUE).max();
        let columns = (names.unwrap_or_default(), values.unwrap_or_default());
        let mut page = String::new();
        for section in SECTIONS.iter().filter_map(|keys| keys.first()).map(|key| key.section) {
            match section {
                UPSTREAM if self.upstreams.is_empty() => page.push_str("\n# no [[upstream]] was given\n"),
                UPSTREAM => self.upstreams.iter().for_each(|keys| print(section, keys.iter(), columns, &mut page)),
                _ => print(section, self.entries.iter().filter(|entry| entry.section == section), columns, &mut page),
            }
        }
        page
    }
}

fn print<'entry>(
    section: &str,
    entries: impl Iterator<Item = &'entry EffectiveValue>,
    (names, values): (usize, usize),
    page: &mut String,
) {
    if !section.is_empty() {
        page.push_str(&format!("\n{}\n", header(section)));
    }
    for EffectiveValue { name, written, origin, .. } in entries {
        page.push_str(&format!("{name:<names$} = {written:<values$}  # {origin}\n"));
    }
}
