//! How much work a validator does for a value, computed before it does it.
//!
//! A validator follows references wherever they lead: `anyOf` of two references, chained 24 times, is 16 million visits to one
//! value. Here each pair of schema and value is computed once, so the count is cheap however large it is.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::pattern_size::PatternSize;
use super::references::References;
use super::subschemas::{Applies, Subschema, each_subschema, own_steps, size};

/// How deep schemas are followed, references and values together; bounds the stack.
const DEEPEST: usize = 400;
/// Steps for each byte of a text that is matched by backtracking.
const BACKTRACKING_STEPS: u64 = 10;
/// One step matches so many bytes, or one byte with so much larger an automaton.
const BYTES_PER_STEP: u64 = 8;
const AUTOMATON_BYTES: u64 = 1024;

/// More work than can be counted.
const UNBOUNDED: u64 = u64::MAX;

/// Why the work of a schema cannot be known.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unclear<'s> {
    /// A reference that leads nowhere inside the document.
    Reference(&'s str),
    /// Schemas and references nest too deep.
    TooDeep,
    /// A schema that is applied to a value again by its own references, without a step into the value.
    Cycle,
    /// A part with an identifier of its own, which changes what references mean.
    EmbeddedId,
}

/// The steps of each pattern of a schema, for each byte of a text.
pub(super) type PatternSteps = HashMap<String, u64>;

/// What is known of the work of a schema before there is a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    /// At most so many steps for each byte of a value's text; [`UNBOUNDED`] for a schema that contains itself.
    pub(super) per_byte: u64,
    /// So many steps for a single value, whatever it is, at the most expensive place.
    pub(super) single_value: u64,
}

/// The bounds of a schema.
pub(super) fn bounds_of<'s>(root: &'s Value, patterns: &PatternSteps) -> Result<Bounds, Unclear<'s>> {
    let references = References::new(root);
    let mut bound = Bound::new(&references, patterns, 0);
    let per_byte = bound.of(root)?.per_byte;
    InPlace { references: &references, open: HashMap::new() }.check_all(&bound.visited)?;
    Ok(Bounds { per_byte, single_value: bound.most_at_once })
}

struct Bound<'r, 's> {
    references: &'r References<'s>,
    patterns: &'r PatternSteps,
    /// The bounds of each schema; none while they are computed.
    known: HashMap<*const Value, Option<Bounds>>,
    visited: Vec<&'s Value>,
    most_at_once: u64,
    depth: usize,
}

/// Finds schemas that refer to themselves without a step into the value. A validator follows each way around such a circle.
struct InPlace<'r, 's> {
    references: &'r References<'s>,
    /// Whether each schema seen so far is on the current path.
    open: HashMap<*const Value, bool>,
}

