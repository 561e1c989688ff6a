//! Resolves the names in the arguments of a call to those that the character knows.
//!
//! A parameter's `x-names` is the key of its list of names; `{other}` in that key is replaced by the value of another
//! parameter. With `x-names-open` a name outside the list is kept as it is.

use serde_json::{Map, Value};

use super::{Candidate, NameBook, NameEntry, Resolution};

/// Replaces values by known names; the error is a message that a model can act on.
pub fn resolve_arguments(schema: &Value, arguments: &mut Map<String, Value>, names: &Value) -> Result<bool, String> {
    let Some(Value::Object(properties)) = schema.get("properties") else { return Ok(false) };
    let given = arguments.clone();
    let mut changed = false;
    for (parameter, value) in arguments.iter_mut() {
        let Some(property) = properties.get(parameter) else { continue };
        changed |= match value {
            Value::String(spoken) => resolve(property, parameter, spoken, &given, names)?,
            Value::Array(list) => {
                let mut any = false;
                for spoken in list {
                    let (Some(items), Value::String(spoken)) = (property.get("items"), spoken) else { continue };
                    any |= resolve(items, parameter, spoken, &given, names)?;
                }
                any
            }
            _ => false,
        };
    }
    Ok(changed)
}

fn resolve(
    property: &Value,
    parameter: &str,
    spoken: &mut String,
    given: &Map<String, Value>,
    names: &Value,
) -> Result<bool, String> {
    let Some(key) = property.get("x-names").and_then(Value::as_str).and_then(|key| filled(key, given)) else {
        return Ok(false);
    };
    let Some(book) = names.get(&key).and_then(Value::as_array).map(|list| book(list)) else { return Ok(false) };
    let open = property.get("x-names-open") == Some(&Value::Bool(true));
    match book.resolve(spoken) {
        Resolution::Found { name, .. } => {
            let changed = name != *spoken;
            *spoken = name;
            Ok(changed)
        }
        _ if open => Ok(false),
        Resolution::Ambiguous { candidates } => {
            Err(format!("{parameter}: {spoken:?} may be {}; say which", listed(&candidates, " or ")))
        }
        Resolution::Unknown { nearest } if nearest.is_empty() => {
            Err(format!("{parameter}: {spoken:?} is not known here"))
        }
        Resolution::Unknown { nearest } => {
            Err(format!("{parameter}: {spoken:?} is not known here; the nearest are {}", listed(&nearest, ", ")))
        }
    }
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
        let name = entry.as_str().or_else(|| entry.get("name")?.as_str())?.to_owned();
        let aliases = entry.get("aliases").and_then(Value::as_array).into_iter().flatten();
        Some(NameEntry { name, aliases: aliases.filter_map(|alias| Some(alias.as_str()?.to_owned())).collect() })
    }))
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
        resolve_arguments(&schema, &mut arguments, &names).map(|_| Value::Object(arguments))
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
        ];
        for (spoken, meant) in table {
            assert_eq!(resolved(spoken.clone()), Ok(meant), "{spoken}");
        }
    }

    #[test]
    fn unknown_and_ambiguous_names_are_reported() {
        let unknown = resolved(json!({"unit": "bananas", "owner": "player"})).unwrap_err();
        assert!(unknown.starts_with("unit: \"bananas\" is not known here"), "{unknown}");
        let ambiguous = resolved(json!({"unit": "gaunts", "owner": "opponent"})).unwrap_err();
        assert!(
            ambiguous.contains("Termagants or Hormagaunts") || ambiguous.contains("Hormagaunts or Termagants"),
            "{ambiguous}"
        );
    }
}
