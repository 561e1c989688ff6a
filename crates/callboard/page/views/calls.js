// Calls: every call of every client and conversation, newest first, with figures over them. `#/calls/ID` shows one turn beside the list.

import { CallCharts } from "../parts/call-charts.js";
import { callParameters, filterLine, RANGES, rangeOf, readFilterLine } from "../parts/call-filter.js";
import { CallList } from "../parts/call-list.js";
import { Copyable } from "../parts/copy.js";
import { Empty } from "../parts/empty.js";
import { Problem } from "../parts/problem.js";
import { VERDICTS, verdictWord } from "../parts/verdict.js";
import { href, route, setQuery } from "../router.js";
import * as live from "../live.js";
import { classes, html, useEffect, useMemo, useState } from "../ui.js";
import { CallFeed } from "../parts/call-feed.js";
import { Turn } from "./turn.js";

export default function Calls() {
  const { path, query } = route.value;
  const turn = path[0];
  return html`
    <div class=${classes({ "calls-view": true, "with-side": turn, "has-turn": turn })}>
      <section class="full calls" aria-labelledby="calls-title">
        <div class="heading"><h1 id="calls-title">Calls</h1><${Range} query=${query} /></div>
        <${CallCharts} query=${query} />
        <${Filters} query=${query} />
        <${Feed} query=${query} turn=${turn} />
      </section>
      ${turn && html`<aside class="side" aria-label="One turn"><a class="back" href=${href(["calls"], query)}>All calls</a><${Turn} key=${turn} id=${turn} /></aside>`}
    </div>
  `;
}

function Range({ query }) {
  const change = (event) => setQuery({ range: event.currentTarget.value });
  return html`
    <label class="small muted range">Charts
      <select value=${rangeOf(query).name} onChange=${change}>
        ${RANGES.map(({ name, label }) => html`<option value=${name}>${label}</option>`)}
      </select>
    </label>
  `;
}

function Filters({ query }) {
  const line = filterLine(query);
  const submit = (event) => {
    event.preventDefault();
    setQuery(readFilterLine(new FormData(event.currentTarget).get("filter")));
  };
  const some = line || query.verdict || query.turns;
  const clear = () => setQuery({ ...readFilterLine(""), verdict: undefined, turns: undefined });
  return html`
    <form class="filters" role="search" onSubmit=${submit}>
      <input key=${line} name="filter" type="search" aria-label="Filter" defaultValue=${line} placeholder="tool:roll model:qwen3 client:cline" autocomplete="off" spellcheck="false" />
      <${VerdictButtons} query=${query} />
      <${Pressed} pressed=${query.turns === "with_calls"} onPress=${(on) => setQuery({ turns: on ? "with_calls" : undefined })}>with calls only<//>
      ${some && html`<button type="button" class="quiet" onClick=${clear}>Clear</button>`}
    </form>
  `;
}

function VerdictButtons({ query }) {
  const chosen = (query.verdict ?? "").split(",").filter(Boolean);
  const press = (verdict, on) => {
    const all = on ? [...chosen, verdict] : chosen.filter((other) => other !== verdict);
    setQuery({ verdict: all.join(",") || undefined });
  };
  return VERDICTS.map((verdict) => html`<${Pressed} pressed=${chosen.includes(verdict)} onPress=${(on) => press(verdict, on)}>${verdictWord(verdict)}<//>`);
}

function Pressed({ pressed, onPress, children }) {
  return html`<button type="button" aria-pressed=${String(pressed)} onClick=${() => onPress(!pressed)}>${children}</button>`;
}

function Feed({ query, turn }) {
  const parameters = callParameters(query);
  const key = JSON.stringify(parameters);
  const feed = useMemo(() => new CallFeed(parameters), [key]);
  const [, redraw] = useState(0);
  useEffect(() => feed.subscribe(() => redraw((number) => number + 1)), [feed]);
  useEffect(() => void feed.refresh(), [feed, live.turns.value, live.connection.value]);
  if (feed.error && feed.calls.length === 0) return html`<${Problem} error=${feed.error} retry=${() => feed.refresh()} />`;
  if (feed.calls.length === 0) return feed.loaded && html`<${NoCalls} filtered=${Boolean(query.verdict || filterLine(query) || query.turns)} />`;
  return html`<${CallList} calls=${feed.calls} hasMore=${feed.hasMore} onEnd=${() => feed.older()} query=${query} chosen=${turn} />`;
}

function NoCalls({ filtered }) {
  if (filtered) {
    return html`<${Empty} title="Nothing matches"><p>No recorded turn has a call like this. Clear the filter to see all of them.</p><//>`;
  }
  const command = `curl ${location.origin}/v1/chat/completions -H 'content-type: application/json' \\
  -d '{"model": "narrator", "messages": [{"role": "user", "content": "Roll two dice."}]}'`;
  return html`
    <${Empty} title="No calls yet">
      <p>Every turn that passes through Callboard appears here: which tool the model called, and what had to be repaired. Start one on the <a href=${href(["talk"])}>Talk</a> view, or with any client:</p>
      <${Copyable} text=${command} />
    <//>
  `;
}
