//! The functions of a request under names that a chat model can call, and the mapping back to the client's names.
//!
//! Functions inside a `namespace` get one flat name each; a call to one goes back with its namespace and short name. A `custom`
//! tool, which takes plain text, becomes a function with one parameter.
//! Hosted tools are skipped. Schemas are checked later, with the chat request.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::custom_tool;
use super::typed_fields::Fields;
use crate::model::BadRequest;
use crate::wire::chat::ToolPart;

/// The longest name that strict servers take.
const LONGEST_NAME: usize = 64;

/// More functions than any model can be offered; the limit that is set for tools is checked with the chat request.
const MOST_FUNCTIONS: usize = 4096;

/// All offered functions, in their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Tools {
    offers: Vec<Offer>,
    /// The places of the offers, by namespace and name.
    numbers: HashMap<Option<String>, HashMap<String, usize>>,
}

#[derive(Debug, Clone)]
struct Offer {
    /// The name that the model sees.
    flat: String,
    namespace: Option<String>,
    name: String,
    /// Takes plain text instead of arguments.
    custom: bool,
    /// Where the client wrote it, such as `tools[1].tools[0]`.
    place: String,
    function: Map<String, Value>,
}

impl Tools {
    /// Reads the `tools` of a request.
    pub(super) fn read(list: Option<&Vec<Value>>) -> Result<Self, BadRequest> {
        let mut tools = Self::default();
        for (number, tool) in list.into_iter().flatten().enumerate() {
            tools.take(tool, &format!("tools[{number}]"))?;
        }
        tools.flatten();
        Ok(tools)
    }

    /// The `tools` of a chat request.
    pub(super) fn to_chat(&self) -> impl Iterator<Item = ToolPart<'_>> {
        self.offers.iter().map(|offer| ToolPart { json: offer.to_chat(), place: Some(&offer.place) })
    }

    /// The names that the model sees, in their order.
    pub(super) fn flat_names(&self) -> impl Iterator<Item = &str> {
        self.offers.iter().map(|offer| offer.flat.as_str())
    }

    /// The name on offer to the model for a client's own name.
    pub(super) fn flat(&self, namespace: Option<&str>, name: &str) -> Option<&str> {
        let number = self.numbers.get(&namespace.map(str::to_owned))?.get(name)?;
        self.offers.get(*number).map(|offer| offer.flat.as_str())
    }

    /// The name on offer for a name in a choice, where the namespace may be missing as long as one tool is meant.
    pub(super) fn chosen(&self, namespace: Option<&str>, name: &str) -> Option<&str> {
        self.flat(namespace, name).or_else(|| {
            let means = |offer: &&Offer| offer.name == name || offer.flat == name || offer.whole_name() == name;
            let mut meant = self.offers.iter().filter(means).filter(|_| namespace.is_none());
            let only = meant.next()?;
            meant.next().is_none().then_some(only.flat.as_str())
        })
    }

    /// The name under which a call of the past is shown to the model, whether or not its tool is still on offer.
    pub(super) fn past(&self, namespace: Option<&str>, name: &str) -> String {
        match (self.flat(namespace, name), namespace) {
            (Some(flat), _) => flat.to_owned(),
            (None, Some(namespace)) => joined(namespace, name),
            (None, None) => name.to_owned(),
        }
    }

    /// The client's own namespace and name for the name that the model called.
    pub(super) fn own<'a>(&'a self, flat: &'a str) -> (Option<&'a str>, &'a str) {
        let offer = self.offers.iter().find(|offer| offer.flat == flat);
        offer.map_or((None, flat), |offer| (offer.namespace.as_deref(), &offer.name))
    }

    /// Whether the tool that the model called takes plain text.
    pub(super) fn is_custom(&self, flat: &str) -> bool {
        self.offers.iter().any(|offer| offer.flat == flat && offer.custom)
    }

    /// The place where the client wrote the function of this number.
    pub(super) fn place(&self, number: usize) -> Option<&str> {
        self.offers.get(number).map(|offer| offer.place.as_str())
    }

    /// The client's own names, for messages; those inside namespaces with them.
    pub(super) fn names(&self) -> String {
        let names: Vec<String> = self.offers.iter().map(Offer::whole_name).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }

    fn take(&mut self, tool: &Value, place: &str) -> Result<(), BadRequest> {
        let fields = Fields::at(tool, place)?;
        match fields.required_text("type", "for instance \"function\"")? {
            "namespace" => self.namespace(fields),
            kind => self.take_one(kind, fields, None, place),
        }
    }

    fn namespace(&mut self, fields: Fields<'_>) -> Result<(), BadRequest> {
        let namespace = fields.required_text("name", "it stands before the names of the tools inside")?;
        let inside = fields.place("tools");
        fields.required("tools", "it must be a list of functions")?;
        for (number, tool) in fields.list("tools")?.into_iter().flatten().enumerate() {
            let place = format!("{inside}[{number}]");
            let fields = Fields::at(tool, &place)?;
            let kind = fields.required_text("type", "for instance \"function\"")?;
            self.take_one(kind, fields, Some(namespace), &place)?;
        }
        Ok(())
    }

    fn take_one(
        &mut self,
        kind: &str,
        fields: Fields<'_>,
        namespace: Option<&str>,
        place: &str,
    ) -> Result<(), BadRequest> {
        match kind {
            "function" => self.offer(fields, namespace, place, function(fields)?),
            "custom" => self.offer(fields, namespace, place, custom_tool::function(fields)?),
            _ => Ok(()),
        }
    }

    fn offer(
        &mut self,
        fields: Fields<'_>,
        namespace: Option<&str>,
        place: &str,
        function: Map<String, Value>,
    ) -> Result<(), BadRequest> {
        let name = tool_name(fields)?;
        if self.offers.len() >= MOST_FUNCTIONS {
            let message = format!("more than {MOST_FUNCTIONS} functions were sent");
            return Err(BadRequest::at("tools", "too_many_tools", message));
        }
        let names = self.numbers.entry(namespace.map(str::to_owned)).or_default();
        if names.insert(name.to_owned(), self.offers.len()).is_some() {
            let message = format!("two tools are named {name:?}; names must be unique");
            return Err(BadRequest::at(fields.place("name"), "duplicate_tool_name", message));
        }
        self.offers.push(Offer {
            flat: name.to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
            custom: fields.text("type")? == Some("custom"),
            place: place.to_owned(),
            function,
        });
        Ok(())
    }

    /// Gives the functions inside namespaces names that nothing else on offer has.
    fn flatten(&mut self) {
        let plain = self.offers.iter().filter(|offer| offer.namespace.is_none());
        let mut taken: HashSet<String> = plain.map(|offer| offer.flat.clone()).collect();
        let mut next_numbers = HashMap::new();
        for offer in &mut self.offers {
            let Some(namespace) = &offer.namespace else { continue };
            let wanted = joined(namespace, &offer.name);
            let next_number = next_numbers.entry(wanted.clone()).or_insert(2);
            offer.flat = free_name(&wanted, &taken, next_number);
            taken.insert(offer.flat.clone());
        }
    }
}

