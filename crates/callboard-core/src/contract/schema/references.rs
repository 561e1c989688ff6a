//! Where a `$ref` leads inside its own document: by JSON pointer, anchor, or to the root.
//!
//! Identifiers below the root would change what a reference means, so a schema that has both is refused.

use std::collections::HashMap;

use serde_json::Value;

/// Keywords whose value names another schema.
pub(super) const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// The places in one document that references can name.
#[derive(Debug)]
pub(super) struct References<'s> {
    root: &'s Value,
    anchors: HashMap<&'s str, &'s Value>,
    embedded_ids: bool,
}

impl<'s> References<'s> {
    pub(super) fn new(root: &'s Value) -> Self {
        let mut references = Self { root, anchors: HashMap::new(), embedded_ids: false };
        let mut waiting = vec![root];
        while let Some(node) = waiting.pop() {
            match node {
                Value::Object(map) => {
                    references.note_names(node);
                    waiting.extend(map.values());
                }
                Value::Array(list) => waiting.extend(list),
                _ => {}
            }
        }
        references
    }

    fn note_names(&mut self, node: &'s Value) {
        let text = |key| node.get(key).and_then(Value::as_str);
        for anchor in ["$anchor", "$dynamicAnchor"].into_iter().filter_map(text) {
            self.anchors.insert(anchor, node);
        }
        let is_root = std::ptr::eq(node, self.root);
        let anchor_id = |id: &str| id.starts_with('#');
        if let Some(id) = text("$id").filter(|id| anchor_id(id)) {
            self.anchors.insert(id.trim_start_matches('#'), node);
        }
        self.embedded_ids |= !is_root && text("$id").is_some_and(|id| !anchor_id(id));
    }

    /// The schema that a reference names.
    pub(super) fn resolve(&self, reference: &str) -> Option<&'s Value> {
        if self.embedded_ids {
            return None;
        }
        let own = self.root.get("$id").and_then(Value::as_str).map(|id| id.trim_end_matches('#'));
        let local = own.and_then(|id| reference.strip_prefix(id)).unwrap_or(reference);
        match local.strip_prefix('#').unwrap_or(local) {
            "" if local.is_empty() || local == "#" => Some(self.root),
            pointer if pointer.starts_with('/') && local.starts_with('#') => self.root.pointer(&decoded(pointer)),
            anchor if local.starts_with('#') => self.anchors.get(anchor).copied(),
            _ => None,
        }
    }
}

/// A fragment with its `%XX` escapes decoded.
fn decoded(fragment: &str) -> String {
    let bytes = fragment.as_bytes();
    let hex = |at: usize| fragment.get(at..at + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let escaped = if *byte == b'%' { hex(at + 1) } else { None };
        decoded.push(escaped.unwrap_or(*byte));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_inside_a_document_are_followed() {
        let schema = json!({"$id": "https://example.com/root", "$defs": {
            "a b": {"const": 1}, "named": {"$anchor": "here", "const": 2}, "old": {"$id": "#there", "const": 3}}});
        let references = References::new(&schema);
        for (reference, constant) in [
            ("#/$defs/a%20b", Some(1)),
            ("#here", Some(2)),
            ("#there", Some(3)),
            ("https://example.com/root#/$defs/named", Some(2)),
            ("https://example.com/other", None),
            ("#/$defs/none", None),
            ("#nowhere", None),
        ] {
            let found = references.resolve(reference).and_then(|found| found["const"].as_i64());
            assert_eq!(found, constant, "{reference}");
        }
        assert!(["#", ""].iter().all(|reference| std::ptr::eq(references.resolve(reference).unwrap(), &schema)));
    }

    #[test]
    fn identifiers_below_the_root_make_references_unclear() {
        let schema = json!({"$defs": {"a": {"$id": "https://example.com/a"}}});
        assert!(References::new(&schema).resolve("#/$defs/a").is_none());
    }
}
