// One tool of a character: its schema, its figures, and a form that runs it in a conversation as a model's call would.

import { post } from "../api.js";
import { href } from "../router.js";
import { html, useState } from "../ui.js";
import { counted, duration } from "./format.js";
import { Problem } from "./problem.js";
import { SchemaForm } from "./schema-form.js";
import { violationList } from "./verdict.js";

/** `place` is the conversation of the runs: `{ id(): promise of an id }`. */
export function ToolByHand({ character, tool, figures, place }) {
  const [state, setState] = useState({});
  const run = async (args) => {
    setState({ busy: true });
    try {
      const conversation = await place.id();
      setState({ result: await post(`v1/characters/${encodeURIComponent(character)}/tools/${encodeURIComponent(tool.name)}`, { conversation, arguments: args }) });
    } catch (error) {
      setState({ error });
    }
  };
  return html`
    <details class="tool">
      <summary><code>${tool.name}</code> <span class="small muted figures">${figuresLine(figures)}</span></summary>
      <div class="tool-body">
        <p class="small">${tool.description}</p>
        <${SchemaForm} schema=${tool.parameters} label=${`Run ${tool.name}`} busy=${state.busy} onRun=${run} />
        ${state.error && html`<${Problem} error=${state.error} />`}
        ${state.result && html`<${Result} result=${state.result} deadline=${tool.timeout_ms} />`}
        <details><summary class="small">Schema</summary><pre tabindex="0">${JSON.stringify(tool.parameters, null, 2)}</pre></details>
      </div>
    </details>
  `;
}

function figuresLine(figures) {
  if (!figures) return "";
  const calls = Object.values(figures.calls).reduce((sum, number) => sum + number, 0);
  const parts = [counted(calls, "call")];
  if (figures.calls.repaired) parts.push(`${figures.calls.repaired} repaired`);
  if (figures.errors) parts.push(`${figures.errors} failed`);
  if (figures.run.p50_ms !== null) parts.push(`p50 ${duration(figures.run.p50_ms)}, p95 ${duration(figures.run.p95_ms)}`);
  return parts.join(" · ");
}

function Result({ result, deadline }) {
  const failed = result.error_type !== null;
  const changed = result.sequence !== null ? ` · entry ${result.sequence} of the journal` : "";
  return html`
    <div class="result" role="status">
      <div class="small"><span class=${`chip ${failed ? "refused" : "valid"}`}>${failed ? result.error_type.replaceAll("_", " ") : "ok"}</span> <span class="muted">${duration(result.duration_ms)} of ${deadline} ms${changed}</span></div>
      ${result.repairs.length > 0 && html`<p class="small">Repaired: ${violationList(result.repairs)}</p>`}
      <pre tabindex="0" class=${failed ? "failed" : ""}>${result.result}</pre>
      <p class="small muted">In the conversation <a href=${href(["talk", result.conversation])}><code>${result.conversation}</code></a></p>
    </div>
  `;
}
