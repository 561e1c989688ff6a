// One conversation: its turns, and what can be done in it. Callboard holds it; this is what a page shows of it.

import { ApiError, get, post } from "../api.js";
import { batch, signal } from "../ui.js";
import { callIdOf, newTurn, turnsOf } from "./items.js";
import { streamTurn } from "./turn-stream.js";
import { applyTrace, callsOf, remember } from "./verdicts.js";

const PAGE = 100;

export class Thread {
  /** Without an id it begins with its first message. */
  constructor({ id = null, model = null }) {
    this.id = signal(id);
    this.model = signal(model);
    this.turns = signal([]);
    this.busy = signal(null);
    this.error = signal(null);
    this.loaded = signal(id === null);
    this.lastItem = null;
    this.reading = Promise.resolve();
  }

  /** Reads everything from Callboard. Where nobody has answered yet, `fallback` says who will. */
  async load(fallback = () => null) {
    try {
      const [items, state] = await Promise.all([this.itemsAfter(null), get(`${this.path()}/state`)]);
      batch(() => {
        if (state.character) this.model.value = state.character;
        this.lastItem = items.at(-1)?.id ?? null;
        this.turns.value = turnsOf(items);
        this.error.value = null;
        this.loaded.value = true;
      });
      const newest = await this.loadVerdicts();
      this.model.value ??= newest?.character ?? newest?.model ?? fallback();
    } catch (error) {
      this.error.value = error;
      this.loaded.value = true;
    }
  }

  /** Reads what came since, for instance from another client. */
  refresh() {
    // One after the other, so that nothing is added twice.
    this.reading = this.reading.then(() => this.refreshOnce()).catch((error) => (this.error.value = error));
    return this.reading;
  }

  async refreshOnce() {
    if (this.busy.peek() || !this.loaded.peek() || !this.id.peek()) return;
    const items = await this.itemsAfter(this.lastItem).catch(() => null);
    if (items === null) return void (await this.load());
    if (items.length === 0 || this.busy.peek()) return;
    this.lastItem = items.at(-1).id;
    batch(() => turnsOf(items).forEach((turn) => this.take(turn)));
    await this.loadVerdicts();
  }

  /** Adds a stored turn, or gives its id to the one that this page has sent. */
  take(stored) {
    const own = this.turns.peek().find((turn) => turn.text !== null && turn.id.peek() === null && turn.text === stored.text);
    if (!own) return void (this.turns.value = [...this.turns.peek(), stored]);
    own.id.value = stored.id.peek();
    // What a stopped turn has left is what is stored of it.
    if (own.stopped || own.error.peek()) own.items.value = stored.items.peek();
  }

  async itemsAfter(after) {
    const items = [];
    for (let page = { has_more: true, last_id: after }; page.has_more; ) {
      page = await get(`${this.path()}/items`, { order: "asc", limit: PAGE, after: page.last_id });
      items.push(...page.data);
    }
    return items;
  }

  /** Returns the newest trace. */
  async loadVerdicts(filter = { conversation: this.id.peek() }) {
    const { data } = await get("v1/traces", { ...filter, limit: PAGE });
    batch(() => {
      for (const trace of data) {
        const turn = this.turns.peek().find((turn) => isTurnOf(turn, trace));
        if (turn) applyTrace(turn, trace);
      }
    });
    return data[0];
  }

  path() {
    return `v1/conversations/${this.id.peek()}`;
  }

  /** Sends a message and shows the reply as it comes; returns the words of the reply. */
  async say(text) {
    if (this.busy.peek()) return "";
    const stop = new AbortController();
    this.busy.value = stop;
    const turn = newTurn(text);
    turn.running.value = true;
    this.turns.value = [...this.turns.peek(), turn];
    const request = await this.stream(turn, stop.signal);
    batch(() => {
      turn.running.value = false;
      this.busy.value = null;
    });
    await this.refresh();
    if (request) await this.loadVerdicts({ request_id: request }).catch(() => {});
    const words = turn.items.peek().filter((item) => item.kind === "text");
    return words.map((item) => item.text.peek()).join(" ");
  }

  /** Returns the id of the request, where the turn was complete. */
  async stream(turn, signal) {
    try {
      this.id.value ??= (await post("v1/conversations", {})).id;
      const request = { model: this.model.peek(), conversation: this.id.peek(), text: turn.text, signal };
      const { requestId, badCalls } = await streamTurn(turn, request);
      remember(requestId, badCalls);
      return requestId;
    } catch (error) {
      turn.stopped = signal.aborted;
      const broken = () => new ApiError("The connection broke off before the reply was complete.");
      if (!signal.aborted) turn.error.value = error instanceof ApiError ? error : broken();
      return null;
    }
  }

  stop() {
    this.busy.peek()?.abort();
  }

  /** Takes a turn away that was never stored, to send it again. */
  drop(turn) {
    this.turns.value = this.turns.peek().filter((other) => other !== turn);
  }

  /** A conversation that goes on differently from here: the id of the fork. */
  async forkBefore(turn) {
    return (await post(`${this.path()}/fork`, { before: turn.id.peek() })).id;
  }
}

/** The items of a response have its letters in their ids; calls are known by their own. */
function isTurnOf(turn, { response, tool_calls }) {
  const letters = response?.slice("resp_".length);
  if (letters && turn.id.peek()?.slice("msg_".length).startsWith(letters)) return true;
  const ids = new Set(tool_calls.map(({ id }) => id));
  return callsOf(turn).some((call) => ids.has(callIdOf(call)));
}
