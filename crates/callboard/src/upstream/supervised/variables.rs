//! The environment of a model server: the usual variables, those of its kind, and those that its settings name.
//!
//! Callboard's own environment has its keys and the password of its database; they are no business of a model server.

use std::ffi::{OsStr, OsString};

use callboard_python::is_named;

/// What programs need anywhere, and what GPUs, their libraries and the common model servers read. `*` matches the rest of a name.
const USUAL: &[&str] = &[
    "CONDA_*",
    "CUDA_*",
    "GGML_*",
    "GPU_*",
    "HF_*",
    "HIP_*",
    "HOME",
    "HSA_*",
    "HUGGINGFACE_*",
    "HUGGING_FACE_*",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "LD_*",
    "LLAMA_*",
    "LOGNAME",
    "MKL_*",
    "NCCL_*",
    "NVIDIA_*",
    "OLLAMA_*",
    "OMP_*",
    "ONEAPI_*",
    "PATH",
    "PYENV_*",
    "PYTHON*",
    "PYTORCH_*",
    "REQUESTS_CA_BUNDLE",
    "ROCM_*",
    "ROCR_*",
    "SGLANG_*",
    "SGL_*",
    "SHELL",
    "SSL_CERT_*",
    "SYCL_*",
    "TMPDIR",
    "TORCH*",
    "TRANSFORMERS_*",
    "TRITON_*",
    "TZ",
    "USER",
    "UV_*",
    "VIRTUAL_ENV",
    "VK_*",
    "VLLM_*",
    "XDG_*",
    "ZE_*",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "ALL_PROXY",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
];

/// The variables that a server gets. An entry of the settings names variables to pass on, or sets one: `NAME=value`.
pub(super) fn variables_for(
    own: impl Iterator<Item = (OsString, OsString)>,
    entries: &[String],
) -> Vec<(OsString, OsString)> {
    let (set, named): (Vec<&str>, Vec<&str>) =
        entries.iter().map(String::as_str).partition(|entry| entry.contains('='));
    let is_visible = |name: &OsStr| USUAL.iter().chain(&named).any(|pattern| is_named(name, pattern));
    let set = set.iter().filter_map(|entry| entry.split_once('='));
    own.filter(|(name, _)| is_visible(name)).chain(set.map(|(name, value)| (name.into(), value.into()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_not_passed_on() {
        let own =
            ["PATH", "CUDA_VISIBLE_DEVICES", "CALLBOARD_API_KEYS", "OPENAI_API_KEY", "MY_A", "MY_B", "LD_PRELOAD"];
        let own = own.map(|name| (OsString::from(name), OsString::from("x")));
        let entries = ["MY_A".to_owned(), "OLLAMA_HOST=127.0.0.1:{port}".to_owned(), "LD_PRELOAD=".to_owned()];
        let got = variables_for(own.into_iter(), &entries);
        let got: Vec<String> =
            got.iter().map(|(name, value)| format!("{}={}", name.display(), value.display())).collect();
        let expected = [
            "PATH=x",
            "CUDA_VISIBLE_DEVICES=x",
            "MY_A=x",
            "LD_PRELOAD=x",
            "OLLAMA_HOST=127.0.0.1:{port}",
            "LD_PRELOAD=",
        ];
        assert_eq!(got, expected, "a variable that is set replaces one that is passed on, as it comes later");
    }
}
