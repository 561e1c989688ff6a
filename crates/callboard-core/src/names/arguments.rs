//! Resolves the names in the arguments of a call to those that the character knows.
//!
//! A parameter's `x-names` is the key of its list of names; `{other}` in that key is replaced by the value of another
//! parameter. With `x-names-open` a name outside the list is kept as it is. An ambiguous name means the one candidate that was
//! used lately, if there is exactly one. An unknown name comes back with the nearest ones, or with the list that has it.

use serde_json::{Map, Value};

use super::resolution::CANDIDATES_AT_MOST;
use super::{Candidate, Method, NameBook, NameEntry, Resolution};

/// The names of a character in its present state.
#[derive(Debug, Clone, Copy)]
pub struct NameLists<'a> {
    /// Lists of names by key: `{"units/player": ["Terminator Squad"]}`.
    pub lists: &'a Value,
    /// Arguments of recent calls, as JSON objects.
    pub recent: &'a [&'a str],
}

/// A name that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedName {
    /// The parameter.
    pub parameter: String,
    /// What was said.
    pub said: String,
    /// How it was matched.
    pub method: Method,
    /// Whether the argument changed.
    pub changed: bool,
}

/// A parameter's list of names.
struct NamedParameter<'a> {
    name: &'a str,
    /// Its `x-names`, as written.
    template: &'a str,
    /// The key of its list.
    key: String,
    is_open: bool,
}

/// Replaces values by known names; the error is a message that a model can act on.
pub fn resolve_arguments(
    schema: &Value,
    arguments: &mut Map<String, Value>,
    names: NameLists<'_>,
) -> Result<Vec<ResolvedName>, String> {
    let Some(Value::Object(properties)) = schema.get("properties") else { return Ok(Vec::new()) };
    let given = arguments.clone();
    let mut resolved = Vec::new();
    for (name, value) in arguments.iter_mut() {
        let Some(property) = properties.get(name) else { continue };
        let (property, said) = match value {
            Value::Array(list) => (property.get("items").unwrap_or(&Value::Null), list.as_mut_slice()),
            value => (property, std::slice::from_mut(value)),
        };
        let Some(parameter) = NamedParameter::read(name, property, &given) else { continue };
        for said in said {
            if let Value::String(said) = said {
                resolved.extend(parameter.resolve(said, names)?);
            }
        }
    }
    Ok(resolved)
}

impl<'a> NamedParameter<'a> {
    fn read(name: &'a str, property: &'a Value, given: &Map<String, Value>) -> Option<Self> {
        let template = property.get("x-names")?.as_str()?;
        let is_open = property.get("x-names-open") == Some(&Value::Bool(true));
        Some(Self { name, template, key: filled(template, given)?, is_open })
    }

    fn resolve(&self, said: &mut String, names: NameLists<'_>) -> Result<Option<ResolvedName>, String> {
        let Some(list) = names.lists.get(&self.key).and_then(Value::as_array) else { return Ok(None) };
        let (name, method) = match book(list).resolve(said) {
            Resolution::Found { name, method, .. } => (name, method),
            Resolution::Ambiguous { candidates } => match one_used_lately(&candidates, names.recent) {
                Some(name) => (name, Method::Recent),
                None if self.is_open => return Ok(None),
                None => return Err(self.ambiguous(said, &candidates)),
            },
            Resolution::Unknown { .. } if self.is_open => return Ok(None),
            Resolution::Unknown { nearest } => return Err(self.unknown(said, &nearest, list, names.lists)),
        };
        let changed = name != *said;
        let said = std::mem::replace(said, name);
        Ok(Some(ResolvedName { parameter: self.name.to_owned(), said, method, changed }))
    }

    fn ambiguous(&self, said: &str, candidates: &[Candidate]) -> String {
        format!("{}: {said:?} may be {}; say which", self.name, listed(candidates, " or "))
    }

    fn unknown(&self, said: &str, nearest: &[Candidate], list: &[Value], lists: &Value) -> String {
        let name = self.name;
        if let Some((key, found)) = self.found_in_other_list(said, lists) {
            let key = key.strip_prefix(self.fixed_part()).unwrap_or(&key);
            let here = if nearest.is_empty() {
                String::new()
            } else {
                format!("; the nearest here are {}", listed(nearest, ", "))
            };
            return format!("{name}: {said:?} is not known here; {key:?} has {found:?}{here}");
        }
        if !nearest.is_empty() {
            return format!("{name}: {said:?} is not known here; the nearest are {}", listed(nearest, ", "));
        }
        let known: Vec<&str> = list.iter().filter_map(name_of).take(CANDIDATES_AT_MOST).collect();
        match known.len() {
            0 => format!("{name}: {said:?} is not known here; there are no names yet"),
            count if count == list.len() => {
                format!("{name}: {said:?} is not known here; known are {}", known.join(", "))
            }
            _ => format!("{name}: {said:?} is not known here; known are, among others, {}", known.join(", ")),
        }
    }

    /// The part of the template before its first parameter: `units/` of `units/{owner}`.
    fn fixed_part(&self) -> &str {
        self.template.split('{').next().unwrap_or_default()
    }

    /// A list of the same template, for another value of its parameter, that has the name.
    fn found_in_other_list(&self, said: &str, lists: &Value) -> Option<(String, String)> {
        let fixed = self.fixed_part();
        if fixed.len() == self.template.len() {
            return None;
        }
        let others = lists.as_object()?.iter().filter(|(key, _)| key.starts_with(fixed) && **key != self.key);
        others.into_iter().find_map(|(key, list)| match book(list.as_array()?).resolve(said) {
            Resolution::Found { name, .. } => Some((key.clone(), name)),
            _ => None,
        })
    }
}

