//! Words that have a plainer or more exact equivalent, in comments and string literals outside tests.
//!
//! A line of `words.txt` reads `COUNT phrase: what to write`. The tree has exactly COUNT occurrences; `UPDATE=1` lowers the
//! counts to what is left, and nothing raises them.

use super::problem::Problem;
use super::rust_file::RustFile;
use super::tree::Tree;

/// Where the list is, from the root of the repository.
pub(super) const PATH: &str = "xtask/words.txt";

struct Entry<'a> {
    line: usize,
    allowed: usize,
    phrase: &'a str,
    remedy: &'a str,
}

/// Phrases that are used more often, or less often, than the list says.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let lines = prose_lines(tree);
    let list = tree.text(PATH).unwrap_or("");
    list.lines()
        .enumerate()
        .filter(|(_, text)| is_entry(text))
        .flat_map(|(index, text)| judge(index + 1, text, &lines))
        .collect()
}

/// The list with its counts lowered to what is left.
pub(super) fn lowered(tree: &Tree) -> String {
    let lines = prose_lines(tree);
    let lower = |text: &str| match read(0, text) {
        Some(Entry { allowed, phrase, remedy, .. }) => {
            format!("{} {phrase}: {remedy}\n", allowed.min(places(phrase, &lines).len()))
        }
        None => format!("{text}\n"),
    };
    tree.text(PATH).unwrap_or("").lines().map(lower).collect()
}

fn judge(line: usize, text: &str, lines: &[ProseLine<'_>]) -> Vec<Problem> {
    let Some(Entry { line, allowed, phrase, remedy }) = read(line, text) else {
        return vec![Problem::new(PATH, line, "a line that cannot be read", "write `COUNT phrase: what to write`")];
    };
    let found = places(phrase, lines);
    if found.len() < allowed {
        let wrong = format!("`{phrase}` is used {} times, not {allowed}", found.len());
        return vec![Problem::new(PATH, line, wrong, "run tidy with UPDATE=1")];
    }
    if allowed > 0 && found.len() > allowed {
        let wrong = format!("`{phrase}` is used {} times, over {allowed}", found.len());
        return vec![Problem::new(PATH, line, wrong, remedy)];
    }
    let over = found.iter().filter(|_| found.len() > allowed);
    over.map(|place| Problem::new(place.path, place.line, format!("`{phrase}`"), remedy)).collect()
}

fn is_entry(text: &str) -> bool {
    !text.trim().is_empty() && !text.starts_with('#')
}

fn read(line: usize, text: &str) -> Option<Entry<'_>> {
    let (place, remedy) = text.split_once(": ").filter(|_| is_entry(text))?;
    let (count, phrase) = place.split_once(' ')?;
    Some(Entry { line, allowed: count.parse().ok()?, phrase, remedy })
}

/// A line of a comment or literal, as lower-case words with one space before and after each.
struct ProseLine<'a> {
    path: &'a str,
    line: usize,
    words: String,
}

fn prose_lines(tree: &Tree) -> Vec<ProseLine<'_>> {
    let mut found = Vec::new();
    for (path, text) in tree.rust_texts() {
        let file = RustFile::read(path, text);
        for prose in [&file.parts.comments, &file.parts.literals] {
            let lines = (1..).zip(prose.lines()).filter(|(line, _)| !file.is_test(*line));
            found.extend(lines.map(|(line, text)| ProseLine { path, line, words: words_of(text) }));
        }
    }
    found
}

fn words_of(text: &str) -> String {
    let text = text.replace("\\n", " ");
    let words = text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    words.fold(" ".to_owned(), |line, word| line + &word.to_lowercase() + " ")
}

/// Each occurrence; a line that has the phrase twice comes twice.
fn places<'l, 'a>(phrase: &str, lines: &'l [ProseLine<'a>]) -> Vec<&'l ProseLine<'a>> {
    let wanted = format!(" {phrase} ");
    lines.iter().flat_map(|line| line.words.match_indices(&wanted).map(move |_| line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(list: &str, source: &str) -> Tree {
        Tree::of(&[(PATH, list), ("crates/a/src/b.rs", source)])
    }

    #[test]
    fn listed_phrases_are_found_in_prose() {
        let cases: [(&str, &[usize]); 8] = [
            ("// Whoever asks.", &[1]),
            ("fn f() {\n g(\"to\\nwhoever, and\n whoever\"); }", &[2, 3]),
            ("//! Is told.\n/* it is\n told */", &[1]),
            ("//! whoever whomever", &[1]),
            ("fn whoever() { whoever() }", &[]),
            ("#[cfg(test)]\nmod tests {\n // whoever\n const A: &str = \"whoever\"; }", &[]),
            ("// whoeverelse", &[]),
            ("// is   told: whoever", &[1, 1]),
        ];
        for (source, expected) in cases {
            let mut lines: Vec<usize> = check(&tree("0 whoever: name it\n0 is told: receives\n", source))
                .iter()
                .map(|problem| problem.line)
                .collect();
            lines.sort_unstable();
            assert_eq!(lines, expected, "{source}");
        }
    }

    #[test]
    fn counts_hold_and_only_shrink() {
        let source = "// whoever\n// whoever\n";
        for (list, problems, lower) in [
            ("# Comment.\n2 whoever: name it\n", 0, "# Comment.\n2 whoever: name it\n"),
            ("1 whoever: name it\n", 1, "1 whoever: name it\n"),
            ("0 whoever: name it\n", 2, "0 whoever: name it\n"),
            ("3 whoever: name it\n", 1, "2 whoever: name it\n"),
            ("whoever: name it\n", 1, "whoever: name it\n"),
        ] {
            assert_eq!(check(&tree(list, source)).len(), problems, "{list}");
            assert_eq!(lowered(&tree(list, source)), lower, "{list}");
        }
    }
}
