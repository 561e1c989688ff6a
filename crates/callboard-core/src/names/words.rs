//! Tokenises and normalises names: case and accents folded, numbers parsed, plurals made singular.
//!
//! Classifies stop words, owners and generic words ("squad"). The weights of all others depend on the names they occur in
//! and are computed by the book.

use super::numbers;

/// The class of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A content word.
    Weighty,
    /// Names a category, not an individual: "squad", "unit".
    Generic,
    /// A stop word: "the", "my", "in", "um".
    Silent,
    /// An owner: "opponent's", "enemy". Counts only if a name contains it.
    Owner,
}

/// One word of a name or a query.
#[derive(Clone, Debug)]
pub(super) struct Word {
    /// Folded text.
    pub(super) text: String,
    /// Without a plural ending.
    pub(super) singular: String,
    /// Equal for singular and plural.
    pub(super) stem: String,
    pub(super) number: Option<u32>,
    pub(super) role: Role,
}

const SILENT: &str = "\
    a about actually again ah all also am an and another any are as at be both but by could did do does \
    each entire er erm every for from gets goes got had has have he hello her here hers hey hi him his \
    hm hmm how i if in into is it its just last maybe me mine my no not now of off oh ok okay on only \
    or other our ours out over please remaining same she so some sorry still thank thanks that the \
    their theirs them then there these they this those to too uh um up us very was we well were what \
    when where which who whole whose will with would yeah yes you your yours";

const GENERIC: &str = "dude group guy item model number one piece set squad team thing type unit";

const OWNERS: &str = "enemy opponent opposing player";

/// The first `at_most` words of `text`.
pub(super) fn words_of(text: &str, at_most: usize) -> Vec<Word> {
    let mut words = Vec::new();
    for piece in text.split(|c: char| !c.is_alphanumeric() && !is_apostrophe(c) && !is_accent(c)) {
        if words.len() == at_most {
            break;
        }
        words.extend(Word::read(piece));
    }
    numbers::join(&mut words);
    words
}

impl Word {
    fn read(piece: &str) -> Option<Self> {
        let plain = piece.trim_matches(is_apostrophe);
        let owned = plain.strip_suffix(['s', 'S']).and_then(|rest| rest.strip_suffix(is_apostrophe));
        let letters: String = owned.unwrap_or(plain).chars().filter(|c| !is_apostrophe(*c)).collect();
        let text = fold(&letters);
        (!text.is_empty()).then(|| Self::new(text, owned.is_some()))
    }

