//! Every relative link of every Markdown page leads to a file, a folder or a heading of the repository.
//!
//! Only `[text](target)` is read as a link, and not in code, where it is an example. Links to other places are not followed:
//! tidy never uses the network.

use std::collections::HashMap;

use super::problem::Problem;
use super::tree::Tree;

/// Relative links that lead nowhere.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with(".md")) {
        for (line, target) in links(text).into_iter().filter(|(_, target)| !has_scheme(target)) {
            if let Some(remedy) = broken(tree, path, &target) {
                problems.push(Problem::new(path, line, format!("link `{target}` leads nowhere"), remedy));
            }
        }
    }
    problems
}

/// What to do about a link, if it is broken.
fn broken(tree: &Tree, page: &str, target: &str) -> Option<&'static str> {
    let (place, fragment) = target.split_once('#').unwrap_or((target, ""));
    let Some(path) = resolve(page, &place.replace("%20", " ")) else {
        return Some("link to something inside the repository, or by its full address");
    };
    if !tree.has_file(&path) && !tree.has_folder(&path) {
        return Some("correct the path, or add the file");
    }
    let is_page = path.ends_with(".md") && !fragment.is_empty();
    let text = tree.text(&path).filter(|_| is_page)?;
    let is_known = heading_fragments(text).iter().any(|heading| heading == fragment);
    (!is_known).then_some("correct the part after `#` to a heading of that page")
}

/// `mailto:`, `https:` and the like.
fn has_scheme(target: &str) -> bool {
    target.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.chars().all(|character| character.is_ascii_alphanumeric() || character == '+')
    })
}

/// The path from the repository's root that `place` means on `page`; none if it leaves the repository.
fn resolve(page: &str, place: &str) -> Option<String> {
    if place.is_empty() {
        return Some(page.to_owned());
    }
    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    let base = if place.starts_with('/') { "" } else { folder };
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split('/').chain(place.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// The targets of links, each with its line.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (line, written) in outside_fences(text) {
        let prose = written.split('`').step_by(2).collect::<Vec<_>>().join(" ");
        let targets = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        found.extend(targets.map(|(target, _)| (line, target.to_owned())));
    }
    found
}

/// What headings can be linked by: their words, numbered where several headings have the same.
fn heading_fragments(text: &str) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let headings = outside_fences(text).filter(|(_, line)| line.starts_with('#'));
    headings
        .map(|(_, line)| {
            let words = line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
            let fragment =
                words.replace(|character: char| !character.is_alphanumeric() && !"-_".contains(character), "");
            let count = seen.entry(fragment.clone()).or_default();
            *count += 1;
            if *count == 1 { fragment } else { format!("{fragment}-{}", *count - 1) }
        })
        .collect()
}

/// The lines that are not in a fenced block. A block ends with the run of backticks that it began with.
fn outside_fences(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut open: Option<usize> = None;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let line = line.trim();
        let ticks = line.len() - line.trim_start_matches('`').len();
        match open {
            None if ticks < 3 => return true,
            None => open = Some(ticks),
            Some(length) if ticks == length && line.len() == ticks => open = None,
            Some(_) => {}
        }
        false
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_somewhere() {
        let cases = [
            ("[a](contract.md)", 0),
            ("[a](./contract.md#what-holds)", 0),
            ("[a](#top)", 0),
            ("[a](../README.md) [b](/README.md) [c](..) [d](decisions/)", 0),
            ("[a](https://example.org/x.md) [b](mailto:a@example.org)", 0),
            ("`[a](gone.md)`", 0),
            ("[a](gone.md)", 1),
            ("[a](../../outside.md)", 1),
            ("[a](contract.md#gone)", 1),
            ("[a](#gone)", 1),
        ];
        for (line, expected) in cases {
            let page = format!("# Top\n{line}\n");
            let tree = Tree::of(&[
                ("README.md", ""),
                ("docs/page.md", &page),
                ("docs/contract.md", "## What holds\n"),
                ("docs/decisions/001-a.md", ""),
            ]);
            assert_eq!(check(&tree).len(), expected, "{line}");
        }
    }

    fn targets(text: &str) -> Vec<String> {
        links(text).into_iter().map(|(_, target)| target).collect()
    }

    #[test]
    fn links_are_found_in_prose_only() {
        let cases: [(&str, &[&str]); 6] = [
            ("See [a](a.md) and ![b](b.svg).", &["a.md", "b.svg"]),
            ("[`code`](a.md), `[x](y.md)`", &["a.md"]),
            ("```text\n[a](a.md)\n```\n[b](b.md)", &["b.md"]),
            ("````md\n```\n[a](a.md)\n```\n````\n[b](b.md)", &["b.md"]),
            ("  ```\n  [a](a.md)\n  ```\n", &[]),
            ("array[0](x", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(targets(text), expected, "{text}");
        }
    }

    #[test]
    fn headings_are_linked_by_their_words() {
        let text = "# The `contract`: G1, G2\n## What\n```\n# not one\n```\n## What\n";
        assert_eq!(heading_fragments(text), ["the-contract-g1-g2", "what", "what-1"]);
    }
}
