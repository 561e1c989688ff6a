// Tests a model through Callboard as a client would use it: one question with a tool, and what came of it.

import { send } from "../api.js";
import { href } from "../router.js";
import { html, useState } from "../ui.js";
import { duration } from "./format.js";
import { Problem } from "./problem.js";

const WEATHER = {
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather in a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false },
  },
};

export function ConnectionTest({ models }) {
  const [model, setModel] = useState("");
  const [state, setState] = useState({});
  const chosen = models.includes(model) ? model : models[0];
  const run = async () => {
    setState({ busy: true });
    try {
      setState({ outcome: await tryTool(chosen) });
    } catch (error) {
      setState({ error });
    }
  };
  if (!chosen) return html`<p class="small muted">No model to test.</p>`;
  return html`
    <div class="connection-test">
      <div class="actions">
        <label class="small">Model <select value=${chosen} onChange=${(event) => setModel(event.currentTarget.value)}>${models.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>
        <button type="button" class="primary" disabled=${state.busy} onClick=${run}>${state.busy ? "Asking …" : "Test the connection"}</button>
      </div>
      ${state.error && html`<${Problem} error=${state.error} />`}
      ${state.outcome && html`<${Outcome} outcome=${state.outcome} />`}
    </div>
  `;
}

async function tryTool(model) {
  const begun = performance.now();
  const messages = [{ role: "user", content: "What is the weather in Paris?" }];
  const response = await send("v1/chat/completions", { method: "POST", body: { model, messages, tools: [WEATHER] } });
  const { choices } = await response.json();
  return {
    took: performance.now() - begun,
    contract: response.headers.get("callboard-contract"),
    request: response.headers.get("x-request-id"),
    call: choices[0].message.tool_calls?.[0]?.function,
    text: choices[0].message.content,
  };
}

function Outcome({ outcome: { took, contract, request, call, text } }) {
  return html`
    <div class="result" role="status">
      <div><span class=${`chip ${call ? "valid" : "repaired"}`}>${call ? "it calls tools" : "it answers, without a call"}</span> <span class="small muted">after ${duration(took)} · contract: ${contract}</span></div>
      <pre tabindex="0">${call ? `${call.name} ${call.arguments}` : text}</pre>
      <a class="small" href=${href(["calls"], { request_id: request })}>What happened</a>
    </div>
  `;
}
