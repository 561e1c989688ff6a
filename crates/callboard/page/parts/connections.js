// How to connect a model server, and how to point clients at this Callboard: commands to copy, with its own address.

/** Model servers, with the flags that make them call tools. */
export const SERVERS = [
  { name: "Ollama", text: "ollama pull qwen3\ncallboard", note: "Found by itself on its usual port 11434. Give the model room: OLLAMA_CONTEXT_LENGTH=16384 ollama serve." },
  {
    name: "vLLM",
    text: "vllm serve Qwen/Qwen3-8B --enable-auto-tool-choice --tool-call-parser hermes\ncallboard --upstream http://127.0.0.1:8000/v1",
    note: "The parser depends on the model (hermes, qwen3_xml, llama3_json, mistral, deepseek_v3 …). Without these flags Callboard puts the tools into the prompt and reads the calls from the text.",
  },
  {
    name: "SGLang",
    text: "python -m sglang.launch_server --model-path Qwen/Qwen3-8B --tool-call-parser qwen25\ncallboard --upstream http://127.0.0.1:30000/v1",
    note: "",
  },
  { name: "llama.cpp", text: "llama-server -hf Qwen/Qwen3-8B-GGUF --jinja\ncallboard --upstream http://127.0.0.1:8080/v1", note: "--jinja uses the model's own template for tools." },
  {
    name: "Started by Callboard",
    text: `# callboard.toml\n[[upstream]]\ncommand = ["llama-server", "-m", "model.gguf", "--port", "{port}", "--jinja"]`,
    note: "Callboard starts the server, waits until it answers, starts it again when it ends, and ends it. {port} is a free port. docs/models.md has the command for each server.",
  },
  { name: "LM Studio", text: "lms server start\ncallboard --upstream http://127.0.0.1:1234/v1", note: "Found by itself on its usual port 1234." },
  { name: "OpenAI", text: "OPENAI_API_KEY=… callboard --upstream https://api.openai.com/v1 --upstream-key-env OPENAI_API_KEY", note: "Any service with OpenAI's API is connected in the same way." },
];

/** Clients, pointed at a base URL. With API keys, `key` is what stands for one. */
export function clients(origin, hasKey) {
  const base = `${origin}/v1`;
  const key = hasKey ? "YOUR_KEY" : "any";
  return [
    { name: "Cline", text: `API Provider: OpenAI Compatible\nBase URL: ${base}\nAPI Key: ${key}\nModel ID: a name from the list above`, note: "Roo Code and Kilo Code take the same." },
    {
      name: "Codex",
      text: `# ~/.codex/config.toml\nmodel = "MODEL"\nmodel_provider = "callboard"\n[model_providers.callboard]\nname = "Callboard"\nbase_url = "${base}"\nenv_key = "CALLBOARD_KEY"\nwire_api = "responses"\nsupports_websockets = true`,
      note: `Set CALLBOARD_KEY to ${hasKey ? "one of the keys" : "any text"}.`,
    },
    {
      name: "opencode",
      text: JSON.stringify({ provider: { callboard: { npm: "@ai-sdk/openai-compatible", options: { baseURL: base, apiKey: key }, models: { MODEL: { name: "MODEL" } } } } }, null, 2),
      note: "In opencode.json.",
    },
    { name: "Claude Code", text: "", note: "It speaks Anthropic's Messages API, which Callboard does not serve yet." },
    { name: "Python SDK", text: `from openai import OpenAI\nclient = OpenAI(base_url="${base}", api_key="${key}")\nprint(client.chat.completions.create(model="MODEL", messages=[{"role": "user", "content": "Hello"}]))`, note: "" },
    { name: "JavaScript SDK", text: `import OpenAI from "openai";\nconst client = new OpenAI({ baseURL: "${base}", apiKey: "${key}" });`, note: "" },
    { name: "Any other", text: `OPENAI_BASE_URL=${base}\nOPENAI_API_KEY=${key}`, note: "Most programs that use OpenAI's API read these." },
  ];
}
