//! The exact difference of two values as a patch: numbers digit by digit, members in their order.
//!
//! JSON has no order of members, but people see one: an undone removal must not move a unit to the end of its list. So where
//! the order would differ, members are removed and added again.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::operation::{Change, Operation, Patch};
use super::pointer::Pointer;

/// Values nested deeper than this are replaced as a whole.
const DEPTH: usize = 128;

/// The patch that turns `old` into `new`.
pub(super) fn diff(old: &Value, new: &Value) -> Patch {
    difference(old, new, Order::Kept)
}

/// The patch that turns `old` into `new` and touches nothing else, so members may end up in another order.
pub(crate) fn diff_regardless_of_order(old: &Value, new: &Value) -> Patch {
    difference(old, new, Order::Free)
}

#[derive(Clone, Copy, PartialEq)]
enum Order {
    Kept,
    Free,
}

fn difference(old: &Value, new: &Value, order: Order) -> Patch {
    let mut walk = Walk { order, operations: Vec::new() };
    walk.values(&Pointer::default(), old, new);
    Patch(walk.operations)
}

struct Walk {
    order: Order,
    operations: Vec<Operation>,
}

impl Walk {
    fn push(&mut self, path: Pointer, change: Change) {
        self.operations.push(Operation { path, change });
    }

    fn values(&mut self, path: &Pointer, old: &Value, new: &Value) {
        let deep = path.tokens().len() >= DEPTH;
        match (old, new) {
            (Value::Object(old), Value::Object(new)) if !deep => self.objects(path, old, new),
            (Value::Array(old), Value::Array(new)) if !deep => self.arrays(path, old, new),
            (old, new) if same(old, new) => {}
            (_, new) => self.push(path.clone(), Change::Replace(new.clone())),
        }
    }

    fn objects(&mut self, path: &Pointer, old: &Map<String, Value>, new: &Map<String, Value>) {
        let staying = match self.order {
            Order::Kept => staying_in_order(old, new),
            Order::Free => new.keys().filter(|key| old.contains_key(*key)).collect(),
        };
        let stays: HashSet<&str> = staying.iter().map(|key| key.as_str()).collect();
        for key in old.keys().filter(|key| !stays.contains(key.as_str())) {
            self.push(path.then(key), Change::Remove);
        }
        for key in &staying {
            if let (Some(old), Some(new)) = (old.get(*key), new.get(*key))
                && !same(old, new)
            {
                self.values(&path.then(key), old, new);
            }
        }
        for (key, value) in new.iter().filter(|(key, _)| !stays.contains(key.as_str())) {
            self.push(path.then(key), Change::Add(value.clone()));
        }
    }

    /// Equal ends are skipped; between them elements change in place, and the rest is removed or added.
    fn arrays(&mut self, path: &Pointer, old: &[Value], new: &[Value]) {
        let shorter = old.len().min(new.len());
        let head = (0..shorter).take_while(|at| pair(old, new, *at, *at)).count();
        let tail = (1..=shorter - head).take_while(|back| pair(old, new, old.len() - back, new.len() - back)).count();
        let (old_end, new_end) = (old.len() - tail, new.len() - tail);
        let both = old_end.min(new_end);
        for at in head..both {
            if let (Some(old), Some(new)) = (old.get(at), new.get(at)) {
                self.values(&path.then(at), old, new);
            }
        }
        for at in (both..old_end).rev() {
            self.push(path.then(at), Change::Remove);
        }
        for (at, value) in new.iter().enumerate().take(new_end).skip(both) {
            self.push(path.then(at), Change::Add(value.clone()));
        }
    }
}

fn pair(old: &[Value], new: &[Value], old_at: usize, new_at: usize) -> bool {
    matches!((old.get(old_at), new.get(new_at)), (Some(old), Some(new)) if same(old, new))
}

/// The first members of the new object, as far as they follow each other in the old one too.
fn staying_in_order<'a>(old: &Map<String, Value>, new: &'a Map<String, Value>) -> Vec<&'a String> {
    let mut ahead = old.keys();
    new.keys().take_while(|key| ahead.any(|old| old == *key)).collect()
}

/// Equal in every digit and in the order of members.
fn same(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Array(old), Value::Array(new)) => {
            old.len() == new.len() && old.iter().zip(new).all(|(old, new)| same(old, new))
        }
        (Value::Object(old), Value::Object(new)) => {
            old.len() == new.len()
                && old.iter().zip(new).all(|((old_key, old), (new_key, new))| old_key == new_key && same(old, new))
        }
        (old, new) => old == new,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_small_and_exact() {
        let cases = [
            ("1", "1", "[]"),
            ("1", "1.0", r#"[{"op":"replace","path":"","value":1.0}]"#),
            (r#"{"a":1}"#, r#"{"a":1,"b":[]}"#, r#"[{"op":"add","path":"/b","value":[]}]"#),
            (r#"{"a":1,"b":2}"#, r#"{"b":2}"#, r#"[{"op":"remove","path":"/a"}]"#),
            (r#"{"a":{"b":1}}"#, r#"{"a":{"b":null}}"#, r#"[{"op":"replace","path":"/a/b","value":null}]"#),
            ("[1,2]", "[1,2,3]", r#"[{"op":"add","path":"/2","value":3}]"#),
            ("[1,2,3]", "[1,3]", r#"[{"op":"remove","path":"/1"}]"#),
            (
                "[1,2,3,4]",
                "[1]",
                r#"[{"op":"remove","path":"/3"},{"op":"remove","path":"/2"},{"op":"remove","path":"/1"}]"#,
            ),
            ("[[1],[2]]", "[[1],[3]]", r#"[{"op":"replace","path":"/1/0","value":3}]"#),
            (
                r#"{"b":2,"c":3}"#,
                r#"{"b":2,"a":1,"c":3}"#,
                r#"[{"op":"remove","path":"/c"},{"op":"add","path":"/a","value":1},{"op":"add","path":"/c","value":3}]"#,
            ),
        ];
        for (old, new, expected) in cases {
            let (old, new): (Value, Value) = (serde_json::from_str(old).unwrap(), serde_json::from_str(new).unwrap());
            let patch = diff(&old, &new);
            assert_eq!(serde_json::to_string(&patch).unwrap(), expected, "{old} -> {new}");
            assert_eq!(patch.apply(&old).unwrap().to_string(), new.to_string());
            assert_eq!(diff(&new, &old).apply(&new).unwrap().to_string(), old.to_string());
        }
    }

    #[test]
    fn order_may_be_given_up() {
        let (old, new) = (serde_json::json!({"b": 2, "c": 3}), serde_json::json!({"b": 2, "a": 1, "c": 3}));
        let patch = diff_regardless_of_order(&old, &new);
        assert_eq!(serde_json::to_string(&patch).unwrap(), r#"[{"op":"add","path":"/a","value":1}]"#);
    }
}