/// The only candidate that recent calls used.
fn one_used_lately(candidates: &[Candidate], recent: &[&str]) -> Option<String> {
    let quoted = |name: &str| Value::from(name).to_string();
    let is_used = |candidate: &&Candidate| recent.iter().any(|arguments| arguments.contains(&quoted(&candidate.name)));
    let mut used = candidates.iter().filter(is_used);
    let one = used.next()?;
    used.next().is_none().then(|| one.name.clone())
}

/// Expands a key such as `units/{owner}`; none if a referenced argument is missing.
fn filled(key: &str, given: &Map<String, Value>) -> Option<String> {
    let mut filled = String::new();
    let mut rest = key;
    while let Some((before, behind)) = rest.split_once('{') {
        let (name, after) = behind.split_once('}')?;
        filled.push_str(before);
        filled.push_str(given.get(name)?.as_str()?);
        rest = after;
    }
    filled.push_str(rest);
    Some(filled)
}

/// Entries are strings, or objects with a name and aliases.
fn book(list: &[Value]) -> NameBook {
    NameBook::new(list.iter().filter_map(|entry| {
        let aliases = entry.get("aliases").and_then(Value::as_array).into_iter().flatten();
        let aliases = aliases.filter_map(|alias| Some(alias.as_str()?.to_owned())).collect();
        Some(NameEntry { name: name_of(entry)?.to_owned(), aliases })
    }))
}

fn name_of(entry: &Value) -> Option<&str> {
    entry.as_str().or_else(|| entry.get("name")?.as_str())
}

fn listed(candidates: &[Candidate], separator: &str) -> String {
    candidates.iter().map(|candidate| candidate.name.as_str()).collect::<Vec<_>>().join(separator)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn resolved(arguments: Value) -> Result<Value, String> {
        let schema = json!({"properties": {
            "unit": {"type": "string", "x-names": "units/{owner}"},
            "goals": {"type": "array", "items": {"type": "string", "x-names": "goals", "x-names-open": true}},
            "note": {"type": "string"}}});
        let names = json!({
            "units/player": ["Terminator Squad", {"name": "Intercessor Squad", "aliases": ["blues"]}],
            "units/opponent": ["Termagants", "Hormagaunts"],
            "goals": ["Area Denial"]});
        let Value::Object(mut arguments) = arguments else { panic!("an object") };
        let recent = [r#"{"unit":"Hormagaunts","owner":"opponent"}"#];
        let recent = if arguments.contains_key("again") { &recent[..] } else { &[] };
        resolve_arguments(&schema, &mut arguments, NameLists { lists: &names, recent })?;
        Ok(Value::Object(arguments))
    }

    #[test]
    fn names_are_put_in_place() {
        let table = [
            (json!({"unit": "terminators", "owner": "player"}), json!({"unit": "Terminator Squad", "owner": "player"})),
            (json!({"unit": "my blues", "owner": "player"}), json!({"unit": "Intercessor Squad", "owner": "player"})),
            (json!({"unit": "termagant", "owner": "opponent"}), json!({"unit": "Termagants", "owner": "opponent"})),
            (json!({"goals": ["area denial", "Fly Away"]}), json!({"goals": ["Area Denial", "Fly Away"]})),
            (json!({"unit": "anything"}), json!({"unit": "anything"})),
            (json!({"note": "terminators"}), json!({"note": "terminators"})),
            (
                json!({"unit": "gaunts", "owner": "opponent", "again": true}),
                json!({"unit": "Hormagaunts", "owner": "opponent", "again": true}),
            ),
        ];
        for (spoken, meant) in table {
            assert_eq!(resolved(spoken.clone()), Ok(meant), "{spoken}");
        }
    }

    #[test]
    fn unknown_and_ambiguous_names_are_reported() {
        let unknown = |unit: &str, owner: &str| resolved(json!({"unit": unit, "owner": owner})).unwrap_err();
        let expected = "unit: \"bananas\" is not known here; known are Terminator Squad, Intercessor Squad";
        assert_eq!(unknown("bananas", "player"), expected);
        let expected = "unit: \"hormagaunt\" is not known here; \"opponent\" has \"Hormagaunts\"";
        assert_eq!(unknown("hormagaunt", "player"), expected);
        let ambiguous = resolved(json!({"unit": "gaunts", "owner": "opponent"})).unwrap_err();
        assert!(
            ambiguous.contains("Termagants or Hormagaunts") || ambiguous.contains("Hormagaunts or Termagants"),
            "{ambiguous}"
        );
    }

    #[test]
    fn what_was_said_is_kept() {
        let schema = json!({"properties": {"unit": {"type": "string", "x-names": "units"}}});
        let Value::Object(mut arguments) = json!({"unit": "the termagant"}) else { panic!("an object") };
        let names = json!({"units": ["Termagants"]});
        let resolved = resolve_arguments(&schema, &mut arguments, NameLists { lists: &names, recent: &[] }).unwrap();
        let said = ResolvedName {
            parameter: "unit".to_owned(),
            said: "the termagant".to_owned(),
            method: Method::Exact,
            changed: true,
        };
        assert_eq!(resolved, [said]);
    }
}
