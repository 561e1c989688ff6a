//! Which software a model server runs, by two things that it says itself: who owns its models, and an endpoint that only that software has.
//!
//! A server that is not known by both gets no probe of its own accord: it may be anything, down to the script of a test.

use serde_json::Value;

/// A kind of model server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Software {
    name: &'static str,
    /// `owned_by` in its list of models.
    owner: &'static str,
    /// Where it tells its version, from the root of the server.
    pub(super) path: &'static str,
    /// What the document there says about itself: a JSON pointer, and text that is part of it.
    sign: (&'static str, &'static str),
    /// Where in it the version is; empty where it names none.
    version: &'static str,
}

#[rustfmt::skip]
const KNOWN: [Software; 7] = [
    Software { name: "llama.cpp",        owner: "llamacpp",           path: "/props",             sign: ("/build_info", ""),           version: "/build_info" },
    Software { name: "llama-cpp-python", owner: "me",                 path: "/openapi.json",      sign: ("/info/title", "llama.cpp"),  version: "/info/version" },
    Software { name: "vLLM",             owner: "vllm",               path: "/version",           sign: ("/version", ""),              version: "/version" },
    Software { name: "SGLang",           owner: "sglang",             path: "/get_server_info",   sign: ("/version", ""),              version: "/version" },
    Software { name: "Ollama",           owner: "library",            path: "/api/version",       sign: ("/version", ""),              version: "/version" },
    Software { name: "LM Studio",        owner: "organization_owner", path: "/api/v0/models",     sign: ("/data/0/compatibility_type", ""), version: "" },
    Software { name: "KoboldCpp",        owner: "koboldcpp",          path: "/api/extra/version", sign: ("/result", "KoboldCpp"),      version: "/version" },
];

/// Whether the software of this name and version takes several requests at a time. llama-cpp-python ends a stream when another request
/// comes.
pub(super) fn is_concurrent(version: &str) -> bool {
    !version.starts_with("llama-cpp-python")
}

impl Software {
    /// The software that a list of models may come from.
    pub(super) fn of_list(list: &[Value]) -> Option<Self> {
        let owns = |owner: &str| list.iter().any(|entry| entry.get("owned_by").and_then(Value::as_str) == Some(owner));
        KNOWN.into_iter().find(|software| owns(software.owner))
    }

    /// Its name and version by the document at its path; none where that is of something else.
    pub(super) fn version(&self, document: &Value) -> Option<String> {
        let text = |pointer: &str| document.pointer(pointer).and_then(Value::as_str);
        text(self.sign.0).filter(|text| text.contains(self.sign.1))?;
        let version = text(self.version).unwrap_or_default();
        Some(format!("{} {version}", self.name).trim_end().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn software_is_known_by_its_list_and_its_own_endpoint() {
        for (owner, document, expected) in [
            ("llamacpp", json!({"build_info": "b4567-ab12", "total_slots": 1}), Some("llama.cpp b4567-ab12")),
            (
                "me",
                json!({"openapi": "3.1.0", "info": {"title": "🦙 llama.cpp Python API", "version": "0.3.16"}}),
                Some("llama-cpp-python 0.3.16"),
            ),
            ("vllm", json!({"version": "0.9.1"}), Some("vLLM 0.9.1")),
            ("sglang", json!({"model_path": "m", "version": "0.4.6"}), Some("SGLang 0.4.6")),
            ("library", json!({"version": "0.11.4"}), Some("Ollama 0.11.4")),
            ("organization_owner", json!({"data": [{"id": "m", "compatibility_type": "gguf"}]}), Some("LM Studio")),
            ("koboldcpp", json!({"result": "KoboldCpp", "version": "1.92"}), Some("KoboldCpp 1.92")),
            ("me", json!({"openapi": "3.1.0", "info": {"title": "FastAPI", "version": "0.1.0"}}), None),
            ("vllm", json!({"error": "not found"}), None),
            ("vllm", json!(null), None),
        ] {
            let list = [json!({"id": "other"}), json!({"id": "m", "owned_by": owner})];
            let software = Software::of_list(&list).unwrap();
            assert_eq!(software.version(&document).as_deref(), expected, "{owner} {document}");
        }
        for owner in ["contract", "tests", "openai", "system", ""] {
            assert_eq!(Software::of_list(&[json!({"id": "m", "owned_by": owner})]), None, "{owner}");
        }
    }
}