impl Offer {
    /// `crm.get` for a function inside a namespace.
    fn whole_name(&self) -> String {
        self.namespace.as_ref().map_or_else(|| self.name.clone(), |namespace| format!("{namespace}.{}", self.name))
    }

    fn to_chat(&self) -> String {
        let name = ("name".to_owned(), self.flat.as_str().into());
        let function: Map<String, Value> = std::iter::once(name).chain(self.function.clone()).collect();
        json!({"type": "function", "function": function}).to_string()
    }
}

fn tool_name(fields: Fields<'_>) -> Result<&str, BadRequest> {
    let name = fields.required_text("name", "a tool needs a name")?;
    if name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') {
        return Ok(name);
    }
    let message = format!("{name:?} is no tool name; use letters, digits, _ and - only");
    Err(BadRequest::at(fields.place("name"), "invalid_tool_name", message))
}

/// The chat form of a function, without its name.
fn function(fields: Fields<'_>) -> Result<Map<String, Value>, BadRequest> {
    let mut function = Map::new();
    if let Some(description) = fields.text("description")? {
        function.insert("description".to_owned(), description.into());
    }
    if let Some(parameters) = fields.object("parameters")? {
        function.insert("parameters".to_owned(), parameters.clone().into());
    }
    if let Some(strict) = fields.boolean("strict")? {
        function.insert("strict".to_owned(), strict.into());
    }
    Ok(function)
}

/// `files` and `read` make `files__read`; characters that are not allowed in a function name become `_`.
fn joined(namespace: &str, name: &str) -> String {
    let clean: String =
        namespace.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    let whole = format!("{}__{name}", clean.trim_end_matches('_'));
    if whole.len() > LONGEST_NAME { name.to_owned() } else { whole }
}

