//! Which form of tool calls a model was trained on, recognised by its name.

/// A family of models that share one form of tool calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Family {
    /// JSON in `<tool_call>`: Hermes, Qwen, and every model that nothing else is known of.
    #[default]
    Hermes,
    /// Tags in `<tool_call>`: Qwen3-Coder and Qwen since 3.5.
    QwenCoder,
    /// Bare JSON: Llama 3 and 4.
    Llama,
    /// `[TOOL_CALLS]`.
    Mistral,
    /// Control tokens with wide bars: DeepSeek V3, R1 and V3.1.
    DeepSeek,
    /// DeepSeek's tags since V3.2.
    Dsml,
    /// Control tokens and numbered ids: Kimi K2.
    Kimi,
    /// Pairs of keys and values: GLM since 4.5.
    Glm,
    /// `<invoke>` tags: MiniMax M2.
    MiniMax,
}

/// Parts of a model's name that tell its family. The first that occurs decides: a name may hold those of several families,
/// where one was trained further in the form of another.
const NAMES: &[(Family, &[&str])] = &[
    (Family::Hermes, &["hermes", "distill", "tool-use"]),
    (
        Family::QwenCoder,
        &["qwen3-coder", "qwen3coder", "qwen-3-coder", "qwen3.5", "qwen3.6", "qwen3.7", "qwen3.8", "nemotron-3"],
    ),
    (Family::Dsml, &["deepseek-v3.2", "deepseek-v4"]),
    (Family::Hermes, &["deepseek-v2", "deepseek-coder", "deepseek-llm", "deepseek-math", "deepseek-vl"]),
    (Family::DeepSeek, &["deepseek"]),
    (Family::Kimi, &["kimi-k", "kimi-linear"]),
    (Family::Glm, &["glm-4.5", "glm-4.6", "glm-4.7", "glm4.5", "glm4.6", "glm4.7", "glm-5"]),
    (Family::MiniMax, &["minimax-m2", "minimax-m3"]),
    (Family::Llama, &["llama-3", "llama3", "llama-4", "llama4"]),
    (Family::Mistral, &["mistral", "mixtral", "ministral", "magistral", "devstral", "codestral", "pixtral", "voxtral"]),
];

impl Family {
    /// The name of its format.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Hermes => "Hermes",
            Self::QwenCoder => "Qwen3-Coder",
            Self::Llama => "Llama",
            Self::Mistral => "Mistral",
            Self::DeepSeek => "DeepSeek",
            Self::Dsml => "DeepSeek V3.2",
            Self::Kimi => "Kimi",
            Self::Glm => "GLM",
            Self::MiniMax => "MiniMax",
        }
    }

    /// The family of a model.
    #[must_use]
    pub fn of(model: &str) -> Self {
        let name = model.to_ascii_lowercase().replace(['_', ' '], "-");
        let known = NAMES.iter().find(|(_, parts)| parts.iter().any(|part| name.contains(part)));
        known.map_or(Self::Hermes, |(family, _)| *family)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_belong_to_families() {
        for (model, family) in [
            ("Qwen/Qwen2.5-7B-Instruct", Family::Hermes),
            ("Qwen2.5-Coder-32B-Instruct", Family::Hermes),
            ("Qwen/Qwen3-30B-A3B", Family::Hermes),
            ("qwen3-coder:30b", Family::QwenCoder),
            ("Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8", Family::QwenCoder),
            ("Qwen3_Coder_Next", Family::QwenCoder),
            ("/models/Qwen3.5-397B-A17B-FP8", Family::QwenCoder),
            ("meta-llama/Llama-3.1-8B-Instruct", Family::Llama),
            ("llama3.2:3b", Family::Llama),
            ("Meta Llama 3.3 70B", Family::Llama),
            ("NousResearch/Hermes-3-Llama-3.1-8B", Family::Hermes),
            ("llama3-groq-tool-use", Family::Hermes),
            ("teknium/OpenHermes-2.5-Mistral-7B", Family::Hermes),
            ("mistralai/Mistral-7B-Instruct-v0.3", Family::Mistral),
            ("devstral-small-2507", Family::Mistral),
            ("deepseek-ai/DeepSeek-V3-0324", Family::DeepSeek),
            ("deepseek-r1:671b", Family::DeepSeek),
            ("DeepSeek-R1-Distill-Qwen-7B", Family::Hermes),
            ("deepseek-coder-33b-instruct", Family::Hermes),
            ("deepseek-ai/DeepSeek-V3.2-Exp", Family::Dsml),
            ("deepseek-v4-flash", Family::Dsml),
            ("moonshotai/Kimi-K2-Instruct", Family::Kimi),
            ("zai-org/GLM-4.6", Family::Glm),
            ("glm-4-9b-chat", Family::Hermes),
            ("MiniMaxAI/MiniMax-M2", Family::MiniMax),
            ("openai/gpt-oss-120b", Family::Hermes),
            ("gemma-3-12b-it", Family::Hermes),
            ("", Family::Hermes),
        ] {
            assert_eq!(Family::of(model), family, "{model}");
        }
    }
}
