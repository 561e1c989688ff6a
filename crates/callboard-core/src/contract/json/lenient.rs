//! A hand-written reader for JSON with slips: values, objects, arrays and words.
//!
//! It accepts strict JSON plus the slips of [`JsonRepair`] and records each one; in strict mode it refuses them.
//! It never completes a truncated text, never supplies a quote, and never picks between two values for one key.

use serde_json::map::Entry;
use serde_json::{Map, Value};

use super::parse_result::{DEEPEST, JsonRepair, MalformedJson, shown};

/// The words that are values: JSON's and Python's.
const LITERALS: [&str; 6] = ["true", "false", "null", "True", "False", "None"];

/// A position in a text, and the repairs made up to it.
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) position: usize,
    pub(super) repairs: Vec<JsonRepair>,
    repairing: bool,
    levels: usize,
    deepest: usize,
}

impl<'t> Reader<'t> {
    /// Reads `text` from a byte position on, repairing what can be repaired.
    pub(super) fn new(text: &'t str, position: usize) -> Self {
        Self { text, position, repairs: Vec::new(), repairing: true, levels: 0, deepest: DEEPEST }
    }

    /// Reads `text`, at most `deepest` levels deep, and refuses every slip.
    pub(super) fn strict(text: &'t str, deepest: usize) -> Self {
        Self { repairing: false, deepest, ..Self::new(text, 0) }
    }

    /// One value with nothing after it.
    pub(super) fn only_value(&mut self) -> Result<Value, MalformedJson> {
        let value = self.value()?;
        if self.at_end() {
            return Ok(value);
        }
        Err(self.wrong(JsonRepair::Concatenated.complaint()))
    }

    /// The value that starts here, spaces aside.
    pub(super) fn value(&mut self) -> Result<Value, MalformedJson> {
        self.skip_space();
        match self.peek() {
            None => Err(self.cut_off()),
            Some(b'{') => self.object().map(Value::Object),
            Some(b'[') => self.array().map(Value::Array),
            Some(b'"' | b'\'') => self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => self.number().map(Value::Number),
            Some(_) => self.literal(),
        }
    }

    /// The object whose `{` is here.
    pub(super) fn object(&mut self) -> Result<Map<String, Value>, MalformedJson> {
        self.enter()?;
        let mut object = Map::new();
        while !self.closes_early(b'}', object.is_empty())? {
            let start = self.position;
            let key = self.key()?;
            self.colon()?;
            let value = self.value()?;
            self.insert(&mut object, start, key, value)?;
            if self.closes(b'}', "expected `,` or `}`")? {
                break;
            }
        }
        self.levels -= 1;
        Ok(object)
    }

    fn array(&mut self) -> Result<Vec<Value>, MalformedJson> {
        self.enter()?;
        let mut array = Vec::new();
        while !self.closes_early(b']', array.is_empty())? {
            array.push(self.value()?);
            if self.closes(b']', "expected `,` or `]`")? {
                break;
            }
        }
        self.levels -= 1;
        Ok(array)
    }

    fn enter(&mut self) -> Result<(), MalformedJson> {
        if self.levels == self.deepest {
            let problem = format!("objects and arrays nest deeper than {} levels", self.deepest);
            return Err(self.wrong(&problem));
        }
        self.levels += 1;
        self.position += 1;
        Ok(())
    }

    /// Whether the bracket closes where an entry could start: an empty container, or a trailing comma.
    fn closes_early(&mut self, bracket: u8, empty: bool) -> Result<bool, MalformedJson> {
        self.skip_space();
        if self.peek() != Some(bracket) {
            return Ok(false);
        }
        if !empty {
            self.repaired(JsonRepair::TrailingComma)?;
        }
        self.position += 1;
        Ok(true)
    }

    /// After an entry: whether the bracket closes, or a comma announces another entry.
    fn closes(&mut self, bracket: u8, otherwise: &str) -> Result<bool, MalformedJson> {
        self.skip_space();
        match self.peek() {
            None => Err(self.cut_off()),
            Some(byte) if byte == bracket || byte == b',' => {
                self.position += 1;
                Ok(byte == bracket)
            }
            Some(_) => Err(self.wrong(otherwise)),
        }
    }