/// The name, or the first free one of those with a number; lower numbers than the next are taken.
fn free_name(wanted: &str, taken: &HashSet<String>, next_number: &mut usize) -> String {
    let mut name = wanted.to_owned();
    while taken.contains(&name) {
        name = format!("{wanted}_{next_number}");
        *next_number += 1;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tools: &Value) -> Result<Tools, BadRequest> {
        Tools::read(tools.as_array())
    }

    /// Namespaces that become the same name. Trying all numbers for each would take minutes.
    #[test]
    fn colliding_names_are_numbered_in_linear_time() {
        let namespace = |number: usize| {
            let spaces: String =
                format!("{number:012b}").chars().map(|bit| if bit == '0' { '?' } else { '!' }).collect();
            json!({"type": "namespace", "name": format!("n{spaces}"), "tools": [{"type": "function", "name": "f"}]})
        };
        let tools = read(&(0..MOST_FUNCTIONS).map(namespace).collect()).unwrap();
        let names: Vec<&str> = tools.flat_names().collect();
        assert_eq!((names.first(), names.last()), (Some(&"n__f"), Some(&"n__f_4096")));
        assert_eq!(tools.flat(Some("n????????????"), "f"), Some("n__f"));
    }

    #[test]
    fn faults_name_their_place() {
        let table = [
            (json!([1]), "tools[0]", "invalid_type"),
            (json!([{}]), "tools[0].type", "missing_required_field"),
            (json!([{"type": "function"}]), "tools[0].name", "missing_required_field"),
            (json!([{"type": "function", "name": "a b"}]), "tools[0].name", "invalid_tool_name"),
            (json!([{"type": "function", "name": "a", "parameters": 1}]), "tools[0].parameters", "invalid_type"),
            (json!([{"type": "function", "name": "a", "strict": 1}]), "tools[0].strict", "invalid_type"),
            (json!([{"type": "function", "name": "a", "description": 1}]), "tools[0].description", "invalid_type"),
            (
                json!([{"type": "function", "name": "a"}, {"type": "function", "name": "a"}]),
                "tools[1].name",
                "duplicate_tool_name",
            ),
            (json!([{"type": "namespace", "name": "n"}]), "tools[0].tools", "missing_required_field"),
            (
                json!([{"type": "web_search"}, {"type": "namespace", "name": "n", "tools": [{"type": "function"}]}]),
                "tools[1].tools[0].name",
                "missing_required_field",
            ),
        ];
        for (tools, param, code) in table {
            let error = read(&tools).expect_err(&tools.to_string());
            assert_eq!((error.param.as_deref(), error.code), (Some(param), code), "{tools}");
        }
    }

    #[test]
    fn namespaces_are_flattened_and_found_again() {
        let inside = |name: &str| json!({"type": "function", "name": name});
        let long = "n".repeat(80);
        let tools = read(&json!([
            {"type": "namespace", "name": "mcp__files", "description": "d", "tools": [inside("read"), {"type": "computer_use"}]},
            {"type": "namespace", "name": "mcp__files__", "tools": [inside("read")]},
            {"type": "web_search"},
            inside("mcp__files__read_2"),
            inside("read"),
            {"type": "namespace", "name": "a.b", "tools": [inside("c")]},
            {"type": "namespace", "name": long, "tools": [inside("read")]},
        ]))
        .unwrap();
        let table = [
            (Some("mcp__files"), "read", "mcp__files__read", "tools[0].tools[0]"),
            (Some("mcp__files__"), "read", "mcp__files__read_3", "tools[1].tools[0]"),
            (None, "mcp__files__read_2", "mcp__files__read_2", "tools[3]"),
            (None, "read", "read", "tools[4]"),
            (Some("a.b"), "c", "a_b__c", "tools[5].tools[0]"),
            (Some(long.as_str()), "read", "read_2", "tools[6].tools[0]"),
        ];
        for (number, (namespace, name, flat, place)) in table.into_iter().enumerate() {
            assert_eq!(tools.flat(namespace, name), Some(flat));
            assert_eq!(tools.own(flat), (namespace, name));
            assert_eq!(tools.place(number), Some(place));
        }
        assert_eq!(tools.past(Some("gone"), "read"), "gone__read");
        assert_eq!(tools.own("other"), (None, "other"));
    }

    #[test]
    fn a_chat_tool_has_the_nested_form() {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        let tools = read(&json!([
            {"type": "function", "name": "a", "description": "d", "parameters": schema, "strict": true},
            {"type": "function", "name": "b", "parameters": null, "strict": null},
        ]))
        .unwrap();
        let expected = json!([
            {"type": "function", "function": {"name": "a", "description": "d", "parameters": schema, "strict": true}},
            {"type": "function", "function": {"name": "b"}},
        ]);
        let chat: Vec<Value> = tools.to_chat().map(|tool| serde_json::from_str(&tool.json).unwrap()).collect();
        assert_eq!(Value::Array(chat), expected);
    }
}
