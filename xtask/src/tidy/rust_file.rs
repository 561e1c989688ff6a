//! One Rust source as the checks see it: its code, comments, attributes, functions, inline modules, and which parts
//! are tests.
//!
//! It describes and does not judge. Everything is found by tokens and matching brackets, not by a full grammar.

use std::ops::RangeInclusive;

use super::lexer::{self, Kind, Token};

/// A source file with its tokens sorted out.
pub(super) struct RustFile<'a> {
    pub(super) path: &'a str,
    pub(super) text: &'a str,
    /// All tokens but comments.
    pub(super) code: Vec<Token<'a>>,
    pub(super) comments: Vec<Token<'a>>,
    pub(super) attributes: Vec<Attribute<'a>>,
    pub(super) modules: Vec<InlineModule<'a>>,
    /// For each token of `code`, the place of the bracket that closes it.
    closing: Vec<usize>,
    test_items: Vec<RangeInclusive<usize>>,
}

/// `#[name …]` or `#![name …]`; `span` counts tokens of the file's code.
pub(super) struct Attribute<'a> {
    pub(super) name: &'a str,
    pub(super) line: usize,
    pub(super) span: RangeInclusive<usize>,
    inner: bool,
}

/// `mod name { … }`.
pub(super) struct InlineModule<'a> {
    pub(super) name: &'a str,
    pub(super) line: usize,
    span: RangeInclusive<usize>,
}

/// A function with a body.
pub(super) struct Function<'a> {
    pub(super) name: &'a str,
    pub(super) line: usize,
    pub(super) length: usize,
    pub(super) in_test: bool,
}

impl<'a> RustFile<'a> {
    pub(super) fn read(path: &'a str, text: &'a str) -> Self {
        let (comments, code): (Vec<_>, Vec<_>) =
            lexer::tokens(text).into_iter().partition(|token| token.kind == Kind::Comment);
        let closing = matching_brackets(&code);
        let mut file = Self {
            path,
            text,
            code,
            comments,
            attributes: Vec::new(),
            modules: Vec::new(),
            closing,
            test_items: Vec::new(),
        };
        file.attributes = file.find_attributes();
        file.modules = file.find_modules();
        file.test_items = file.find_test_items();
        file
    }

    /// The text of the token at `index`; empty past the end.
    pub(super) fn word(&self, index: usize) -> &'a str {
        self.code.get(index).map_or("", |token| token.text)
    }

    pub(super) fn line(&self, index: usize) -> usize {
        self.code.get(index).map_or(1, |token| token.line)
    }

    /// The place of the bracket that closes the one at `index`.
    pub(super) fn closing(&self, index: usize) -> usize {
        self.closing.get(index).copied().unwrap_or(index)
    }

    pub(super) fn is_identifier(&self, index: usize) -> bool {
        self.code.get(index).is_some_and(|token| token.kind == Kind::Identifier)
    }

    /// Whether the whole file is a test: it lies in a `tests` folder, or is the body of `mod tests;`.
    pub(super) fn is_test_file(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }

    /// Whether the token at `index` is part of a test.
    pub(super) fn is_test(&self, index: usize) -> bool {
        self.is_test_file() || self.test_items.iter().any(|item| item.contains(&index))
    }

    pub(super) fn is_test_line(&self, line: usize) -> bool {
        let covers = |item: &RangeInclusive<usize>| (self.line(*item.start())..=self.line(*item.end())).contains(&line);
        self.is_test_file() || self.test_items.iter().any(covers)
    }

    /// The names of the inline modules around the token at `index`, outermost first.
    pub(super) fn modules_around(&self, index: usize) -> impl Iterator<Item = &'a str> {
        self.modules.iter().filter(move |module| module.span.contains(&index)).map(|module| module.name)
    }

    /// Where the `#[cfg(test)] mod …` that ends the file begins, if there is one.
    pub(super) fn trailing_test_module(&self) -> Option<usize> {
        let item = self.test_items.iter().find(|item| item.end() + 1 == self.code.len())?;
        let is_module = self.word(self.keyword(*item.start())) == "mod";
        is_module.then(|| self.line(*item.start()))
    }

    pub(super) fn functions(&self) -> Vec<Function<'a>> {
        (0..self.code.len())
            .filter(|index| self.word(*index) == "fn" && self.is_identifier(index + 1))
            .filter_map(|index| {
                let end = self.item_end(index);
                (self.word(end) == "}").then(|| Function {
                    name: self.word(index + 1),
                    line: self.line(index),
                    length: self.line(end) + 1 - self.line(index),
                    in_test: self.is_test(index),
                })
            })
            .collect()
    }

    /// The place of an item's first word past its attributes and visibility.
    pub(super) fn keyword(&self, start: usize) -> usize {
        let mut index = start;
        while let Some(attribute) = self.attributes.iter().find(|attribute| *attribute.span.start() == index) {
            index = attribute.span.end() + 1;
        }
        if self.word(index) == "pub" {
            index += 1;
            if self.word(index) == "(" {
                index = self.closing(index) + 1;
            }
        }
        index
    }

    /// The last token of the item whose first word is at `keyword`: its `;`, or the brace that closes its body.
    pub(super) fn item_end(&self, keyword: usize) -> usize {
        let ends_with_semicolon = match self.word(keyword) {
            "use" | "type" | "static" => true,
            "const" => !matches!(self.word(keyword + 1), "fn" | "unsafe" | "async" | "extern"),
            _ => false,
        };
        let mut index = keyword;
        while index < self.code.len() {
            match self.word(index) {
                ";" => return index,
                "{" if !ends_with_semicolon => return self.closing(index),
                "{" | "(" | "[" => index = self.closing(index) + 1,
                _ => index += 1,
            }
        }
        self.code.len().saturating_sub(1)
    }

    fn find_attributes(&self) -> Vec<Attribute<'a>> {
        (0..self.code.len())
            .filter(|index| self.word(*index) == "#")
            .filter_map(|index| {
                let inner = self.word(index + 1) == "!";
                let bracket = index + 1 + usize::from(inner);
                (self.word(bracket) == "[").then(|| Attribute {
                    name: self.word(bracket + 1),
                    line: self.line(index),
                    span: index..=self.closing(bracket),
                    inner,
                })
            })
            .collect()
    }

    fn find_modules(&self) -> Vec<InlineModule<'a>> {
        (0..self.code.len())
            .filter(|index| self.word(*index) == "mod" && self.word(index + 2) == "{")
            .map(|index| InlineModule {
                name: self.word(index + 1),
                line: self.line(index),
                span: index..=self.closing(index + 2),
            })
            .collect()
    }

    fn find_test_items(&self) -> Vec<RangeInclusive<usize>> {
        self.attributes
            .iter()
            .filter(|attribute| self.marks_test(attribute))
            .map(|attribute| {
                if attribute.inner {
                    return 0..=self.code.len().saturating_sub(1);
                }
                let start = *attribute.span.start();
                start..=self.item_end(self.keyword(start))
            })
            .collect()
    }

    /// `#[cfg(test)]`, `#[cfg(all(test, …))]`, `#[test]`, `#[tokio::test]` and the like.
    fn marks_test(&self, attribute: &Attribute<'_>) -> bool {
        let words = self.code.get(attribute.span.clone()).unwrap_or_default();
        let has = |word: &str| words.iter().any(|token| token.text == word);
        let named_test = words
            .iter()
            .skip(2)
            .take_while(|token| !matches!(token.text, "(" | "]" | "="))
            .last()
            .is_some_and(|token| token.text == "test");
        named_test || (attribute.name == "cfg" && has("test") && !has("not") && !has("any"))
    }
}