    pub(super) fn new(text: String, owned: bool) -> Self {
        let singular = singular_of(&text);
        let stem = stem_of(&singular);
        let number = numbers::value_of(&text);
        let role = role_of(&text, &singular, owned);
        Self { text, singular, stem, number, role }
    }
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}' | '\u{2018}' | '`')
}

/// Whether this is a combining accent.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

fn role_of(text: &str, singular: &str, owned: bool) -> Role {
    if lists(SILENT, text) {
        Role::Silent
    } else if owned || lists(OWNERS, singular) {
        Role::Owner
    } else if lists(GENERIC, singular) {
        Role::Generic
    } else {
        Role::Weighty
    }
}

fn lists(words: &str, word: &str) -> bool {
    words.split(' ').any(|listed| listed == word)
}

/// Lower case without accents: "Éowyn" and "eowyn" are the same word.
#[must_use]
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            'à'..='å' | 'ā' | 'ă' | 'ą' => folded.push('a'),
            'ç' | 'ć' | 'č' => folded.push('c'),
            'ď' | 'đ' | 'ð' => folded.push('d'),
            'è'..='ë' | 'ē' | 'ė' | 'ę' | 'ě' => folded.push('e'),
            'ğ' => folded.push('g'),
            'ì'..='ï' | 'ī' | 'ı' => folded.push('i'),
            'ł' => folded.push('l'),
            'ñ' | 'ń' | 'ň' => folded.push('n'),
            'ò'..='ö' | 'ø' | 'ō' | 'ő' => folded.push('o'),
            'ř' => folded.push('r'),
            'ś' | 'š' | 'ş' => folded.push('s'),
            'ť' => folded.push('t'),
            'ù'..='ü' | 'ū' | 'ů' | 'ű' => folded.push('u'),
            'ý' | 'ÿ' => folded.push('y'),
            'ź' | 'ż' | 'ž' => folded.push('z'),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ß' => folded.push_str("ss"),
            'þ' => folded.push_str("th"),
            accent if is_accent(accent) => {}
            other => folded.push(other),
        }
    }
    folded
}

/// "stealers" -> "stealer", "boyz" -> "boy", "guardsmen" -> "guardsman"; words that only look like plurals stay.
#[must_use]
pub fn singular_of(text: &str) -> String {
    if text.chars().count() <= 3 {
        return text.to_owned();
    }
    if let Some(root) = text.strip_suffix("men") {
        return format!("{root}man");
    }
    if let Some(root) = text.strip_suffix("ies") {
        return format!("{root}y");
    }
    let looks_plural = |root: &&str| !root.ends_with(['s', 'u', 'i', 'z', 't']);
    if let Some(root) = text.strip_suffix('z').filter(looks_plural).filter(|root| !root.ends_with(['a', 'e', 'o'])) {
        return root.to_owned();
    }
    let root = text.strip_suffix('s').filter(|root| !root.ends_with(['s', 'u', 'i']));
    let Some(root) = root else { return text.to_owned() };
    let after_hiss = ["xe", "she", "che", "sse", "zze"].iter().any(|ending| root.ends_with(ending));
    if after_hiss { root.trim_end_matches('e').to_owned() } else { root.to_owned() }
}

/// Unifies endings with an ambiguous singular ("hives": "hive" or "hif").
fn stem_of(singular: &str) -> String {
    if let Some(root) = singular.strip_suffix("ie") {
        return format!("{root}y");
    }
    if let Some(root) = singular.strip_suffix("ve").or_else(|| singular.strip_suffix("fe")) {
        return format!("{root}f");
    }
    match singular.strip_suffix('e') {
        Some(root) if root.ends_with(['s', 'x', 'z', 'o', 'h']) => root.to_owned(),
        _ => singular.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        words_of(text, 24).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn text_is_cut_and_folded() {
        let table: [(&str, &[&str]); 7] = [
            ("", &[]),
            ("  ...  ", &[]),
            ("The Swarmlord", &["the", "swarmlord"]),
            ("Bio-Weapons", &["bio", "weapons"]),
            ("No Man\u{2019}s Land", &["no", "man", "land"]),
            ("the players' café", &["the", "players", "cafe"]),
            ("E\u{301}owyn", &["eowyn"]),
        ];
        for (text, expected) in table {
            assert_eq!(texts(text), expected, "{text}");
        }
    }

    #[test]
    fn plural_and_singular_have_one_stem() {
        let table = [
            ("gaunt", "gaunts"),
            ("hive", "hives"),
            ("wolf", "wolves"),
            ("knife", "knives"),
            ("carnifex", "carnifexes"),
            ("witch", "witches"),
            ("axe", "axes"),
            ("house", "houses"),
            ("bus", "buses"),
            ("hero", "heroes"),
            ("shoe", "shoes"),
            ("pixie", "pixies"),
            ("fury", "furies"),
            ("boy", "boyz"),
            ("guardsman", "guardsmen"),
            ("boss", "bosses"),
            ("maze", "mazes"),
        ];
        for (one, many) in table {
            assert_eq!(stem_of(&singular_of(one)), stem_of(&singular_of(many)), "{one}");
        }
    }

    #[test]
    fn words_have_their_roles() {
        let table = [
            ("the", Role::Silent),
            ("Squads", Role::Generic),
            ("opponents", Role::Owner),
            ("Dave's", Role::Owner),
            ("russ", Role::Weighty),
        ];
        for (text, role) in table {
            assert_eq!(words_of(text, 24).first().map(|word| word.role), Some(role), "{text}");
        }
    }
}
