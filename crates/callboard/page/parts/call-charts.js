// What the contract did and how long turns took, over the chosen time.

import { get } from "../api.js";
import * as live from "../live.js";
import { html, useEffect, useState } from "../ui.js";
import { callParameters, rangeOf } from "./call-filter.js";
import { Lines, StackedBars } from "./chart.js";
import { clock, count, counted, duration } from "./format.js";
import { VERDICTS, verdictWord } from "./verdict.js";

const BUCKETS = 48;

export function CallCharts({ query }) {
  const figures = useFigures(query);
  if (!figures) return html`<div class="charts" aria-busy="true"><div class="chart"></div><div class="chart"></div></div>`;
  if (figures.total.turns === 0) return html`<p class="small muted">Nothing to draw in the ${rangeOf(query).label}.</p>`;
  return html`<div class="charts"><${VerdictChart} figures=${figures} /><${TimeChart} figures=${figures} /></div>`;
}

function useFigures(query) {
  const [figures, setFigures] = useState(null);
  const parameters = { ...callParameters(query), buckets: BUCKETS };
  const range = rangeOf(query).ms;
  const key = JSON.stringify([parameters, range]);
  useEffect(() => {
    let current = true;
    const since = Date.now() - range;
    get("v1/calls/summary", { ...parameters, since }).then((read) => current && setFigures(read), () => {});
    return () => (current = false);
  }, [key, live.turns.value]);
  return figures;
}

function VerdictChart({ figures: { total, buckets, complete } }) {
  const { calls } = total;
  const all = Object.values(calls).reduce((sum, number) => sum + number, 0);
  const words = [counted(all, "call"), ...VERDICTS.slice(1).map((verdict) => `${count(calls[verdict])} ${verdictWord(verdict)}`)].join(", ");
  const shown = buckets.map((bucket) => ({ parts: { ...bucket.calls, valid: bucket.calls.valid + bucket.calls.observed }, label: bucketLabel(bucket) }));
  return html`
    <div class="chart">
      <h2>What the contract did <span>${words}${!complete && " in the newest turns"}</span></h2>
      <${StackedBars} buckets=${shown} names=${VERDICTS} label=${`Calls over time: ${words}`} />
      <ul class="legend">${VERDICTS.map((verdict) => html`<li><span class="swatch ${verdict}" aria-hidden="true"></span>${verdictWord(verdict)}</li>`)}</ul>
    </div>
  `;
}

function bucketLabel({ from_ms: from, calls, turns, failed }) {
  const parts = VERDICTS.filter((verdict) => calls[verdict]).map((verdict) => `${calls[verdict]} ${verdictWord(verdict)}`);
  return [`from ${clock(from)}: ${counted(turns, "turn")}`, ...parts, failed ? `${failed} failed` : ""].filter(Boolean).join(", ");
}

function TimeChart({ figures: { total, buckets } }) {
  const { added, turn } = total;
  const words = `p50 ${duration(added.p50_ms)}, p95 ${duration(added.p95_ms)}`;
  const lines = [
    { name: "p50", values: buckets.map((bucket) => bucket.added.p50_ms) },
    { name: "p95", values: buckets.map((bucket) => bucket.added.p95_ms) },
  ];
  return html`
    <div class="chart">
      <h2>Time added by Callboard <span>${words}, of turns that took ${duration(turn.p50_ms)} and ${duration(turn.p95_ms)}</span></h2>
      <${Lines} lines=${lines} label=${`Time added by Callboard over time: ${words}`} />
      <ul class="legend"><li><span class="swatch p50" aria-hidden="true"></span>median</li><li><span class="swatch p95" aria-hidden="true"></span>95th percentile</li></ul>
    </div>
  `;
}
