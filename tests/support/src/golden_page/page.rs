//! A page: a Markdown file with a title and sections; a section holds options, prose and fenced blocks.
//!
//! An option is a list item such as `- status: 429` outside of any fence. Headings inside a fence do not count.

use std::path::PathBuf;

use serde_json::Value;

use super::shared_tools;

/// One scenario.
pub struct Page {
    /// The file's name without its ending; also the name of the model that plays the scenario.
    pub stem: String,
    /// The sections behind the title, in order.
    pub sections: Vec<Section>,
}

/// One `## Heading` and the text below it.
pub struct Section {
    /// The heading's words.
    pub heading: String,
    /// Everything up to the next heading.
    pub text: String,
}

/// One request of a conversation page, with the replies of the model server to it.
pub struct Step<'a> {
    /// The section of the request.
    pub request: &'a Section,
    /// The number of its first reply, counted from 1 over the whole page.
    pub first_reply: usize,
    /// How many replies it takes.
    pub replies: usize,
}

/// The folder of the pages.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../golden")
}

/// All pages in the order of their names.
pub fn read_pages() -> Vec<Page> {
    let tools = shared_tools::read(&folder().join("tools.json"));
    let entries = std::fs::read_dir(folder()).expect("the folder of golden pages");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry of the folder").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md") && !path.ends_with("README.md"));
    paths.sort();
    let page = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).expect("a readable page");
        let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
        Page::read(stem, &shared_tools::spelled_out(&text, &tools))
    };
    paths.iter().map(page).collect()
}

impl Page {
    /// Reads a page from its text.
    pub fn read(stem: String, text: &str) -> Self {
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

    /// The page's file.
    pub fn path(&self) -> PathBuf {
        folder().join(format!("{}.md", self.stem))
    }

    /// The section of this heading.
    pub fn section(&self, heading: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.heading == heading)
    }

    /// The request without the fields of the mode; none on pages whose request is raw text.
    pub fn request(&self) -> Option<Value> {
        let text = self.section("Request")?.fence("json")?;
        Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: the request: {error}", self.stem)))
    }

    /// Whether the page is a conversation: numbered requests to a separate program.
    pub fn is_conversation(&self) -> bool {
        self.section("Request 1").is_some()
    }

    /// The requests of a conversation in their order.
    pub fn steps(&self) -> Vec<Step<'_>> {
        let mut steps: Vec<Step<'_>> = Vec::new();
        let mut replies = 0;
        for section in &self.sections {
            if section.heading.starts_with("Request ") {
                steps.push(Step { request: section, first_reply: replies + 1, replies: 0 });
            } else if section.heading.starts_with("Upstream ") {
                replies += 1;
                steps.last_mut().expect("a request before its replies").replies += 1;
            }
        }
        steps
    }

    /// The characters' files: name and code.
    pub fn characters(&self) -> Vec<(&str, String)> {
        let headed =
            self.sections.iter().filter_map(|section| Some((section.heading.strip_prefix("Character ")?, section)));
        headed.map(|(name, section)| (name, section.fence("python").expect("the code of a character"))).collect()
    }

    /// What the model server sends, reply by reply.
    pub fn upstreams(&self) -> Vec<&Section> {
        self.sections.iter().filter(|section| section.heading.starts_with("Upstream")).collect()
    }
}

impl Section {
    /// The text of the first fenced block of a kind.
    pub fn fence(&self, kind: &str) -> Option<String> {
        let opening = format!("```{kind}");
        let mut lines = self.text.lines().skip_while(|line| *line != opening);
        lines.next()?;
        Some(lines.take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect())
    }

    /// The value of an option; empty for one without a value.
    pub fn option(&self, key: &str) -> Option<&str> {
        self.options().find_map(|item| match item.split_once(": ") {
            Some((name, value)) => (name == key).then_some(value),
            None => (item == key).then_some(""),
        })
    }

    /// The list items outside of any fence.
    pub fn options(&self) -> impl Iterator<Item = &str> {
        let mut fenced = false;
        let outside = self.text.lines().filter(move |line| {
            fenced ^= line.starts_with("```");
            !fenced
        });
        outside.filter_map(|line| line.strip_prefix("- "))
    }
}