/// For each token its closing bracket; a token that opens nothing closes itself, one never closed lasts to the end.
fn matching_brackets(code: &[Token<'_>]) -> Vec<usize> {
    let mut closing: Vec<usize> = (0..code.len()).collect();
    let mut open = Vec::new();
    for (index, token) in code.iter().enumerate() {
        match token.text {
            "(" | "[" | "{" => open.push(index),
            ")" | "]" | "}" => {
                if let Some(slot) = open.pop().and_then(|opening: usize| closing.get_mut(opening)) {
                    *slot = index;
                }
            }
            _ => {}
        }
    }
    for opening in open {
        if let Some(slot) = closing.get_mut(opening) {
            *slot = code.len().saturating_sub(1);
        }
    }
    closing
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tested_words(path: &str, source: &str) -> Vec<String> {
        let file = RustFile::read(path, source);
        (0..file.code.len())
            .filter(|index| file.is_test(*index) && file.word(*index).starts_with("t_"))
            .map(|index| file.word(index).to_owned())
            .collect()
    }

    #[test]
    fn tests_are_told_from_code() {
        let cases: [(&str, &str, &[&str]); 8] = [
            ("src/a.rs", "fn t_a() {} #[cfg(test)] mod tests { fn t_b() {} } fn t_c() {}", &["t_b"]),
            ("src/a.rs", "#[cfg(test)] use t_a::{b, t_c}; fn t_d() {}", &["t_a", "t_c"]),
            ("src/a.rs", "#[test] #[should_panic] fn t_a() {} fn t_b() {}", &["t_a"]),
            ("src/a.rs", "#[tokio::test(flavor = \"x\")] async fn t_a() {}", &["t_a"]),
            ("src/a.rs", "#[cfg(not(test))] fn t_a() {} #[cfg(feature = \"test\")] fn t_b() {}", &[]),
            ("src/a.rs", "#![cfg(test)] fn t_a() {}", &["t_a"]),
            ("crates/a/tests/b.rs", "fn t_a() {}", &["t_a"]),
            ("crates/a/src/b/tests.rs", "fn t_a() {}", &["t_a"]),
        ];
        for (path, source, expected) in cases {
            assert_eq!(tested_words(path, source), expected, "{source}");
        }
    }

    #[test]
    fn functions_are_measured_from_name_to_brace() {
        let source = "fn a() -> [u8; 3] {\n  [1, 2, 3]\n}\ntrait T { fn b(); const fn c() {} }\ntype F = fn(u8) -> u8;";
        let found: Vec<(&str, usize, usize)> = RustFile::read("src/a.rs", source)
            .functions()
            .iter()
            .map(|function| (function.name, function.line, function.length))
            .collect();
        assert_eq!(found, [("a", 1, 3), ("c", 4, 1)]);
    }

    #[test]
    fn only_a_test_module_at_the_end_is_trailing() {
        let cases = [
            ("fn a() {}\n#[cfg(test)]\nmod tests { fn b() {} }\n", Some(2)),
            ("#[cfg(test)]\nmod tests {}\nfn a() {}", None),
            ("fn a() {}\n#[cfg(test)]\nfn b() {}", None),
            ("fn a() {}\nmod tests {}", None),
        ];
        for (source, expected) in cases {
            assert_eq!(RustFile::read("src/a.rs", source).trailing_test_module(), expected, "{source}");
        }
    }
}
