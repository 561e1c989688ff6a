// What can be looked up beside a thread: what the model is given, and earlier conversations.

import { get, remove } from "../api.js";
import { Board, Refusal } from "../parts/board.js";
import { Journal } from "../parts/journal.js";
import { Problem } from "../parts/problem.js";
import { Labelled } from "../parts/call.js";
import { href } from "../router.js";
import { effect, html, useEffect, useMemo, useRef, useState } from "../ui.js";
import { textOf } from "./items.js";

const LISTED = 30;

/** A panel over the page. It is closed by Escape, its button, or a click beside it. */
export function Panel({ title, close, children }) {
  const dialog = useRef(null);
  useEffect(() => dialog.current.showModal(), []);
  return html`
    <dialog ref=${dialog} class="panel" aria-label=${title} onClose=${close} onClick=${(event) => event.target === dialog.current && dialog.current.close()}>
      <div class="panel-body">
        <header><h2>${title}</h2><button type="button" onClick=${() => dialog.current.close()}>Close</button></header>
        ${children}
      </div>
    </dialog>
  `;
}

function useRead(read, key) {
  const [state, setState] = useState({});
  useEffect(() => {
    read().then((value) => setState({ value }), (error) => setState({ error }));
  }, [key]);
  return state;
}

export function PromptPanel({ character, conversation, close }) {
  const { value, error } = useRead(() => get(`v1/characters/${character}/prompt`, { conversation }), `${character} ${conversation}`);
  return html`
    <${Panel} title="What the model is given" close=${close}>
      ${error && html`<${Problem} error=${error} />`}
      ${value && html`
        <${Labelled} label="System prompt" text=${value.system_prompt} />
        ${value.rules && html`<${Labelled} label="Added, because this character acts" text=${value.rules} />`}
        ${value.turn_context ? html`<${Labelled} label="Context of the next turn" text=${value.turn_context} />` : html`<p class="small muted">No context is added to a turn.</p>`}
        <div><div class="label">${value.tools.length} tools</div><ul class="tools">${value.tools.map(toolLine)}</ul></div>
      `}
    <//>
  `;
}

function toolLine({ function: { name, description } }) {
  return html`<li><code>${name}</code> <span class="small muted">${description}</span></li>`;
}

/** Every change of the state, for characters without a board too. */
export function JournalPanel({ conversation, close }) {
  const board = useMemo(() => new Board(conversation), [conversation]);
  useEffect(() => effect(() => board.follow()), [board]);
  return html`
    <${Panel} title="Changes of the state" close=${close}>
      ${board.error.value && html`<${Refusal} board=${board} />`}
      ${board.journal.value.length === 0 && html`<p class="muted">No call has changed anything in this conversation.</p>`}
      <${Journal} board=${board} open />
    <//>
  `;
}

export function HistoryPanel({ close }) {
  const { value, error } = useRead(readHistory, "");
  const [deleted, setDeleted] = useState([]);
  const kept = value?.filter(({ id }) => !deleted.includes(id));
  return html`
    <${Panel} title="Conversations" close=${close}>
      ${error && html`<${Problem} error=${error} />`}
      ${kept?.length === 0 && html`<p class="muted">None yet. Every conversation is kept here, also those of other clients.</p>`}
      ${kept && html`<ul class="history">${kept.map((entry) => html`<${HistoryEntry} key=${entry.id} entry=${entry} close=${close} gone=${() => setDeleted([...deleted, entry.id])} />`)}</ul>`}
    <//>
  `;
}

function HistoryEntry({ entry: { id, character, updated_at, first }, close, gone }) {
  const when = new Date(updated_at * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
  return html`
    <li><a href=${href(["talk", id])} onClick=${close}>
      <span dir="auto">${first || "Empty conversation"}</span>
      <span class="small muted">${character ?? "model"} · ${when}</span>
    </a><${DeleteButton} id=${id} about=${first} gone=${gone} /></li>
  `;
}

/** Asks once more: what is deleted is gone. */
function DeleteButton({ id, about, gone }) {
  const [label, setLabel] = useState("Delete");
  const press = () => {
    if (label === "Delete") return setLabel("Really delete?");
    remove(`v1/conversations/${id}`).then(gone, (error) => setLabel(error.message));
  };
  return html`<button type="button" class="quiet" aria-label=${`${label}: ${about || "empty conversation"}`} onClick=${press} onBlur=${() => setLabel("Delete")}>${label}</button>`;
}

async function readHistory() {
  const { data } = await get("v1/conversations", { limit: LISTED });
  return Promise.all(data.map(async (entry) => ({ ...entry, first: await firstWords(entry.id) })));
}

async function firstWords(id) {
  const { data } = await get(`v1/conversations/${id}/items`, { limit: 1, order: "asc" });
  return data.length && data[0].type === "message" ? textOf(data[0].content).slice(0, 120) : "";
}
