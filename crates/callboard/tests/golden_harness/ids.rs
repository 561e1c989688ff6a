//! Random ids made comparable: those that Callboard drew become `call_1`, `call_2` … in the order of their appearance.
//!
//! Ids that the page itself holds, the client's and the model server's own, are left as they are.

use crate::golden_page::Page;

/// The names given so far to the ids of one run.
pub(super) struct Ids {
    inputs: String,
    drawn: Vec<String>,
}

/// Whether an id has the promised form.
pub(super) fn has_promised_form(id: &str) -> bool {
    id.strip_prefix("call_")
        .is_some_and(|rest| (24..=32).contains(&rest.len()) && rest.bytes().all(|b| b.is_ascii_alphanumeric()))
}

impl Ids {
    /// Names for the ids of one run of a page.
    pub(super) fn new(page: &Page) -> Self {
        let known = ["Request", "Upstream"];
        let inputs = page.sections.iter().filter(|section| known.iter().any(|name| section.heading.starts_with(name)));
        Self { inputs: inputs.map(|section| section.text.as_str()).collect(), drawn: Vec::new() }
    }

    /// A text in which every drawn id has its name.
    pub(super) fn renamed(&mut self, text: &str) -> String {
        let mut pieces = text.split("call_");
        let mut renamed = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let letters = piece.bytes().take_while(u8::is_ascii_alphanumeric).count();
            let (rest, behind) = piece.split_at(letters);
            renamed.push_str(&self.name(&format!("call_{rest}")));
            renamed.push_str(behind);
        }
        renamed
    }

    fn name(&mut self, id: &str) -> String {
        if !has_promised_form(id) || id.starts_with("call_fromTheModelServer") || self.inputs.contains(id) {
            return id.to_owned();
        }
        let place = self.drawn.iter().position(|drawn| drawn == id).unwrap_or_else(|| {
            self.drawn.push(id.to_owned());
            self.drawn.len() - 1
        });
        format!("call_{}", place + 1)
    }
}
