// The board of a conversation: the character's VIEW of its state, and the journal with undo. Follows every change, from any client.

import { get, post } from "../api.js";
import * as live from "../live.js";
import { href, route } from "../router.js";
import { effect, html, useEffect, useMemo, signal } from "../ui.js";
import { BoardPart } from "./board-parts.js";
import { Journal } from "./journal.js";
import { Problem } from "./problem.js";
import { child } from "./pointer.js";

const MOST_ENTRIES = 1000;

/** `character` is its description with `view`; without a conversation the board is empty. */
export function BoardOf({ character, conversation }) {
  const board = useMemo(() => new Board(conversation), [conversation]);
  useEffect(() => effect(() => board.follow()), [board]);
  const { state, error } = board;
  return html`
    <aside class="board" aria-label="Board" aria-live="off">
      <div class="board-head">
        <h2 class="board-title">${character.view.title ?? "Board"}</h2>
        ${conversation && route.value.view !== "board" && html`<a class="quiet" href=${href(["board", conversation])} target="_blank" rel="noopener">Open alone</a>`}
      </div>
      ${error.value && html`<${Refusal} board=${board} />`}
      ${state.value === null ? html`<p class="small muted">Fills as soon as ${character.name} changes something.</p>` : html`<${Parts} board=${board} view=${character.view} />`}
    </aside>
  `;
}

function Parts({ board, view }) {
  return html`
    <div class="board-parts">${view.parts.map((part, index) => html`<${BoardPart} key=${index} part=${part} board=${board} />`)}</div>
    <${Journal} board=${board} open=${!view.parts.some(({ show }) => show === "timeline")} />
  `;
}

/** An undo that was refused, with the way out where there is one. */
export function Refusal({ board }) {
  const { error, call } = board.error.value;
  return html`
    <div class="warning" role="alert">
      <p>${error.message}</p>
      <div class="row">
        ${call && error.status === 409 && html`<button type="button" onClick=${() => board.undo(call, "cascade")}>Undo it and everything after</button>`}
        <button type="button" onClick=${() => (board.error.value = null)}>Leave it</button>
      </div>
    </div>
  `;
}

export class Board {
  constructor(conversation) {
    this.conversation = conversation;
    this.state = signal(null);
    this.journal = signal([]);
    this.error = signal(null);
    this.reading = Promise.resolve();
  }

  /** Reads again whenever the conversation was written. */
  follow() {
    const { id, version } = live.conversation.value;
    if (this.conversation && (id !== this.conversation || version !== null)) this.read();
  }

  /** One reading after the other, so that the newest state stays. */
  read() {
    this.reading = this.reading.then(() => this.readOnce()).catch((error) => (this.error.value = { error }));
  }

  async readOnce() {
    const path = `v1/conversations/${this.conversation}`;
    const [found, journal] = await Promise.all([get(`${path}/state`), get(`${path}/journal`, { limit: MOST_ENTRIES })]);
    this.journal.value = journal.data;
    this.state.value = found.character === null ? null : found.state;
  }

  async undo(call, mode = "single") {
    this.error.value = null;
    try {
      await post(`v1/conversations/${this.conversation}/undo`, { call_id: call, mode });
    } catch (error) {
      this.error.value = { error, call };
    }
    this.read();
  }

  /** The call that added an entry to the state, where it can be undone. */
  callThatAdded(path, key) {
    const place = child(path, key);
    const isAddition = ({ op, path: changed }) => op === "add" && changed === place;
    const entry = this.journal.value.findLast(({ patch, undone_by }) => !undone_by && patch.some(isAddition));
    return entry?.undoes ? null : entry?.call_id;
  }
}
