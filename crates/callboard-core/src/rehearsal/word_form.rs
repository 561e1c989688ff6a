//! The form of a token: plain, or one of the distinctive shapes of numbers, addresses, links, files, times and dates.

/// The kind of token, judged by its characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    Number,
    Email,
    Link,
    File,
    Clock,
    Date,
    Formula,
    Quote,
    Mark,
}

pub(super) fn form_of(text: &str) -> Form {
    if text.contains("://") || text.starts_with("www.") {
        Form::Link
    } else if text.contains('@') && text.contains('.') && !text.starts_with('@') {
        Form::Email
    } else if is_date(text) {
        Form::Date
    } else if is_clock(text) {
        Form::Clock
    } else if is_number(text) {
        Form::Number
    } else if is_file(text) {
        Form::File
    } else {
        Form::Plain
    }
}

/// Digits, with a sign, separators, a currency or a percent sign, "5k" or an ordinal ending.
pub(super) fn is_number(text: &str) -> bool {
    super::numbers::written(text).is_some()
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split(['-', '/', '.']).collect();
    let digits = parts.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    let widest = parts.iter().map(|part| part.len()).max().unwrap_or(0);
    parts.len() == 3 && digits && widest <= 4 && parts.iter().filter(|part| part.len() <= 2).count() >= 2
        || text.len() > 10 && text.get(..10).is_some_and(is_date) && text.contains(['T', 't'])
}

fn is_clock(text: &str) -> bool {
    let lower = text.to_lowercase();
    let bare = lower.trim_end_matches("am").trim_end_matches("pm").trim_end_matches("a.m").trim_end_matches("p.m");
    let marked = bare.len() < lower.len();
    let parts: Vec<&str> = bare.split(':').collect();
    let digits =
        parts.iter().all(|part| (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit()));
    digits && parts.len() <= 3 && (marked || parts.len() > 1)
}

/// An operator, or digits with operators between them.
pub(super) fn is_formula(text: &str) -> bool {
    let bare = text.trim_end_matches(['?', '!', ',', '.', '=']);
    if ["+", "*", "/", "^", "×", "÷"].contains(&bare) {
        return true;
    }
    let digits = bare.bytes().filter(u8::is_ascii_digit).count();
    let inner =
        bare.get(1..).unwrap_or("").contains(['+', '*', '/', '^', '(', ')', '-', '×', '÷']) || bare.starts_with('(');
    digits > 0
        && inner
        && !is_date(bare)
        && bare.chars().all(|letter| letter.is_ascii_digit() || "+-*/^().×÷%".contains(letter))
}

fn is_file(text: &str) -> bool {
    let pathlike =
        text.starts_with(['/', '~']) && text.len() > 1 || text.starts_with("./") || text.matches('/').count() > 1;
    let ending = text.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && (1..=5).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    pathlike || ending && !text.ends_with('.')
}
