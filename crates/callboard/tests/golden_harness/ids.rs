//! Random ids made comparable: ids that Callboard generated become `call_1`, `call_2`, `resp_1` … in order of appearance.
//!
//! Ids in the page itself, of the client or of the model server, are left unchanged. A later request of a page may use a name
//! in place of the id.

use callboard_test_support::golden_page::Page;

const PREFIXES: [&str; 8] = ["call_", "conv_", "fc_", "fco_", "mcp_", "msg_", "resp_", "rs_"];

/// The names given so far to the ids of one run.
pub(super) struct Ids {
    inputs: String,
    /// Id and name.
    drawn: Vec<(String, String)>,
    /// Paths and addresses of this run, with their names in pages.
    places: Vec<(String, &'static str)>,
}

/// Whether an id has the documented format.
pub(super) fn has_valid_format(id: &str) -> bool {
    id.strip_prefix("call_").is_some_and(is_random)
}

fn is_random(letters: &str) -> bool {
    (24..=32).contains(&letters.len()) && letters.bytes().all(|b| b.is_ascii_alphanumeric())
}

impl Ids {
    /// Names for the ids of one run of a page.
    pub(super) fn new(page: &Page) -> Self {
        let known = ["Request", "Upstream"];
        let inputs = page.sections.iter().filter(|section| known.iter().any(|name| section.heading.starts_with(name)));
        Self { inputs: inputs.map(|section| section.text.as_str()).collect(), drawn: Vec::new(), places: Vec::new() }
    }

    /// The same with names for paths and addresses.
    pub(super) fn with_places(page: &Page, places: &[(&str, &'static str)]) -> Self {
        let places = places.iter().map(|(place, name)| ((*place).to_owned(), *name)).collect();
        Self { places, ..Self::new(page) }
    }

    /// Replaces every generated id by its name.
    pub(super) fn renamed(&mut self, text: &str) -> String {
        let text = self.places.iter().fold(text.to_owned(), |text, (place, name)| text.replace(place, name));
        PREFIXES.iter().fold(text, |text, prefix| self.renamed_after(prefix, &text))
    }

    /// Whether Callboard generated this call id.
    pub(super) fn is_drawn(&self, id: &str) -> bool {
        has_valid_format(id) && !id.starts_with("call_fromTheModelServer") && !self.inputs.contains(id)
    }

    /// Replaces every name by its id.
    pub(super) fn resolved(&self, text: &str) -> String {
        self.drawn.iter().rev().fold(text.to_owned(), |text, (id, name)| text.replace(name, id))
    }

    fn renamed_after(&mut self, prefix: &str, text: &str) -> String {
        let mut pieces = text.split(prefix);
        let mut renamed = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let letters = piece.bytes().take_while(u8::is_ascii_alphanumeric).count();
            let (rest, behind) = piece.split_at(letters);
            renamed.push_str(&self.name(prefix, rest));
            renamed.push_str(behind);
        }
        renamed
    }

    fn name(&mut self, prefix: &str, letters: &str) -> String {
        let id = format!("{prefix}{letters}");
        if !is_random(letters) || letters.starts_with("fromTheModelServer") || self.inputs.contains(&id) {
            return id;
        }
        if let Some((_, name)) = self.drawn.iter().find(|(drawn, _)| *drawn == id) {
            return name.clone();
        }
        let place = self.drawn.iter().filter(|(drawn, _)| drawn.starts_with(prefix)).count() + 1;
        let name = format!("{prefix}{place}");
        self.drawn.push((id, name.clone()));
        name
    }
}
