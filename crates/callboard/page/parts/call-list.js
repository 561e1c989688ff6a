// A long list of calls: only the rows in sight are in the document, so that thousands scroll smoothly.

import { clock, count, counted, duration } from "./format.js";
import { keyOf } from "./call-feed.js";
import { Verdict, violationList } from "./verdict.js";
import { href, navigate } from "../router.js";
import { html, useEffect, useRef, useState } from "../ui.js";

const ROW = 41;
const BEYOND = 12;

/** `onEnd` is called when the rows in sight come near the last one. */
export function CallList({ calls, hasMore, onEnd, query, chosen }) {
  const body = useRef(null);
  const { first, last } = useRowsInSight(body, calls.length);
  useEffect(() => {
    if (last >= calls.length - BEYOND) onEnd();
  }, [last, calls.length]);
  return html`
    <div class="call-list">
      <div class="small muted" role="status">${hasMore ? `the newest ${count(calls.length)} entries` : counted(calls.length, "entry", "entries")}</div>
      <table aria-rowcount=${hasMore ? -1 : calls.length}>
        <thead><tr><th>When</th><th>Tool</th><th class="wide">Client</th><th class="wide">Model</th><th>Verdict</th><th class="num">Time</th></tr></thead>
        <tbody ref=${body}>
          <${Space} rows=${first} />
          ${calls.slice(first, last).map((call, place) => html`<${Row} key=${keyOf(call)} call=${call} place=${first + place + 1} query=${query} chosen=${call.turn === chosen} />`)}
          <${Space} rows=${calls.length - last} />
        </tbody>
      </table>
    </div>
  `;
}

/** Takes the room of rows that are not in the document. */
function Space({ rows }) {
  return rows > 0 && html`<tr class="space" aria-hidden="true" style=${{ height: `${rows * ROW}px` }}><td></td></tr>`;
}

function Row({ call, place, query, chosen }) {
  const target = href(["calls", call.turn], query);
  const open = (event) => event.target.closest("a") || navigate(["calls", call.turn], query);
  return html`
    <tr class="call-row" aria-rowindex=${place} aria-selected=${chosen ? "true" : null} onClick=${open}>
      <td class="mono">${clock(call.at_ms)}</td>
      <td class="tool"><a href=${target} title=${call.tool ?? ""}>${call.tool ? html`<code>${call.tool}</code>` : html`<span class="muted">${call.path ?? "no call"}</span>`}</a></td>
      <td class="wide clip">${clientName(call)}</td>
      <td class="wide clip">${[call.character, call.model].filter(Boolean).join(" · ")}</td>
      <td><${Ending} call=${call} /></td>
      <td class="num">${duration(call.duration_ms ?? call.turn_ms)}</td>
    </tr>
  `;
}

function Ending({ call }) {
  if (!call.verdict) {
    return call.turn_outcome === "complete" ? html`<span class="muted small">answered</span>` : html`<span class="chip refused" title=${call.error ?? ""}>${call.turn_outcome}</span>`;
  }
  const failed = call.outcome === "error" && html` <span class="muted small">${call.error_type === "timeout" ? "timed out" : "failed"}</span>`;
  return html`<span title=${violationList(call.violations)}><${Verdict} verdict=${call.verdict} />${failed}</span>`;
}

/** The program of a client, without what follows it in its name. */
export function clientName({ client, endpoint }) {
  if (endpoint === "tool") return "by hand";
  if (!client) return endpoint;
  if (client.startsWith("Mozilla/")) return "browser";
  return client.split(/[\s;(]/)[0].replace("/", " ");
}

/** The rows that are in the window, and some beyond. */
function useRowsInSight(body, total) {
  const [rows, setRows] = useState({ first: 0, last: Math.min(total, 60) });
  useEffect(() => {
    let frame = 0;
    const measure = () => {
      frame = 0;
      if (!body.current) return;
      const top = -body.current.getBoundingClientRect().top;
      const first = Math.min(Math.max(0, Math.floor(top / ROW) - BEYOND), Math.max(0, total - 1));
      const last = Math.min(total, Math.ceil((top + innerHeight) / ROW) + BEYOND);
      setRows((now) => (now.first === first && now.last === last ? now : { first, last: Math.max(first, last) }));
    };
    const soon = () => (frame ||= requestAnimationFrame(measure));
    measure();
    addEventListener("scroll", soon, { passive: true });
    addEventListener("resize", soon);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener("scroll", soon);
      removeEventListener("resize", soon);
    };
  }, [total]);
  return rows;
}
