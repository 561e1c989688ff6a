//! What compiled schemas hold, against what they are charged with: a cache that charges too little has no limit.

use callboard_core::contract::{CallRules, CheckBudget, RawCall, SchemaLimits, ToolSet, check_arguments};
use serde_json::{Value, json};

/// Resident memory of this process.
fn resident_bytes() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmRSS"))?;
    Some(line.split_whitespace().nth(1)?.parse::<usize>().ok()? * 1024)
}

fn set(number: usize, schema: &Value) -> Option<ToolSet> {
    let parameters = json!({"type": "object", "properties": {"a": schema, (format!("n{number}")): {}}});
    let tools = json!([{"type": "function", "function": {"name": "t", "parameters": parameters}}]);
    let limits = SchemaLimits { pattern_bytes: 1 << 30, ..SchemaLimits::default() };
    let set = ToolSet::compile(&tools, limits).ok()?;
    let call = RawCall { name: "t".into(), arguments: r#"{"a":"éxample text"}"#.into(), ..RawCall::default() };
    let _checked = check_arguments(&call, &set, &CallRules::default(), &mut CheckBudget::new(1000));
    Some(set)
}

/// By how much memory grows with so many schemas, and what they are charged with.
fn grown_and_charged(schema: impl Fn(usize) -> Value, count: usize) -> Option<(usize, usize)> {
    drop((0..3).map(|number| set(number, &schema(number))).collect::<Vec<_>>());
    let before = resident_bytes()?;
    let sets = (0..count).map(|number| set(number, &schema(number))).collect::<Option<Vec<_>>>()?;
    Some((resident_bytes()?.saturating_sub(before), sets.iter().map(ToolSet::held_bytes).sum()))
}

fn assert_charged(schema: impl Fn(usize) -> Value, count: usize) {
    let (grown, charged) = grown_and_charged(schema, count).unwrap_or_default();
    assert!(grown > 0 && grown < charged * 3 / 2, "{grown} bytes grown, {charged} bytes charged");
    assert!(charged < grown * 12, "{grown} bytes grown, {charged} bytes charged");
}

#[test]
fn patterns_are_charged_with_what_they_hold() {
    assert_charged(
        |number| json!({"type": "string", "pattern": format!(r"^\p{{L}}{{{}}}x{number}$", 20 + number % 7)}),
        40,
    );
}

#[test]
fn small_patterns_are_charged_with_what_they_hold() {
    assert_charged(|number| json!({"type": "string", "pattern": format!("^[a-z]+-{number}-[0-9]{{3}}$")}), 4_000);
}

#[test]
fn nodes_are_charged_with_what_they_hold() {
    let schema = |number: usize| {
        let parts: Vec<Value> = (0..2_000).map(|part| json!({"minimum": part + number})).collect();
        json!({"allOf": parts})
    };
    assert_charged(schema, 20);
}
