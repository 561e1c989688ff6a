//! A Rust source split into code, comments and literals, so that no check takes words in strings or comments for code.
//!
//! Each part keeps the offsets of the source: what belongs to another part is blank. Text that is not valid Rust is split too;
//! nothing here can fail.

/// The parts of a source, all of its length.
#[derive(Debug, Default)]
pub(super) struct SourceParts {
    pub(super) code: String,
    pub(super) comments: String,
    pub(super) literals: String,
}

impl SourceParts {
    pub(super) fn of(source: &str) -> Self {
        let mut parts = Self::default();
        let mut rest = source;
        while let Some(first) = rest.chars().next() {
            let (comment, literal) = (comment_length(rest), literal_length(rest));
            let length = comment.or(literal).unwrap_or(word_length(rest).max(first.len_utf8()));
            let (text, after) = rest.split_at(length);
            let blank: String = text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
            let is_code = comment.or(literal).is_none();
            parts.code.push_str(if is_code { text } else { &blank });
            parts.comments.push_str(if comment.is_some() { text } else { &blank });
            parts.literals.push_str(if comment.is_none() && literal.is_some() { text } else { &blank });
            rest = after;
        }
        parts
    }
}

/// The length of the identifier, keyword or number that `rest` starts with.
pub(super) fn word_length(rest: &str) -> usize {
    rest.find(|character| !is_word(character)).unwrap_or(rest.len())
}

pub(super) fn is_word(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

fn comment_length(rest: &str) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    rest.starts_with("/*").then(|| rest.find("*/").map_or(rest.len(), |end| end + 2))
}

/// The length of a string with its prefix, or of a character.
fn literal_length(rest: &str) -> Option<usize> {
    if let Some(inside) = rest.strip_prefix('\'') {
        let mut characters = inside.chars();
        // Anything else is a lifetime.
        let is_character = characters.next() == Some('\\') || characters.next() == Some('\'');
        return is_character.then(|| 1 + escaped_length(inside, b'\''));
    }
    let body = rest.trim_start_matches(['b', 'c', 'r']);
    let hashes = body.bytes().take_while(|byte| *byte == b'#').count();
    let inside = body.get(hashes..)?.strip_prefix('"')?;
    let prefix = rest.len() - body.len();
    let opening = prefix + hashes + 1;
    if rest.get(..prefix)?.ends_with('r') {
        let closing = format!("\"{}", "#".repeat(hashes));
        return Some(opening + inside.find(&closing).map_or(inside.len(), |end| end + closing.len()));
    }
    (hashes == 0).then(|| opening + escaped_length(inside, b'"'))
}

/// The length up to and with the closing quote, past escaped ones.
fn escaped_length(inside: &str, quote: u8) -> usize {
    let mut escaped = false;
    for (index, byte) in inside.bytes().enumerate() {
        if !escaped && byte == quote {
            return index + 1;
        }
        escaped = !escaped && byte == b'\\';
    }
    inside.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        text.split_whitespace().collect()
    }

    #[test]
    fn only_code_is_code() {
        let cases: [(&str, &[&str]); 11] = [
            ("a /* b */ c // d", &["a", "c"]),
            (r#"a "b \" c" d"#, &["a", "d"]),
            (r##"a r#"b " c"# d"##, &["a", "d"]),
            (r##"a br#"b"# cr"c" b"d" c"e" f"##, &["a", "f"]),
            ("r#type b", &["r#type", "b"]),
            ("rust br crate c", &["rust", "br", "crate", "c"]),
            (r"a '\'' b 'x' c '\u{41}' d '\\' e", &["a", "b", "c", "d", "e"]),
            ("'a 'static b '_'", &["'a", "'static", "b"]),
            ("größe 'é'", &["größe"]),
            ("a \"never closed", &["a"]),
            ("a /* never closed", &["a"]),
        ];
        for (source, expected) in cases {
            assert_eq!(words(&SourceParts::of(source).code), expected, "{source}");
        }
    }

    #[test]
    fn every_part_keeps_offsets_and_lines() {
        let source = "a\n\"b\nb\"\n/* c\n*/ d // é\ne";
        let parts = SourceParts::of(source);
        for part in [&parts.code, &parts.comments, &parts.literals] {
            assert_eq!((part.len(), part.lines().count()), (source.len(), source.lines().count()));
        }
        assert_eq!(words(&parts.code), ["a", "d", "e"]);
        assert_eq!(words(&parts.literals), ["\"b", "b\""]);
        assert_eq!(words(&parts.comments), ["/*", "c", "*/", "//", "é"]);
    }
}
