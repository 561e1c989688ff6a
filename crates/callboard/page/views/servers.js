// Servers: which model servers there are, what is known of them, how to connect one, and how to point clients at this Callboard.

import { get } from "../api.js";
import { ConnectionTest } from "../parts/connection-test.js";
import { clients, SERVERS } from "../parts/connections.js";
import { Copyable } from "../parts/copy.js";
import { Empty } from "../parts/empty.js";
import { counted, duration } from "../parts/format.js";
import { KnownModels } from "../parts/known-models.js";
import { Problem } from "../parts/problem.js";
import { apiKey } from "../session.js";
import { html, useEffect, useState } from "../ui.js";

const MOST_MODELS = 12;

export default function Servers() {
  const [{ servers, error, busy }, setState] = useState({});
  const look = () => {
    setState((now) => ({ ...now, busy: true }));
    get("v1/upstreams", { ask: true }).then(
      ({ data }) => setState({ servers: data }),
      (failure) => setState((now) => ({ ...now, error: failure, busy: false })),
    );
  };
  useEffect(look, []);
  return html`
    <section class="full servers" aria-labelledby="servers-title">
      <div class="heading"><h1 id="servers-title">Servers</h1><button type="button" class="reload" disabled=${busy} onClick=${look}>${busy ? "Asking …" : "Ask again"}</button></div>
      ${error && html`<${Problem} error=${error} retry=${look} />`}
      <ul class="server-list" aria-busy=${String(!servers)}>${servers?.map((server) => html`<li key=${server.url}><${Server} server=${server} /></li>`)}</ul>
      ${servers?.every(({ built_in: own }) => own) && html`<${NoServer} />`}
      <section class="group" aria-labelledby="test-title"><h2 id="test-title">Try it as a client would</h2>
        <p class="small muted">One question with a tool, sent to <code>${location.origin}/v1</code>.</p>
        <${ConnectionTest} models=${servers?.flatMap(({ state }) => state.models) ?? []} />
      </section>
      <section class="group" aria-labelledby="clients-title"><h2 id="clients-title">Point a client at this Callboard</h2><${Recipes} all=${clients(location.origin, apiKey.value !== "")} /></section>
      <section class="group" aria-labelledby="connect-title"><h2 id="connect-title">Connect a model server</h2><${Recipes} all=${SERVERS} /></section>
    </section>
  `;
}

function NoServer() {
  return html`
    <${Empty} title="No model server is connected">
      <p>The rehearsal model answers: it is built in, follows rules, and calls tools by the words that are said. It is there to try everything; for real work connect a model server, for instance:</p>
      <${Copyable} text="callboard --upstream http://127.0.0.1:11434/v1" />
    <//>
  `;
}

function Server({ server }) {
  const { url, state, in_flight: running, set_aside: aside, contract } = server;
  const well = state.answers && !aside;
  const activity = [
    state.answers && !server.built_in && `listed its models in ${duration(state.took_ms)}`,
    running > 0 && `${counted(running, "request")} in flight`,
  ].filter(Boolean);
  return html`
    <article class="server">
      <div class="heading">
        <h2><span class="dot" data-state=${well ? "ok" : "lost"} aria-hidden="true"></span>${server.built_in ? "Rehearsal model" : url}</h2>
        ${activity.length > 0 && html`<span class="small muted">${activity.join(" · ")}</span>`}
      </div>
      <p class=${state.answers || server.process?.state === "starting" ? "small" : "problem"}>${wordsOf(server)}</p>
      ${aside && html`<p class="warning">Skipped for a while after repeated failures; it is tried again by itself.</p>`}
      ${server.process && html`<${Process} process=${server.process} answers=${state.answers} />`}
      ${contract !== "enforce" && html`<p class="warning">Contract mode <code>${contract}</code>: its calls are passed on as they come.</p>`}
      ${state.models.length > 0 && html`<${Models} models=${state.models} />`}
      <${KnownModels} server=${server} />
    </article>
  `;
}

/** The process of a server that Callboard starts: its state where it answers (else that is said already), and what it printed before it ended. */
function Process({ process: { words, last_exit: exit }, answers }) {
  return html`
    ${answers && html`<p class="small muted">Started by Callboard: it ${words}.</p>`}
    ${exit?.output.length > 0 && html`<details><summary class="small">What it printed before it ended</summary><pre class="small">${exit.output.join("\n")}</pre></details>`}
  `;
}

function wordsOf({ built_in: own, state, has_key: key }) {
  if (own) return "Built in, rule-based, always there. Clients ask for it as the model rehearsal.";
  const sentence = state.words.charAt(0).toUpperCase() + state.words.slice(1);
  return key ? `${sentence}. Callboard sends it a key of its own.` : `${sentence}.`;
}

function Models({ models }) {
  const [all, setAll] = useState(false);
  const shown = all ? models : models.slice(0, MOST_MODELS);
  return html`
    <ul class="models">${shown.map((model) => html`<li class="mono">${model}</li>`)}
      ${models.length > shown.length && html`<li><button type="button" class="quiet" onClick=${() => setAll(true)}>${models.length - shown.length} more</button></li>`}
    </ul>
  `;
}

function Recipes({ all }) {
  return html`<div class="recipes">${all.map((recipe) => html`<${Recipe} ...${recipe} />`)}</div>`;
}

function Recipe({ name, text, note }) {
  return html`
    <details class="recipe"><summary>${name}</summary>
      ${text && html`<${Copyable} text=${text} />`}
      ${note && html`<p class="small muted">${note}</p>`}
    </details>
  `;
}
