// One turn on one time line: where the time went, what the model wrote, what was changed and why, and what the client got.

import { get, send } from "../api.js";
import { clientName } from "../parts/call-list.js";
import { CopyButton, Copyable } from "../parts/copy.js";
import { curlOf, isRepeatable } from "../parts/curl.js";
import { Diff } from "../parts/diff.js";
import { clock, duration, pretty } from "../parts/format.js";
import { Problem } from "../parts/problem.js";
import { TimeLine } from "../parts/time-line.js";
import { Verdict, violationList } from "../parts/verdict.js";
import { href } from "../router.js";
import { apiKey } from "../session.js";
import { html, useEffect, useState } from "../ui.js";

export function Turn({ id }) {
  const [{ trace, error }, setState] = useState({});
  useEffect(() => {
    let current = true;
    get(`v1/traces/${encodeURIComponent(id)}`).then(
      (read) => current && setState({ trace: read }),
      (failure) => current && setState({ error: failure }),
    );
    return () => (current = false);
  }, [id]);
  if (error) return html`<${Problem} error=${error} />`;
  return trace ? html`<${Trace} trace=${trace} />` : html`<p class="muted" role="status">Loading the turn …</p>`;
}

function Trace({ trace }) {
  return html`
    <${Heading} trace=${trace} />
    <section><h2>Steps</h2><${TimeLine} trace=${trace} /></section>
    ${(trace.bad_calls ?? []).map((call) => html`<${BadCall} call=${call} />`)}
    <${Calls} trace=${trace} />
    <${Texts} trace=${trace} />
    <${TakeAlong} trace=${trace} />
  `;
}

function Heading({ trace }) {
  const who = trace.character ? html`<a href=${href(["calls"], { character: trace.character })}>${trace.character}</a> · ` : "";
  const tokens = trace.usage && ` · ${trace.usage.prompt_tokens} + ${trace.usage.completion_tokens} tokens`;
  const failed = trace.outcome !== "complete";
  return html`
    <header class="turn-heading">
      <h1>${titleOf(trace)}</h1>
      <div class="small">${who}${trace.model && html`<a href=${href(["calls"], { model: trace.model })}>${trace.model}</a> · `}${clientName(trace)} · ${clock(trace.started_at_ms)}</div>
      <div class="small muted"><span class="mono">${trace.request_id}</span> · ${duration(trace.duration_ms)}${tokens}</div>
      ${failed && html`<div class="problem">${trace.error ? `Failed with ${trace.error.status} ${trace.error.code}` : "The client left before the end"}</div>`}
    </header>
  `;
}

function titleOf({ tool_calls: calls, bad_calls: bad = [], method, path }) {
  if (path) return `${method} ${path}`;
  const names = [...new Set([...calls.map(({ name }) => name), ...bad.map(({ tool }) => tool)])].filter(Boolean);
  if (names.length === 0) return "A turn without calls";
  return names.length > 2 ? `${names[0]} and ${names.length - 1} more` : names.join(" and ");
}

function BadCall({ call }) {
  const after = call.after?.map(textOf).join("\n");
  return html`
    <section class="bad-call">
      <h2><code>${call.tool}</code> <${Verdict} verdict=${call.outcome} /></h2>
      ${call.before && after && html`<${Diff} before=${textOf(call.before)} after=${after} />`}
      ${call.before && !after && html`<div class="label">The model wrote</div><pre tabindex="0">${textOf(call.before)}</pre>`}
      <p class="small">${sentence(violationList(call.violations))}${placesOf(call)}</p>
      ${call.reason && html`<p class="small">${sentence(call.reason)}</p>`}
    </section>
  `;
}

function textOf({ name, arguments: text }) {
  return `${name} ${text}`;
}

function placesOf({ paths = [] }) {
  const places = paths.filter(Boolean);
  return places.length > 0 && html`: ${places.map((path, place) => html`${place > 0 && ", "}<code>${path.slice(1)}</code>`)}`;
}

function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function Calls({ trace }) {
  if (trace.tool_calls.length === 0) return null;
  return html`
    <section>
      <h2>${trace.character ? "What ran" : "What the client was asked to run"}</h2>
      <ul class="ran">${trace.tool_calls.map((call) => html`<li key=${call.id}><${Call} call=${call} /></li>`)}</ul>
    </section>
  `;
}

function Call({ call }) {
  const failed = call.outcome === "error";
  const ended = call.run_by === "character" && ` · ${failed ? call.error_type : call.outcome}`;
  return html`
    <div class="small"><a href=${href(["calls"], { tool: call.name })}><code>${call.name || "no name"}</code></a> <span class="muted">${call.run_by === "character" ? duration(call.duration_ms) : ""}${ended}${call.changed_state ? " · changed the state" : ""}</span></div>
    ${call.arguments && html`<pre tabindex="0">${call.arguments}</pre>`}
    ${call.result !== undefined && html`<pre tabindex="0" class=${failed ? "failed" : ""}>${call.result}</pre>`}
  `;
}

function Texts({ trace }) {
  const { input, output, upstream_requests: requests } = trace;
  if (!input.request && !input.messages && output.text === undefined && requests.every(({ reply }) => !reply)) {
    return html`
      <section><h2>Content</h2>
        <p class="small">What was said is not recorded, only its size: ${input.bytes} bytes in, ${output.bytes} out. To record what clients send and what models write:</p>
        <${Copyable} text="CALLBOARD_TRACE_CONTENT=true callboard" />
      </section>
    `;
  }
  return html`
    <section class="texts"><h2>Word for word</h2>
      <${Text} title="What the client sent" text=${pretty(JSON.stringify(input.request ?? input.messages))} />
      ${requests.map((request, place) => request.reply && html`<${Text} title=${`What the model wrote${requests.length > 1 ? ` (${place + 1})` : ""}, raw bytes`} text=${request.reply} note=${cutNote(request)} />`)}
      ${output.text && html`<${Text} title="What the client got" text=${output.text} />`}
    </section>
  `;
}

function cutNote({ reply, reply_bytes: bytes }) {
  return bytes > new TextEncoder().encode(reply).length ? `The beginning of ${bytes} bytes.` : "";
}

function Text({ title, text, note = "" }) {
  return html`<details><summary>${title}</summary>${note && html`<p class="small muted">${note}</p>`}<pre tabindex="0">${text}</pre></details>`;
}

function TakeAlong({ trace }) {
  const [error, setError] = useState(null);
  if (!isRepeatable(trace)) return null;
  const download = async () => {
    try {
      await save(`v1/traces/${trace.id}/golden_page`);
      setError(null);
    } catch (failure) {
      setError(failure);
    }
  };
  return html`
    <section class="take-along">
      <${CopyButton} label="Copy as curl" text=${() => curlOf(trace, location.origin, apiKey.value !== "")} />
      <button type="button" onClick=${download}>Export as a golden page</button>
      ${error && html`<${Problem} error=${error} />`}
    </section>
  `;
}

/** Saves a document under the name that it comes with. */
async function save(path) {
  const response = await send(path);
  const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? "page.md";
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
