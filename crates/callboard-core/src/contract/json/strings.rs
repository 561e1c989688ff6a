//! Strings for the lenient reader: both quotes, raw control characters, and backslashes.
//!
//! A lone backslash (`"\d+"`, `"C:\dir"`) is kept literally unless the string also contains a valid escape, as
//! `"C:\Users\new"` does with `\n`: then it is unclear which backslashes are escapes, and the string is refused.

use super::lenient::Reader;
use super::parse_result::{JsonRepair, MalformedJson};

const MIXED: &str =
    "this string holds a lone backslash beside an escape such as `\\n`: write every literal backslash as `\\\\`";
const UNCLEAR: &str = "this escape is not JSON: use `\\uXXXX`, or `\\\\` for a literal backslash";

/// A string being read.
#[derive(Default)]
struct PartialString {
    text: String,
    /// An escape was decoded that could also be two literal characters.
    escaped: bool,
    /// A backslash was kept literally.
    literal_backslash: bool,
}

impl PartialString {
    fn decoded(&mut self, character: char) {
        self.text.push(character);
        self.escaped = true;
    }
}

impl Reader<'_> {
    /// The string whose opening quote is here.
    pub(super) fn string(&mut self) -> Result<String, MalformedJson> {
        let start = self.position;
        let quote = if self.peek() == Some(b'\'') { b'\'' } else { b'"' };
        if quote == b'\'' {
            self.repaired(JsonRepair::SingleQuotes)?;
        }
        self.position += 1;
        let mut gathered = PartialString::default();
        while !self.take(quote) {
            self.piece(quote, &mut gathered)?;
        }
        if gathered.literal_backslash && gathered.escaped {
            return Err(MalformedJson::new(self.text, start, MIXED));
        }
        Ok(gathered.text)
    }

    /// A run of plain text, then the one thing that ended it, unless that is the closing quote.
    fn piece(&mut self, quote: u8, gathered: &mut PartialString) -> Result<(), MalformedJson> {
        let start = self.position;
        let rest = self.text.as_bytes().get(start..).unwrap_or_default();
        let run = rest.iter().position(|byte| *byte < b' ' || *byte == quote || *byte == b'\\');
        self.position += run.unwrap_or(rest.len());
        gathered.text.push_str(self.text.get(start..self.position).unwrap_or_default());
        match self.peek() {
            None => Err(self.cut_off()),
            Some(b'\\') => self.escape(quote, gathered),
            Some(control) if control < b' ' => {
                self.repaired(JsonRepair::RawControlCharacter)?;
                gathered.text.push(char::from(control));
                self.position += 1;
                Ok(())
            }
            Some(_) => Ok(()),
        }
    }

    /// The escape whose backslash is here.
    fn escape(&mut self, quote: u8, gathered: &mut PartialString) -> Result<(), MalformedJson> {
        match self.text.as_bytes().get(self.position + 1).copied() {
            None => return Err(self.cut_off()),
            Some(b'"') => gathered.text.push('"'),
            Some(b'\'') if quote == b'\'' => gathered.text.push('\''),
            // Python keeps the backslash here, JSON does not.
            Some(b'/') if quote == b'"' => gathered.decoded('/'),
            Some(b'\\') => gathered.decoded('\\'),
            Some(b'b') => gathered.decoded('\u{8}'),
            Some(b'f') => gathered.decoded('\u{c}'),
            Some(b'n') => gathered.decoded('\n'),
            Some(b'r') => gathered.decoded('\r'),
            Some(b't') => gathered.decoded('\t'),
            Some(b'u') if self.starts_unicode() => return self.unicode(gathered),
            Some(next) => return self.lone_backslash(next, gathered),
        }
        self.position += 2;
        Ok(())
    }

    /// Keeps a backslash that starts no JSON escape, unless other languages give it a meaning.
    fn lone_backslash(&mut self, next: u8, gathered: &mut PartialString) -> Result<(), MalformedJson> {
        let is_other_escape = match next {
            b'\'' | b'/' | b'0' => true,
            b'x' => self.hex_digits(2) == 2,
            b'U' => self.hex_digits(8) == 8,
            control => control < b' ',
        };
        if is_other_escape {
            return Err(self.wrong(UNCLEAR));
        }
        self.repaired(JsonRepair::InvalidEscape)?;
        gathered.text.push('\\');
        gathered.literal_backslash = true;
        self.position += 1;
        Ok(())
    }

    /// Whether `\u` continues like a code point, so that it cannot be a path such as `\users`; undecided at the end of the text.
    fn starts_unicode(&self) -> bool {
        let after = self.text.as_bytes().get(self.position + 2);
        after.is_none_or(|byte| *byte == b'{' || byte.is_ascii_hexdigit())
    }

    fn unicode(&mut self, gathered: &mut PartialString) -> Result<(), MalformedJson> {
        let start = self.position;
        let first = self.code_unit()?;
        let second = match first {
            0xD800..=0xDBFF => Some(self.low_surrogate(start)?),
            _ => None,
        };
        let decoded = char::decode_utf16([first].into_iter().chain(second)).next();
        let Some(Ok(character)) = decoded else {
            return Err(self.lone_surrogate(start));
        };
        gathered.decoded(character);
        Ok(())
    }

    fn low_surrogate(&mut self, start: usize) -> Result<u16, MalformedJson> {
        let rest = self.text.get(self.position..).unwrap_or_default();
        if rest.is_empty() || rest == "\\" {
            return Err(self.cut_off());
        }
        if !rest.starts_with("\\u") {
            return Err(self.lone_surrogate(start));
        }
        self.code_unit()
    }

    fn lone_surrogate(&self, start: usize) -> MalformedJson {
        MalformedJson::new(self.text, start, "this `\\u` escape is half of a pair")
    }

    /// The four hexadecimal digits of `\uXXXX`.
    fn code_unit(&mut self) -> Result<u16, MalformedJson> {
        let digits = self.position + 2;
        let count = self.hex_digits(4);
        if count < 4 && digits + count == self.text.len() {
            return Err(self.cut_off());
        }
        let written = self.text.get(digits..digits + 4).filter(|_| count == 4);
        let unit = written.and_then(|written| u16::from_str_radix(written, 16).ok());
        let unit = unit.ok_or_else(|| self.wrong("`\\u` needs four hexadecimal digits"))?;
        self.position = digits + 4;
        Ok(unit)
    }

    /// How many hexadecimal digits follow the backslash and its letter, up to `limit`.
    fn hex_digits(&self, limit: usize) -> usize {
        let after = self.text.as_bytes().iter().skip(self.position + 2);
        after.take(limit).take_while(|byte| byte.is_ascii_hexdigit()).count()
    }
}
