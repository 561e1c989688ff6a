// Characters: what is loaded, what failed to load and why, and each one's tools, with a form to run them by hand.

import { get, post } from "../api.js";
import { Copyable } from "../parts/copy.js";
import { Empty } from "../parts/empty.js";
import { counted } from "../parts/format.js";
import { LoadProblem } from "../parts/load-problem.js";
import { Problem } from "../parts/problem.js";
import { ToolByHand } from "../parts/tool-by-hand.js";
import * as live from "../live.js";
import { href, route } from "../router.js";
import { classes, html, useEffect, useMemo, useState } from "../ui.js";

/** How often the folder's state is read while the view is open. */
const LOOK = 2000;
const WEEK = 7 * 24 * 60 * 60_000;

export default function Characters() {
  const chosen = route.value.path[0];
  const { registry, error, reload, busy } = useRegistry();
  if (error && !registry) return html`<section class="full"><h1>Characters</h1><${Problem} error=${error} retry=${reload} /></section>`;
  if (!registry) return html`<section class="full" aria-busy="true"><h1>Characters</h1></section>`;
  return html`
    <div class=${classes({ "characters-view": true, "with-side": chosen, "has-character": chosen })}>
      <section class="full characters" aria-labelledby="characters-title">
        <div class="heading">
          <h1 id="characters-title">Characters</h1>
          <span class="small muted">${counted(registry.data.length, "character")} loaded from <code>${registry.folder}</code></span>
          <button type="button" class="reload" disabled=${busy} onClick=${reload}>${busy ? "Reloading …" : "Reload"}</button>
        </div>
        ${error && html`<${Problem} error=${error} />`}
        ${registry.problems.map((file) => html`<${LoadProblem} key=${file.id} file=${file} />`)}
        ${registry.data.length + registry.problems.length === 0 && html`<${NoCharacters} />`}
        <ul class="cards">${registry.data.map((character) => html`<li key=${character.id}><${Card} character=${character} chosen=${character.id === chosen} /></li>`)}</ul>
      </section>
      ${chosen && html`<aside class="side" aria-label="One character"><a class="back" href=${href(["characters"])}>All characters</a><${Character} key=${chosen} id=${chosen} /></aside>`}
    </div>
  `;
}

function useRegistry() {
  const [state, setState] = useState({});
  const read = (request) => request.then((registry) => setState({ registry }), (error) => setState((now) => ({ registry: now.registry, error })));
  const reload = () => {
    setState((now) => ({ ...now, busy: true }));
    return read(post("v1/characters/reload"));
  };
  useEffect(() => {
    const look = () => document.hidden || read(get("v1/characters"));
    look();
    const timer = setInterval(look, LOOK);
    return () => clearInterval(timer);
  }, []);
  return { ...state, reload };
}

function NoCharacters() {
  return html`
    <${Empty} title="No characters yet">
      <p>A character is one Python file: a persona, its tools, and the functions behind them. Callboard offers it to every client as a model. This writes one that works:</p>
      <${Copyable} text="callboard new bard" />
    <//>
  `;
}

function Card({ character, chosen }) {
  const { id, name, tools, model, at_rest: rests, warnings } = character;
  return html`
    <a class="card" href=${href(["characters", id])} aria-current=${chosen ? "true" : null}>
      <b>${name}</b>
      <span class="small muted">${tools.length ? counted(tools.length, "tool") : "only talks"}${model ? ` · ${model}` : ""}${rests ? " · at rest" : ""}</span>
      ${warnings.length > 0 && html`<span class="small warn-words">${counted(warnings.length, "warning")}</span>`}
    </a>
  `;
}

function Character({ id }) {
  const [{ character, error }, setState] = useState({});
  const figures = useFigures(id);
  const place = useMemo(() => new Place(), [id]);
  useEffect(() => {
    get(`v1/characters/${encodeURIComponent(id)}`).then((read) => setState({ character: read }), (failure) => setState({ error: failure }));
  }, [id]);
  if (error) return html`<${Problem} error=${error} />`;
  if (!character) return html`<p class="muted" role="status">Loading …</p>`;
  return html`
    <header class="turn-heading">
      <h1>${character.name}</h1>
      <div class="small muted"><code>${id}</code>${character.model ? ` · played by ${character.model}` : ""}</div>
      <div class="small"><a href=${href(["talk"], { with: id })}>Talk to it</a> · <a href=${href(["calls"], { character: id })}>Its calls</a></div>
    </header>
    ${character.warnings.map((warning) => html`<div class="warning">${typeof warning === "string" ? warning : warning.what}</div>`)}
    <section>
      <h2>${counted(character.tools.length, "tool")}, with a form to run them by hand</h2>
      ${character.tools.length > 0 && html`<p class="small muted">They run in a conversation of their own, with the same checks as a model's call.</p>`}
      ${character.tools.map((tool) => html`<${ToolByHand} key=${tool.name} character=${id} tool=${tool} figures=${figures[tool.name]} place=${place} />`)}
      ${character.tools.length === 0 && html`<p class="small">It only talks.</p>`}
    </section>
  `;
}

/** The figures of its tools in the last week, by name. */
function useFigures(id) {
  const [figures, setFigures] = useState({});
  useEffect(() => {
    let current = true;
    const byName = ({ tools }) => Object.fromEntries(tools.map((tool) => [tool.tool, tool]));
    get("v1/calls/summary", { character: id, since: Date.now() - WEEK, buckets: 1 }).then((read) => current && setFigures(byName(read)), () => {});
    return () => (current = false);
  }, [id, live.turns.value]);
  return figures;
}

/** The conversation in which tools are run by hand, begun with the first run. */
class Place {
  id() {
    this.begun ??= post("v1/conversations").then(({ id }) => id);
    this.begun.catch(() => (this.begun = undefined));
    return this.begun;
  }
}