    fn key(&mut self) -> Result<String, MalformedJson> {
        match self.peek() {
            None => Err(self.cut_off()),
            Some(b'"' | b'\'') => self.string(),
            Some(_) => self.unquoted_key(),
        }
    }

    /// A bare word; `true` or `None` as a key is ambiguous.
    fn unquoted_key(&mut self) -> Result<String, MalformedJson> {
        let word = self.word();
        let named = word.starts_with(|first: char| !first.is_numeric());
        if !named || LITERALS.contains(&word) {
            return Err(self.wrong("expected a key in double quotes"));
        }
        self.repaired(JsonRepair::UnquotedKey)?;
        self.position += word.len();
        Ok(word.to_owned())
    }

    fn colon(&mut self) -> Result<(), MalformedJson> {
        self.skip_space();
        match self.peek() {
            None => Err(self.cut_off()),
            Some(b':') => {
                self.position += 1;
                Ok(())
            }
            Some(_) => Err(self.wrong("expected `:` after the key")),
        }
    }

    fn insert(
        &mut self,
        object: &mut Map<String, Value>,
        start: usize,
        key: String,
        value: Value,
    ) -> Result<(), MalformedJson> {
        match object.entry(key) {
            Entry::Vacant(place) => {
                place.insert(value);
                Ok(())
            }
            Entry::Occupied(first) if self.repairing && *first.get() == value => {
                self.repaired(JsonRepair::RepeatedEqualKey)
            }
            Entry::Occupied(first) => {
                let problem = format!("key \"{}\" appears twice", shown(first.key()));
                Err(MalformedJson::new(self.text, start, &problem))
            }
        }
    }

    fn literal(&mut self) -> Result<Value, MalformedJson> {
        let word = self.word();
        let value = match word {
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            "null" | "None" => Value::Null,
            _ => return Err(self.not_a_value(word)),
        };
        if word.starts_with(char::is_uppercase) {
            self.repaired(JsonRepair::PythonLiteral)?;
        }
        self.position += word.len();
        Ok(value)
    }

    fn not_a_value(&self, word: &str) -> MalformedJson {
        let ends = self.position + word.len() == self.text.len();
        if ends && LITERALS.iter().any(|literal| literal.starts_with(word)) {
            return self.cut_off();
        }
        let next = self.rest().chars().next().unwrap_or_default();
        match word {
            "" if next == '/' || next == '#' => self.wrong("JSON has no comments"),
            "" => self.wrong(&format!("unexpected `{next}`")),
            "NaN" | "Infinity" => self.wrong(&format!("{word} is not a JSON value")),
            _ => self.wrong(&format!("`{}` must be in double quotes", shown(word))),
        }
    }

    /// The run of letters, digits, `_` and `$` that starts here; not consumed.
    fn word(&self) -> &'t str {
        let rest = self.rest();
        let inside = |character: char| character.is_alphanumeric() || "_$".contains(character);
        let end = rest.find(|character| !inside(character)).unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default()
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.position..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    /// Steps over the byte if it is next.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let here = self.peek() == Some(byte);
        self.position += usize::from(here);
        here
    }

    pub(super) fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.position += 1;
        }
    }

    /// Whether only spaces are left.
    pub(super) fn at_end(&mut self) -> bool {
        self.skip_space();
        self.peek().is_none()
    }

    /// Records a repair, or refuses it in strict mode.
    pub(super) fn repaired(&mut self, repair: JsonRepair) -> Result<(), MalformedJson> {
        if !self.repairing {
            return Err(self.wrong(repair.complaint()));
        }
        if !self.repairs.contains(&repair) {
            self.repairs.push(repair);
        }
        Ok(())
    }

    pub(super) fn wrong(&self, problem: &str) -> MalformedJson {
        MalformedJson::new(self.text, self.position, problem)
    }

    pub(super) fn cut_off(&self) -> MalformedJson {
        MalformedJson::cut_off(self.text)
    }
}
