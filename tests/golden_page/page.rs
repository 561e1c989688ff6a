//! A page: a Markdown file with a title and sections; a section holds options, prose and fenced blocks.
//!
//! An option is a list item such as `- status: 429` outside of any fence. Headings inside a fence do not count.

use std::path::PathBuf;

use serde_json::Value;

use super::tool_box;

/// One scenario.
pub(crate) struct Page {
    /// The file's name without its ending; also the name of the model that plays the scenario.
    pub(crate) stem: String,
    /// The sections behind the title, in order.
    pub(crate) sections: Vec<Section>,
}

/// One `## Heading` and what stands below it.
pub(crate) struct Section {
    /// The heading's words.
    pub(crate) heading: String,
    /// Everything up to the next heading.
    pub(crate) text: String,
}

/// The folder of the pages.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden")
}

/// All pages in the order of their names.
pub(crate) fn read_pages() -> Vec<Page> {
    let tools = tool_box::read(&folder().join("tools.json"));
    let entries = std::fs::read_dir(folder()).expect("the folder of golden pages");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry of the folder").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md") && !path.ends_with("README.md"));
    paths.sort();
    let page = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).expect("a readable page");
        let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
        Page::read(stem, &tool_box::spelled_out(&text, &tools))
    };
    paths.iter().map(page).collect()
}

impl Page {
    fn read(stem: String, text: &str) -> Self {
        let mut sections: Vec<Section> = Vec::new();
        let mut fenced = false;
        for line in text.lines() {
            fenced ^= line.starts_with("```");
            match (line.strip_prefix("## "), sections.last_mut()) {
                (Some(heading), _) if !fenced => {
                    sections.push(Section { heading: heading.to_owned(), text: String::new() });
                }
                (_, Some(section)) => section.text.extend([line, "\n"]),
                _ => {}
            }
        }
        Self { stem, sections }
    }

    /// The section of this heading.
    pub(crate) fn section(&self, heading: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.heading == heading)
    }

    /// The request without what the mode of playing adds; none on pages whose request is given as raw text.
    pub(crate) fn request(&self) -> Option<Value> {
        let text = self.section("Request")?.fence("json")?;
        Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: the request: {error}", self.stem)))
    }

    /// What the model server sends, reply by reply.
    pub(crate) fn upstreams(&self) -> Vec<&Section> {
        self.sections.iter().filter(|section| section.heading.starts_with("Upstream")).collect()
    }
}

impl Section {
    /// The text of the first fenced block of a kind.
    pub(crate) fn fence(&self, kind: &str) -> Option<String> {
        let opening = format!("```{kind}");
        let mut lines = self.text.lines().skip_while(|line| *line != opening);
        lines.next()?;
        Some(lines.take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect())
    }

    /// The value of an option; empty for one without a value.
    pub(crate) fn option(&self, key: &str) -> Option<&str> {
        let mut fenced = false;
        let outside = self.text.lines().filter(move |line| {
            fenced ^= line.starts_with("```");
            !fenced
        });
        outside.filter_map(|line| line.strip_prefix("- ")).find_map(|item| match item.split_once(": ") {
            Some((name, value)) => (name == key).then_some(value),
            None => (item == key).then_some(""),
        })
    }
}
