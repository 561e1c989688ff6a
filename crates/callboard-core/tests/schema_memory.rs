//! What compiled schemas hold, against what they are charged with: a cache that charges too little has no limit.

use callboard_core::contract::{CallRules, CheckBudget, RawCall, SchemaLimits, ToolSet, check_arguments};
use serde_json::{Value, json};

/// Resident memory of this process.
fn resident_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}

fn set(number: usize, schema: &Value) -> ToolSet {
    let parameters = json!({"type": "object", "properties": {"a": schema, (format!("n{number}")): {}}});
    let tools = json!([{"type": "function", "function": {"name": "t", "parameters": parameters}}]);
    let limits = SchemaLimits { pattern_bytes: 1 << 30, ..SchemaLimits::default() };
    let set = ToolSet::compile(&tools, limits).unwrap();
    let call = RawCall { name: "t".into(), arguments: r#"{"a":"éxample text"}"#.into(), ..RawCall::default() };
    let _ = check_arguments(&call, &set, &CallRules::default(), &mut CheckBudget::new(1000));
    set
}

fn assert_charged(schema: impl Fn(usize) -> Value, count: usize) {
    drop((0..3).map(|number| set(number, &schema(number))).collect::<Vec<_>>());
    let before = resident_bytes();
    let sets: Vec<ToolSet> = (0..count).map(|number| set(number, &schema(number))).collect();
    let (grown, charged) = (resident_bytes() - before, sets.iter().map(ToolSet::held_bytes).sum::<usize>());
    assert!(grown < charged * 3 / 2 && charged < grown * 12, "{grown} bytes grown, {charged} bytes charged");
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
