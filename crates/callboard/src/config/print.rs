//! The settings that hold, as TOML with the origin of each value behind it.
//!
//! What is printed can be used as a settings file, but for secrets, which are masked.

use super::key::Section;
use super::load::{Held, Loaded};

/// Longer values do not push the column of comments further out.
const WIDEST_VALUE: usize = 40;

impl Loaded {
    /// All settings as TOML, each with its origin as a comment.
    pub fn to_toml(&self) -> String {
        let columns = Columns::of(self.held.iter().chain(self.upstreams.iter().flatten()));
        let mut page = String::new();
        for section in Section::ALL {
            match section {
                Section::Upstream => self.print_upstreams(&columns, &mut page),
                _ => columns.print(section, self.held.iter().filter(|held| held.section == section), &mut page),
            }
        }
        page
    }

    fn print_upstreams(&self, columns: &Columns, page: &mut String) {
        if self.upstreams.is_empty() {
            page.push_str("\n# no [[upstream]] was given\n");
        }
        for upstream in &self.upstreams {
            columns.print(Section::Upstream, upstream.iter(), page);
        }
    }
}

struct Columns {
    name: usize,
    value: usize,
}

impl Columns {
    fn of<'held>(all: impl Iterator<Item = &'held Held> + Clone) -> Columns {
        let name = all.clone().map(|held| held.name.len()).max();
        let value = all.map(|held| held.written.chars().count()).filter(|width| *width <= WIDEST_VALUE).max();
        Columns { name: name.unwrap_or_default(), value: value.unwrap_or_default() }
    }

    fn print<'held>(&self, section: Section, keys: impl Iterator<Item = &'held Held>, page: &mut String) {
        if section != Section::Top {
            page.push_str(&format!("\n{}\n", section.header()));
        }
        for Held { name, written, origin, .. } in keys {
            page.push_str(&format!("{name:<0$} = {written:<1$}  # {origin}\n", self.name, self.value));
        }
    }
}
