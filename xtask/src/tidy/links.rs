//! Every relative link of every page leads to a file, a folder or a heading of the repository.
//!
//! Links to other places are not followed: tidy never uses the network.

use super::markdown::{heading_fragments, links};
use super::problem::Problem;
use super::tree::Tree;

/// Relative links that lead nowhere.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with(".md")) {
        for link in links(text).iter().filter(|link| !has_scheme(&link.target)) {
            if let Some(remedy) = broken(tree, path, &link.target) {
                let wrong = format!("link `{}` leads nowhere", link.target);
                problems.push(Problem::new(path, link.line, wrong, remedy));
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
    let named = ["id", "name"].iter().any(|key| text.contains(&format!("{key}=\"{fragment}\"")));
    let known = named || heading_fragments(text).iter().any(|heading| heading == fragment);
    (!known).then_some("correct the part after `#` to a heading of that page")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_somewhere() {
        let cases = [
            ("[a](contract.md)", 0),
            ("[a](./contract.md#what-holds)", 0),
            ("[a](contract.md#here)", 0),
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
                ("docs/contract.md", "## What holds\n<a id=\"here\"></a>"),
                ("docs/decisions/001-a.md", ""),
            ]);
            assert_eq!(check(&tree).len(), expected, "{line}");
        }
    }
}
