// The few parts that every board is made of: numbers, bars, tables, lists and timelines. A character's VIEW composes them.

import { classes, html } from "../ui.js";
import { at, entriesOf } from "./pointer.js";

const MOST_ROWS = 200;

export function BoardPart({ part, board }) {
  const Shown = PARTS[part.show];
  if (!Shown) return null;
  return html`
    <section class=${`part ${part.show}-part`}>
      ${part.title && html`<h2>${part.title}</h2>`}
      <${Shown} part=${part} state=${board.state.value} board=${board} />
    </section>
  `;
}

const PARTS = { facts: Facts, bars: Bars, steps: Steps, table: Table, list: List, timeline: Timeline };

function Facts({ part, state }) {
  return html`<dl class="facts">${part.items.map((item) => html`<div><dt>${item.label}</dt><dd dir="auto">${shown(at(state, item.path))}${most(item, state)}</dd></div>`)}</dl>`;
}

function most(item, value) {
  return item.of && html`<span class="muted"> / ${shown(at(value, item.of))}</span>`;
}

function Bars({ part, state }) {
  return html`<div class="bars">${part.items.map((item) => html`<${Bar} item=${item} value=${state} />`)}</div>`;
}

function Bar({ item, value }) {
  const [now, full] = [Number(at(value, item.path)), Number(at(value, item.of))];
  const share = full > 0 ? Math.max(0, Math.min(1, now / full)) : 0;
  return html`
    <div class="bar">
      <span>${item.label}</span><span class="mono muted num">${shown(at(value, item.path))} / ${shown(at(value, item.of))}</span>
      <div class="track" aria-hidden="true"><i class=${classes({ low: share < 0.4 })} style=${{ width: `${share * 100}%` }}></i></div>
    </div>
  `;
}

/** One of several texts, in their order: what is over, what is now, what is to come. */
function Steps({ part, state }) {
  const now = part.of.indexOf(at(state, part.path));
  const label = now < 0 ? "not begun" : `${part.of[now]}: ${now + 1} of ${part.of.length}`;
  const kind = (place) => (place === now ? "on" : place < now ? "past" : "");
  return html`<div class="phases" role="img" aria-label=${label}>${part.of.map((_, place) => html`<span class=${kind(place)}></span>`)}</div>`;
}

/** Rows of plain values are pairs. Rows with columns stand below each other, so that they fit a narrow board. */
function Table({ part, state }) {
  const rows = entriesOf(at(state, part.path)).slice(0, MOST_ROWS);
  if (rows.length === 0) return html`<p class="small muted">none</p>`;
  const isPlain = rows.every(([, row]) => row === null || typeof row !== "object");
  if (isPlain) return html`<dl class="pairs">${rows.map(([key, value]) => html`<div><dt><span class="hidden-label">${part.key} </span>${key}</dt><dd>${shown(value)}</dd></div>`)}</dl>`;
  return html`<ul class="rows">${rows.map(([key, row]) => html`<${Row} key=${key} name=${key} row=${row} part=${part} />`)}</ul>`;
}

function Row({ name, row, part }) {
  const columns = part.columns ?? [];
  if (part.struck && at(row, part.struck) === true) return html`<li class="row-item"><s>${name}</s> <span class="small muted">out</span></li>`;
  const measured = columns.filter(({ of }) => of);
  const others = columns.filter(({ of }) => !of);
  const full = measured.filter((column) => at(row, column.path) === at(row, column.of));
  return html`
    <li class="row-item">
      <div class="row-head">
        <span dir="auto">${name}</span>
        <span class="tags">${others.map((column) => html`<${Tags} label=${column.label} value=${at(row, column.path)} />`)}</span>
        <span class="unharmed num">${full.map((column) => `${column.label} ${shown(at(row, column.path))}`).join(" · ")}</span>
      </div>
      ${measured.filter((column) => !full.includes(column)).map((column) => html`<${Bar} item=${column} value=${row} />`)}
    </li>
  `;
}

/** True is the label itself, a list its entries; false and empty are nothing to show. */
function Tags({ label, value }) {
  if (value === false || value === null || value === undefined || value === "") return null;
  if (value === true) return html`<span class="tag">${label}</span>`;
  if (Array.isArray(value)) return value.map((entry) => html`<span class="tag">${shown(entry)}</span>`);
  return html`<span class="tag">${label} ${shown(value)}</span>`;
}

function List({ part, state }) {
  const entries = entriesOf(at(state, part.path)).slice(0, MOST_ROWS);
  if (entries.length === 0) return html`<p class="small muted">none</p>`;
  return html`<ul class="plain-list">${entries.map(([key, entry]) => html`<li key=${key} dir="auto">${entryText(entry, part)}</li>`)}</ul>`;
}

function entryText(entry, part) {
  return shown(part.text ? at(entry, part.text) : entry);
}

function Timeline({ part, state, board }) {
  const entries = entriesOf(at(state, part.path)).slice(-MOST_ROWS).reverse();
  if (entries.length === 0) return html`<p class="small muted">Nothing has happened yet.</p>`;
  return html`<ol class="timeline" reversed>${entries.map(([key, entry]) => html`<${TimelineEntry} key=${key} name=${key} entry=${entry} part=${part} board=${board} />`)}</ol>`;
}

function TimelineEntry({ name, entry, part, board }) {
  const call = board.callThatAdded(part.path, name);
  const text = entryText(entry, part);
  return html`
    <li>
      <div class="timeline-line">
        <span dir="auto">${text} ${part.kind && html`<span class="muted">${shown(at(entry, part.kind))}</span>`}</span>
        ${call && html`<button type="button" class="quiet" aria-label=${`Undo: ${text}`} onClick=${() => board.undo(call)}>Undo</button>`}
      </div>
      <${Finding} finding=${part.finding && at(entry, part.finding)} />
    </li>
  `;
}

/** What a rule has found about an entry: its message, and the rule. */
function Finding({ finding }) {
  if (!finding) return null;
  if (typeof finding !== "object") return html`<p class="finding">${shown(finding)}</p>`;
  const { severity, message, rule, suggestion } = finding;
  if (!message) return null;
  return html`
    <p class=${classes({ finding: severity === "info", warning: severity !== "info", severe: severity === "error" })}>
      ${severity && severity !== "info" && html`<b>${severity}: </b>`}${shown(message)} ${suggestion && shown(suggestion)} ${rule && html`<code>${shown(rule)}</code>`}
    </p>
  `;
}

function shown(value) {
  if (value === undefined || value === null || value === "") return "–";
  if (Array.isArray(value)) return value.length ? value.map(shown).join(", ") : "–";
  if (typeof value === "object") return JSON.stringify(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return String(value).slice(0, 2000);
}
