// A call of a tool: one quiet line, and behind it what the model wrote, what became of it, and why.

import { classes, html } from "../ui.js";
import { Diff } from "./diff.js";
import { Verdict, violationList } from "./verdict.js";

const LONGEST_LINE = 200;
const LONGEST_TEXT = 20_000;

/** `call` is `{ name, args, output, failed, done, outcome, bad, timing, deadline }`; all but the name may be missing. */
export function CallLine({ call, open = false }) {
  return html`
    <details class="call" open=${open}>
      <summary>
        <code class="name">${call.name}</code>
        <span class="args mono">${argumentsLine(call.args)}</span>
        <span class="marks">
          ${call.failed && call.outcome === "valid" && html`<span class="chip refused">${failureWord(call)}</span>`}
          <${VerdictOrState} done=${call.done} outcome=${call.outcome} />
        </span>
        <${Time} took=${call.timing?.duration_ms} deadline=${call.deadline} done=${call.done} />
      </summary>
      <${CallDetail} call=${call} />
    </details>
  `;
}

function VerdictOrState({ outcome, done }) {
  return outcome ? html`<${Verdict} verdict=${outcome} />` : html`<span class="chip">${done ? "done" : "running"}</span>`;
}

function failureWord({ timing }) {
  return timing?.error_type === "timeout" ? "timed out" : "failed";
}

function Time({ took, deadline, done }) {
  const share = took === undefined || !deadline ? 0 : Math.min(100, (took / deadline) * 100);
  const shown = took === undefined ? (done ? "" : "…") : milliseconds(took) + (deadline ? ` of ${deadline} ms` : " ms");
  return html`
    <span class="time num">
      <span class="track" aria-hidden="true"><i class=${classes({ late: share >= 80 })} style=${{ width: `${share}%` }}></i></span>
      <span>${shown}</span>
    </span>
  `;
}

function milliseconds(number) {
  if (number < 0.1) return "<0.1";
  return number < 10 ? number.toFixed(1) : String(Math.round(number));
}

function CallDetail({ call }) {
  const { bad } = call;
  return html`
    <div class="detail">
      ${bad && html`<${BadCall} bad=${bad} />`}
      ${!bad?.after?.length && call.args && html`<${Labelled} label="Arguments" text=${pretty(call.args)} />`}
      ${call.output !== null && call.output !== undefined && html`<${Labelled} label=${call.failed ? "Error" : "Result"} text=${pretty(call.output)} />`}
    </div>
  `;
}

/** Before and after of a call that was not valid as the model wrote it. */
export function BadCall({ bad }) {
  return html`
    <div>
      <div class="label">The model wrote</div>
      ${bad.before ? html`<${Change} bad=${bad} />` : html`<p class="small muted">Not recorded. <code>trace.content = true</code> in the settings records what models write.</p>`}
    </div>
    <p class="small">${bad.reason ?? repairs(bad)}</p>
  `;
}

/** Several calls that were written as one stand below each other. */
function Change({ bad: { before, after = [] } }) {
  const renamed = after.some(({ name }) => name !== before.name);
  const shown = (call) => cut(renamed ? `${call.name} ${call.arguments}` : call.arguments);
  if (after.length === 0) return html`<pre tabindex="0">${shown(before)}</pre>`;
  return html`<${Diff} before=${shown(before)} after=${after.map(shown).join("\n")} />`;
}

function repairs({ violations, paths = [] }) {
  const places = paths.length ? html` at ${paths.map((path, index) => html`${index ? ", " : ""}<code>${path}</code>`)}` : "";
  return html`${violationList(violations)}${places}`;
}

export function Labelled({ label, text }) {
  return html`<div><div class="label">${label}</div><pre tabindex="0">${cut(text)}</pre></div>`;
}

function argumentsLine(args) {
  const values = parsed(args);
  if (values === null || typeof values !== "object") return (args ?? "").slice(0, LONGEST_LINE);
  const parts = Object.entries(values).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return parts.join(" · ").slice(0, LONGEST_LINE);
}

function pretty(text) {
  const value = parsed(text);
  return value !== null && typeof value === "object" ? JSON.stringify(value, null, 2) : (text ?? "");
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function cut(text) {
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)} … ${text.length - LONGEST_TEXT} more characters` : text;
}
