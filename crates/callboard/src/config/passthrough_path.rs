//! Paths that the settings may have passed through to model servers: those of applications, never those that administer a server.

/// Segments of paths with which servers load, unload and stop models, or show what others ask (vLLM, SGLang, llama.cpp, Ollama, LM Studio,
/// LocalAI).
const ADMINISTRATION: [&str; 49] = [
    "abort_request",
    "add_sample",
    "admin",
    "apply",
    "blobs",
    "clear_hicache_storage_backend",
    "collective_rpc",
    "configure_logging",
    "copy",
    "create",
    "delete",
    "destroy_weights_update_group",
    "download",
    "flush_cache",
    "freeze_gc",
    "get_weights_by_name",
    "init_weights_update_group",
    "is_sleeping",
    "load",
    "load_lora_adapter",
    "lora-adapters",
    "manage",
    "metrics",
    "models",
    "pause_generation",
    "props",
    "ps",
    "pull",
    "push",
    "quit",
    "release_memory_occupation",
    "reload",
    "reset_encoder_cache",
    "reset_mm_cache",
    "reset_prefix_cache",
    "resume_memory_occupation",
    "scale_elastic_ep",
    "server_info",
    "set_internal_state",
    "shutdown",
    "sleep",
    "slots",
    "start_profile",
    "stop_profile",
    "unload",
    "unload_lora_adapter",
    "update_weights_from_disk",
    "update_weights_from_tensor",
    "wake_up",
];

/// Whether a setting may name this path.
pub(super) fn is_allowed(path: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let fits = |segment: &str| {
        !segment.is_empty()
            && segment.bytes().all(is_plain)
            && !segment.bytes().all(|byte| byte == b'.')
            && !ADMINISTRATION.contains(&segment.to_ascii_lowercase().as_str())
    };
    path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(fits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_applications_are_allowed() {
        for (path, allowed) in [
            ("/v1/score", true),
            ("/detokenize", true),
            ("/api/embed", true),
            ("/v1/audio.x/a_b-c", true),
            ("v1/score", false),
            ("/", false),
            ("/v1/", false),
            ("/v1/*", false),
            ("/v1/../sleep", false),
            ("/v1/score?x", false),
            ("/v1/a%2fb", false),
            ("/sleep", false),
            ("/v1/load_lora_adapter", false),
            ("/api/Pull", false),
            ("/models/load", false),
            ("", false),
        ] {
            assert_eq!(is_allowed(path), allowed, "{path}");
        }
    }
}
