//! Markdown as the checks of pages see it: lines of prose, links, and the names of headings.
//!
//! Fenced blocks and inline code are not prose: what looks like a link in there is an example.

use std::collections::HashMap;

/// A link with its line, as it was written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) line: usize,
    pub(super) target: String,
}

/// Inline links, link definitions, and `href`/`src` of HTML.
pub(super) fn links(text: &str) -> Vec<Link> {
    let mut links = Vec::new();
    for (line, written) in outside_fences(text) {
        let prose = without_inline_code(written);
        let inline = after_each(&prose, "](").filter_map(inline_target);
        let html = after_each(&prose, "src=\"")
            .chain(after_each(&prose, "href=\""))
            .filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()));
        let targets: Vec<String> = inline.chain(html).chain(definition_target(&prose)).collect();
        links.extend(targets.into_iter().map(|target| Link { line, target }));
    }
    links
}

/// The fragments that headings can be linked by.
pub(super) fn heading_fragments(text: &str) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    outside_fences(text)
        .into_iter()
        .filter(|(_, line)| line.starts_with('#'))
        .map(|(_, line)| {
            let fragment = fragment_of(line.trim_start_matches('#').trim());
            let count = seen.entry(fragment.clone()).or_insert(0);
            *count += 1;
            match *count {
                1 => fragment,
                repeated => format!("{fragment}-{}", repeated - 1),
            }
        })
        .collect()
}

fn fragment_of(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter(|character| character.is_alphanumeric() || matches!(character, ' ' | '-' | '_'))
        .map(|character| if character == ' ' { '-' } else { character })
        .collect()
}

fn outside_fences(text: &str) -> Vec<(usize, &str)> {
    let mut outside = Vec::new();
    let mut fence: Option<&str> = None;
    for (index, line) in text.lines().enumerate() {
        let mark = fence_mark(line);
        match (fence, mark) {
            (None, None) => outside.push((index + 1, line)),
            (None, Some(opening)) => fence = Some(opening),
            (Some(opening), Some(closing)) if closing.starts_with(opening) && line.trim() == closing => {
                fence = None;
            }
            (Some(_), _) => {}
        }
    }
    outside
}

/// The run of backticks or tildes that opens or closes a fenced block.
fn fence_mark(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|first| matches!(first, '`' | '~'))?;
    let length = line.chars().take_while(|character| *character == mark).count();
    line.get(..length).filter(|_| length >= 3)
}

/// The line with the inside of every pair of equal runs of backticks blanked.
fn without_inline_code(line: &str) -> String {
    let mut prose = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, ticks, after)) = split_at_ticks(rest) {
        prose.push_str(before);
        match end_of_code(after, ticks.len()) {
            Some(end) => {
                prose.push(' ');
                rest = after.get(end..).unwrap_or("");
            }
            None => {
                prose.push_str(ticks);
                rest = after;
            }
        }
    }
    prose + rest
}

fn split_at_ticks(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find('`')?;
    let (before, from) = text.split_at_checked(start)?;
    let after = from.trim_start_matches('`');
    let ticks = from.strip_suffix(after)?;
    Some((before, ticks, after))
}

/// How far it is past the next run of exactly `length` backticks.
fn end_of_code(after: &str, length: usize) -> Option<usize> {
    let mut rest = after;
    while let Some((_, ticks, beyond)) = split_at_ticks(rest) {
        if ticks.len() == length {
            return Some(after.len() - beyond.len());
        }
        rest = beyond;
    }
    None
}

fn after_each<'a>(text: &'a str, mark: &'a str) -> impl Iterator<Item = &'a str> {
    text.match_indices(mark).filter_map(move |(start, _)| text.get(start + mark.len()..))
}

/// The target of `](target "title")`, from past the bracket.
fn inline_target(rest: &str) -> Option<String> {
    if let Some(bracketed) = rest.strip_prefix('<') {
        return Some(bracketed.split_once('>')?.0.to_owned());
    }
    let mut depth = 0_usize;
    let end = rest.find(|character| match character {
        '(' => {
            depth += 1;
            false
        }
        ')' if depth > 0 => {
            depth -= 1;
            false
        }
        other => other == ')' || other == ' ',
    })?;
    rest.get(..end).map(str::to_owned)
}

/// The target of `[name]: target`; footnotes have none.
fn definition_target(line: &str) -> Option<String> {
    let (name, rest) = line.trim_start().strip_prefix('[')?.split_once("]: ")?;
    let target = rest.split_whitespace().next()?;
    (!name.starts_with('^') && !name.contains(']')).then(|| target.trim_matches(['<', '>']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(text: &str) -> Vec<String> {
        links(text).into_iter().map(|link| link.target).collect()
    }

    #[test]
    fn links_are_found_in_prose_only() {
        let cases: [(&str, &[&str]); 11] = [
            ("See [a](a.md) and ![b](b.svg \"title\").", &["a.md", "b.svg"]),
            ("[`code`](a.md), `[x](y.md)`, ``[`z`](z.md)``", &["a.md"]),
            ("A stray ` and [a](a.md)", &["a.md"]),
            ("```text\n[a](a.md)\n```\n[b](b.md)", &["b.md"]),
            ("````md\n```\n[a](a.md)\n```\n````\n[b](b.md)", &["b.md"]),
            ("~~~\n[a](a.md)\n~~~", &[]),
            ("[a](<with space.md>)", &["with space.md"]),
            ("[a](of_(this).md)", &["of_(this).md"]),
            ("[name]: ../a.md\n[^1]: a note", &["../a.md"]),
            ("<img src=\"a.svg\"> <a href=\"b.md\">b</a>", &["a.svg", "b.md"]),
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
