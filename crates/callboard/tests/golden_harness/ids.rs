//! Random ids made comparable: those that Callboard drew become `call_1`, `call_2`, `resp_1` … in the order of their appearance.
//!
//! Ids that the page itself holds, the client's and the model server's own, are left as they are. A later request of a page
//! may use a name where it means the id.

use callboard_test_support::golden_page::Page;

const PREFIXES: [&str; 8] = ["call_", "conv_", "fc_", "fco_", "mcp_", "msg_", "resp_", "rs_"];

/// The names given so far to the ids of one run.
pub(super) struct Ids {
    inputs: String,
    /// Id and name.
    drawn: Vec<(String, String)>,
    /// Paths and addresses of this run, with what they are called in pages.
    places: Vec<(String, &'static str)>,
}

/// Whether an id has the promised form.
pub(super) fn has_promised_form(id: &str) -> bool {
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

    /// A text in which every drawn id has its name.
    pub(super) fn renamed(&mut self, text: &str) -> String {
        let text = self.places.iter().fold(text.to_owned(), |text, (place, name)| text.replace(place, name));
        PREFIXES.iter().fold(text, |text, prefix| self.renamed_after(prefix, &text))
    }

    /// Whether Callboard drew this id of a call.
    pub(super) fn is_drawn(&self, id: &str) -> bool {
        has_promised_form(id) && !id.starts_with("call_fromTheModelServer") && !self.inputs.contains(id)
    }

    /// A text in which every name stands for its id again.
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
