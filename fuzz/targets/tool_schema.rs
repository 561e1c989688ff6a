//! Schemas of tools, and calls checked against them: bounded work, and what comes out is valid as it is.

use callboard_core::contract::json::read_schema;
use callboard_core::contract::{CallRules, CheckBudget, RawCall, SchemaLimits, ToolSet, check_arguments};

use super::fields::{fields, joined, text};
use super::golden_seeds::GoldenParts;

pub(crate) const TOKENS: &[&str] = &[
    "{\"type\":\"function\",\"function\":{\"name\":\"t\",\"parameters\":{\"type\":\"object\",\"properties\":{",
    "\"$ref\":\"#/$defs/a\"",
    "\"$ref\":\"#\"",
    "\"$defs\":{\"a\":",
    "\"$dynamicRef\":\"#a\"",
    "\"$id\":\"",
    "\"$anchor\":\"a\"",
    "\"anyOf\":[",
    "\"allOf\":[",
    "\"oneOf\":[",
    "\"not\":{",
    "\"if\":{",
    "\"then\":{",
    "\"items\":{",
    "\"prefixItems\":[",
    "\"contains\":{",
    "\"uniqueItems\":true",
    "\"pattern\":\"^(a+)+$\"",
    "\"patternProperties\":{\"^a\":",
    "\"additionalProperties\":false",
    "\"unevaluatedProperties\":false",
    "\"propertyNames\":{",
    "\"dependentSchemas\":{",
    "\"required\":[\"a\"]",
    "\"enum\":[1,\"a\",null]",
    "\"const\":1",
    "\"multipleOf\":0.01",
    "\"minimum\":1e400",
    "\"format\":\"date-time\"",
    "\"nullable\":true",
    "\"type\":[\"integer\",\"null\"]",
    "\"strict\":true",
];

const MOST_BYTES: usize = 64 << 10;

pub(crate) fn seeds(golden: &GoldenParts) -> Vec<Vec<u8>> {
    let input = |(tools, (name, arguments)): (&String, &(String, String))| {
        joined(&[tools.as_bytes(), name.as_bytes(), arguments.as_bytes()])
    };
    golden.tools.iter().cycle().zip(&golden.calls).map(input).collect()
}

pub(crate) fn run(data: &[u8]) {
    let [tools, name, arguments] = fields(data);
    let Ok(tools) = read_schema(&text(tools)) else { return };
    let Ok(tools) = ToolSet::compile(&tools, SchemaLimits::default()) else { return };
    let call = RawCall { name: text(name).into(), arguments: text(arguments).into(), ..RawCall::default() };
    check(&call, &tools);
    // The arguments are tried on every tool: most mutations would otherwise miss its name.
    for name in tools.names() {
        check(&RawCall { name: name.to_owned(), ..call.clone() }, &tools);
    }
}

fn check(call: &RawCall, tools: &ToolSet) {
    match check_arguments(call, tools, &CallRules::default(), &mut CheckBudget::new(MOST_BYTES)) {
        Err(violation) => assert!(!violation.message.is_empty()),
        Ok(checked) => checked.iter().for_each(|checked| {
            let again = RawCall {
                name: checked.tool.clone(),
                arguments: checked.arguments.as_str().to_owned(),
                ..RawCall::default()
            };
            let valid = check_arguments(&again, tools, &CallRules::default(), &mut CheckBudget::new(usize::MAX))
                .expect("valid arguments");
            let [valid] = valid.as_slice() else { panic!("one call became {valid:?}") };
            assert_eq!(valid.arguments, checked.arguments, "valid arguments are left unchanged");
            assert_eq!(valid.repairs, [""; 0], "valid arguments need no repair");
        }),
    }
}