impl<'s> InPlace<'_, 's> {
    fn check_all(&mut self, schemas: &[&'s Value]) -> Result<(), Unclear<'s>> {
        schemas.iter().try_for_each(|schema| self.check(schema))
    }

    fn check(&mut self, schema: &'s Value) -> Result<(), Unclear<'s>> {
        let Value::Object(keywords) = schema else { return Ok(()) };
        let key = std::ptr::from_ref(schema);
        match self.open.insert(key, true) {
            Some(true) => return Err(Unclear::Cycle),
            Some(false) => {
                self.open.insert(key, false);
                return Ok(());
            }
            None => {}
        }
        let mut parts = Vec::new();
        each_subschema(keywords, |applies, part| parts.extend((applies == Applies::InPlace).then_some(part)));
        for part in parts {
            self.check(resolve(self.references, part)?)?;
        }
        self.open.insert(key, false);
        Ok(())
    }
}

impl<'r, 's> Bound<'r, 's> {
    fn new(references: &'r References<'s>, patterns: &'r PatternSteps, depth: usize) -> Self {
        Self { references, patterns, known: HashMap::new(), visited: Vec::new(), most_at_once: 0, depth }
    }

    fn of(&mut self, schema: &'s Value) -> Result<Bounds, Unclear<'s>> {
        let Value::Object(keywords) = schema else { return Ok(Bounds { per_byte: 1, single_value: 1 }) };
        let key = std::ptr::from_ref(schema);
        if let Some(known) = self.known.get(&key) {
            // Still being computed: the schema contains itself. Circles without a step into the value are refused by `InPlace`.
            return Ok(known.unwrap_or(Bounds { per_byte: UNBOUNDED, single_value: 0 }));
        }
        if self.depth == DEEPEST {
            return Err(Unclear::TooDeep);
        }
        self.known.insert(key, None);
        self.visited.push(schema);
        self.depth += 1;
        let bounds = self.of_keywords(keywords)?;
        self.depth -= 1;
        self.most_at_once = self.most_at_once.max(bounds.single_value);
        self.known.insert(key, Some(bounds));
        Ok(bounds)
    }

    fn of_keywords(&mut self, keywords: &'s Map<String, Value>) -> Result<Bounds, Unclear<'s>> {
        let mut parts = Vec::new();
        each_subschema(keywords, |applies, part| parts.push((applies, part)));
        let count = parts.len() as u64;
        let (mut in_place, mut property, mut item, mut others) = (Bounds::default(), 0_u64, 0_u64, 0_u64);
        for (applies, part) in parts {
            let schema = resolve(self.references, part)?;
            let steps = self.of(schema)?;
            match applies {
                Applies::InPlace => in_place = in_place.plus(steps),
                Applies::Property(_) => property = property.max(steps.per_byte),
                Applies::Item(_) => item = item.max(steps.per_byte),
                _ => others = others.saturating_add(steps.per_byte),
            }
        }
        let repeated = in_place.times(passes(keywords));
        let own = own_steps(keywords).saturating_add(count);
        let below = [property, item, others, steps_of_patterns(keywords, self.patterns)];
        let below = below.into_iter().fold(own, u64::saturating_add);
        Ok(repeated.plus(Bounds { per_byte: below, single_value: own }))
    }
}

impl Bounds {
    fn plus(self, other: Self) -> Self {
        Self {
            per_byte: self.per_byte.saturating_add(other.per_byte),
            single_value: self.single_value.saturating_add(other.single_value),
        }
    }

    fn times(self, count: u64) -> Self {
        Self { per_byte: self.per_byte.saturating_mul(count), single_value: self.single_value.saturating_mul(count) }
    }
}

/// The steps of validating one value, if they are within the limit; else the error is the work of finding that out.
pub(super) fn steps_of(root: &Value, value: &Value, patterns: &PatternSteps, limit: u64) -> Result<u64, u64> {
    let references = References::new(root);
    let mut count = Count {
        references: &references,
        patterns,
        known: HashMap::new(),
        names: HashMap::new(),
        sizes: HashMap::new(),
        depth: 0,
        work: 0,
        limit,
    };
    let steps = count.of(root, value);
    if steps > limit { Err(count.work) } else { Ok(steps) }
}

struct Count<'r, 's> {
    references: &'r References<'s>,
    patterns: &'r PatternSteps,
    known: HashMap<(*const Value, *const Value), u64>,
    /// The steps per byte of schemas for names.
    names: HashMap<*const Value, u64>,
    sizes: HashMap<*const Value, u64>,
    depth: usize,
    /// The work of counting.
    work: u64,
    limit: u64,
}

impl<'s> Count<'_, 's> {
    fn of(&mut self, schema: &'s Value, value: &'s Value) -> u64 {
        let Value::Object(keywords) = schema else { return 1 };
        let key = (std::ptr::from_ref(schema), std::ptr::from_ref(value));
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        if self.depth == DEEPEST || self.work > self.limit {
            return UNBOUNDED;
        }
        self.depth += 1;
        let steps = self.of_keywords(keywords, value);
        self.depth -= 1;
        self.known.insert(key, steps);
        steps
    }

    fn of_keywords(&mut self, keywords: &'s Map<String, Value>, value: &'s Value) -> u64 {
        let mut parts = Vec::new();
        each_subschema(keywords, |applies, part| parts.push((applies, part)));
        let properties = keywords.get("properties").and_then(Value::as_object);
        let text = steps_of_patterns(keywords, self.patterns).saturating_mul(text_bytes(value));
        let own =
            own_steps(keywords).saturating_add(parts.len() as u64).saturating_add(self.unique_items(keywords, value));
        let (mut in_place, mut below) = (0_u64, own.saturating_add(text));
        self.work = self.work.saturating_add(parts.len() as u64 + 1);
        for (applies, part) in parts {
            let Ok(schema) = resolve(self.references, part) else { return UNBOUNDED };
            match applies {
                Applies::InPlace => in_place = in_place.saturating_add(self.of(schema, value)),
                applies => below = below.saturating_add(self.below(applies, schema, value, properties)),
            }
            if in_place.saturating_add(below) > self.limit {
                return UNBOUNDED;
            }
        }
        in_place.saturating_mul(passes(keywords)).saturating_add(below)
    }

    /// The steps of a subschema for the parts of a value that it is applied to.
    fn below(
        &mut self,
        applies: Applies<'s>,
        schema: &'s Value,
        value: &'s Value,
        properties: Option<&'s Map<String, Value>>,
    ) -> u64 {
        let own = |name: &str| properties.is_some_and(|properties| properties.contains_key(name));
        match (applies, value) {
            (Applies::Property(name), Value::Object(map)) => map.get(name).map_or(0, |value| self.of(schema, value)),
            (Applies::OtherProperties, Value::Object(map)) => {
                self.sum(schema, map.iter().filter(|(name, _)| !own(name)).map(|(_, value)| value))
            }
            (Applies::MatchingProperties, Value::Object(map)) => self.sum(schema, map.values()),
            (Applies::PropertyNames, Value::Object(map)) => self.names(schema, map),
            (Applies::Item(index), Value::Array(list)) => list.get(index).map_or(0, |value| self.of(schema, value)),
            (Applies::Items, Value::Array(list)) => self.sum(schema, list.iter()),
            _ => 0,
        }
    }

    fn sum(&mut self, schema: &'s Value, values: impl Iterator<Item = &'s Value>) -> u64 {
        let mut sum = 0_u64;
        for value in values {
            self.work += 1;
            sum = sum.saturating_add(self.of(schema, value)).saturating_add(1);
            if sum > self.limit {
                return UNBOUNDED;
            }
        }
        sum
    }

    /// Comparing the items of an array costs what they hold.
    fn unique_items(&mut self, keywords: &Map<String, Value>, value: &'s Value) -> u64 {
        if !value.is_array() || keywords.get("uniqueItems") != Some(&Value::Bool(true)) {
            return 0;
        }
        *self.sizes.entry(std::ptr::from_ref(value)).or_insert_with(|| size(value))
    }

    /// Names are texts and have no place among the values: each costs the bound for its bytes.
    fn names(&mut self, schema: &'s Value, map: &Map<String, Value>) -> u64 {
        let bytes: usize = map.keys().map(|name| name.len() + 1).sum();
        if bytes == 0 {
            return 0;
        }
        let key = std::ptr::from_ref(schema);
        let known = self.names.get(&key).copied();
        known.unwrap_or_else(|| self.bound_of(schema)).saturating_mul(bytes as u64)
    }

    fn bound_of(&mut self, schema: &'s Value) -> u64 {
        let mut bound = Bound::new(self.references, self.patterns, self.depth);
        let per_byte = bound.of(schema).map_or(UNBOUNDED, |bounds| bounds.per_byte);
        self.work = self.work.saturating_add(bound.visited.len() as u64);
        self.names.insert(std::ptr::from_ref(schema), per_byte);
        per_byte
    }
}

fn resolve<'s>(references: &References<'s>, part: Subschema<'s>) -> Result<&'s Value, Unclear<'s>> {
    match part {
        Subschema::Inline(schema) => Ok(schema),
        Subschema::Reference(_) if references.has_embedded_ids() => Err(Unclear::EmbeddedId),
        Subschema::Reference(reference) => references.resolve(reference).ok_or(Unclear::Reference(reference)),
    }
}

/// `unevaluated…` applies the schemas beside it once more, to see what they evaluate.
fn passes(keywords: &Map<String, Value>) -> u64 {
    1 + u64::from(keywords.keys().any(|keyword| keyword.starts_with("unevaluated")))
}

/// The bytes that the patterns of a schema are matched against: a text, or the names of properties.
fn text_bytes(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.len() as u64,
        Value::Object(map) => map.keys().map(|name| name.len() as u64 + 1).sum(),
        _ => 0,
    }
}

fn steps_of_patterns(keywords: &Map<String, Value>, patterns: &PatternSteps) -> u64 {
    let own = patterns_of(keywords).filter_map(|pattern| patterns.get(pattern));
    let format = u64::from(keywords.contains_key("format"));
    own.fold(format, |sum, steps| sum.saturating_add(*steps))
}

/// The patterns in a schema's own keywords.
pub(super) fn patterns_of(keywords: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let names = keywords.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    names.map(String::as_str).chain(keywords.get("pattern").and_then(Value::as_str))
}

/// The steps of one pattern, for each byte of a text.
pub(super) fn pattern_steps(size: PatternSize) -> u64 {
    if size.backtracks { BACKTRACKING_STEPS } else { 1 + size.bytes as u64 / AUTOMATON_BYTES / BYTES_PER_STEP }
}
