//! Where a `$ref` leads inside its own document: by JSON pointer, anchor, or to the root.
//!
//! Identifiers below the root would change what a reference means, and so would an anchor that occurs twice: such references are not
//! resolved, and their schema is refused.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

/// Keywords whose value names another schema.
pub(super) const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// The places in one document that references can name.
#[derive(Debug)]
pub(super) struct References<'s> {
    root: &'s Value,
    anchors: HashMap<&'s str, &'s Value>,
    repeated_anchors: HashSet<&'s str>,
    embedded_ids: bool,
    id_keyword: &'static str,
}

impl<'s> References<'s> {
    pub(super) fn new(root: &'s Value) -> Self {
        let draft = root.get("$schema").and_then(Value::as_str).unwrap_or_default();
        let mut references = Self {
            root,
            anchors: HashMap::new(),
            repeated_anchors: HashSet::new(),
            embedded_ids: false,
            id_keyword: if draft.contains("draft-04") || draft.contains("draft-03") { "id" } else { "$id" },
        };
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
        let is_anchor = |id: &&str| id.starts_with('#');
        let id = text(self.id_keyword);
        let old_anchor = id.filter(is_anchor).map(|id| id.trim_start_matches('#'));
        for anchor in [text("$anchor"), text("$dynamicAnchor"), old_anchor].into_iter().flatten() {
            if self.anchors.insert(anchor, node).is_some_and(|known| !std::ptr::eq(known, node)) {
                self.repeated_anchors.insert(anchor);
            }
        }
        // Another `$schema` would change what the keywords below it mean.
        let is_resource = id.is_some_and(|id| !is_anchor(&id)) || text("$schema").is_some();
        self.embedded_ids |= is_resource && !std::ptr::eq(node, self.root);
    }

    /// Whether parts of the document have identifiers of their own.
    pub(super) fn has_embedded_ids(&self) -> bool {
        self.embedded_ids
    }

    /// The schema that a reference names.
    pub(super) fn resolve(&self, reference: &str) -> Option<&'s Value> {
        if self.embedded_ids {
            return None;
        }
        let own = self.root.get(self.id_keyword).and_then(Value::as_str).map(|id| id.trim_end_matches('#'));
        let local = own.and_then(|id| reference.strip_prefix(id)).unwrap_or(reference);
        match local.strip_prefix('#').unwrap_or(local) {
            "" if local.is_empty() || local == "#" => Some(self.root),
            pointer if pointer.starts_with('/') && local.starts_with('#') => self.root.pointer(&decoded(pointer)),
            anchor if local.starts_with('#') && !self.repeated_anchors.contains(anchor) => {
                self.anchors.get(anchor).copied()
            }
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
        for part in
            [json!({"$id": "https://example.com/a"}), json!({"$schema": "http://json-schema.org/draft-04/schema#"})]
        {
            assert!(References::new(&json!({"$defs": {"a": part}})).resolve("#/$defs/a").is_none());
        }
        let old =
            json!({"$schema": "http://json-schema.org/draft-04/schema#", "definitions": {"a": {"id": "http://x/a"}}});
        assert!(References::new(&old).resolve("#/definitions/a").is_none());
    }

    #[test]
    fn an_anchor_that_occurs_twice_is_not_resolved() {
        let schema = json!({"default": {"$anchor": "a"}, "$defs": {"x": {"$anchor": "a"}, "y": {"$anchor": "b"}}});
        let references = References::new(&schema);
        assert!(references.resolve("#a").is_none() && references.resolve("#b").is_some());
    }
}
