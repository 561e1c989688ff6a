//! Rust source cut into tokens, so that no check takes words in strings or comments for code.
//!
//! It knows just enough: comments (nested ones too), strings of every kind, lifetimes, identifiers. Operators come
//! out one character at a time. Text that is not valid Rust still gives tokens; nothing here can fail.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Identifier,
    Lifetime,
    Literal,
    Comment,
    Punctuation,
}

/// A piece of source and the line, from 1, that it starts on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    pub(super) line: usize,
}

/// All tokens of a source, comments included.
pub(super) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = source;
    let mut line = 1;
    while let Some(first) = rest.chars().next() {
        let (kind, length) = if first.is_whitespace() {
            (None, first.len_utf8())
        } else {
            let (kind, length) = measure(rest, first);
            (Some(kind), length)
        };
        let (text, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        tokens.extend(kind.map(|kind| Token { kind, text, line }));
        line += text.bytes().filter(|byte| *byte == b'\n').count();
        rest = after;
    }
    tokens
}

/// Kind and length of the token that `rest` starts with.
fn measure(rest: &str, first: char) -> (Kind, usize) {
    if rest.starts_with("//") {
        return (Kind::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (Kind::Comment, block_comment_length(rest));
    }
    if let Some(length) = string_length(rest) {
        return (Kind::Literal, length);
    }
    if first == '\'' {
        return quote(rest);
    }
    if is_word(first) {
        let prefix = if rest.starts_with("r#") { 2 } else { 0 };
        let kind = if first.is_ascii_digit() { Kind::Literal } else { Kind::Identifier };
        return (kind, prefix + word_length(rest.get(prefix..).unwrap_or("")));
    }
    (Kind::Punctuation, first.len_utf8())
}

fn block_comment_length(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(here) = rest.as_bytes().get(at..).filter(|here| !here.is_empty()) {
        let step = if here.starts_with(b"/*") {
            depth += 1;
            2
        } else if here.starts_with(b"*/") {
            depth = depth.saturating_sub(1);
            2
        } else {
            1
        };
        at += step;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

/// The length of a string literal with its prefix, if `rest` starts with one.
fn string_length(rest: &str) -> Option<usize> {
    let prefix = ["br", "cr", "r", "b", "c", ""]
        .into_iter()
        .find(|prefix| rest.strip_prefix(prefix).is_some_and(|body| body.starts_with(['"', '#'])))?;
    let body = rest.get(prefix.len()..)?;
    let hashes = body.bytes().take_while(|byte| *byte == b'#').count();
    let inside = body.get(hashes..)?.strip_prefix('"')?;
    let opening = prefix.len() + hashes + 1;
    if prefix.ends_with('r') {
        let closing = format!("\"{}", "#".repeat(hashes));
        let length = inside.find(&closing).map_or(inside.len(), |end| end + closing.len());
        return Some(opening + length);
    }
    (hashes == 0).then(|| opening + escaped_length(inside, b'"'))
}

/// The length up to and with the closing quote, backslashes taken into account.
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

/// A character literal or a lifetime: both start with the same quote.
fn quote(rest: &str) -> (Kind, usize) {
    let inside = rest.get(1..).unwrap_or("");
    let mut characters = inside.chars();
    let first = characters.next();
    if first == Some('\\') || characters.next() == Some('\'') {
        (Kind::Literal, 1 + escaped_length(inside, b'\''))
    } else {
        (Kind::Lifetime, 1 + word_length(inside))
    }
}

fn is_word(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

fn word_length(rest: &str) -> usize {
    rest.find(|character| !is_word(character)).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_kind(source: &str, kind: Kind) -> Vec<&str> {
        tokens(source).into_iter().filter(|token| token.kind == kind).map(|token| token.text).collect()
    }

    #[test]
    fn only_code_gives_identifiers() {
        let cases: [(&str, &[&str]); 12] = [
            ("a /* b /* c */ d */ e // f", &["a", "e"]),
            (r#"a "b \" c" d"#, &["a", "d"]),
            (r##"a r#"b " c"# d"##, &["a", "d"]),
            (r##"a br#"b"# cr"c" b"d" c"e" f"##, &["a", "f"]),
            ("r#type b", &["r#type", "b"]),
            ("rust br crate c", &["rust", "br", "crate", "c"]),
            (r"a '\'' b 'x' c '\u{41}' d b'q' e", &["a", "b", "c", "d", "b", "e"]),
            ("'a 'static b", &["b"]),
            ("1_000u64 0x_ff a", &["a"]),
            ("größe", &["größe"]),
            ("a \"never closed", &["a"]),
            ("a /* never closed", &["a"]),
        ];
        for (source, expected) in cases {
            assert_eq!(of_kind(source, Kind::Identifier), expected, "{source}");
        }
    }

    #[test]
    fn quotes_are_characters_or_lifetimes() {
        assert_eq!(of_kind("&'a str, 'x', '\\\\', 'é'", Kind::Literal), ["'x'", "'\\\\'", "'é'"]);
        assert_eq!(of_kind("&'a str, 'x', '_'", Kind::Lifetime), ["'a"]);
    }

    #[test]
    fn lines_are_counted_through_long_tokens() {
        let lines: Vec<usize> = tokens("a\n\"b\nb\"\n/* c\n*/ d").iter().map(|token| token.line).collect();
        assert_eq!(lines, [1, 2, 4, 5]);
    }

    #[test]
    fn no_byte_is_lost() {
        let source = "fn f<'a>(x:&'a str)->char{'\\n'}//end";
        let joined: String = tokens(source).iter().map(|token| token.text).collect();
        assert_eq!(joined, source.replace(' ', ""));
    }
}
