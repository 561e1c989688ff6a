// One turn as it streams: the events of a response become items, and text is added once per frame.

import { send, serverEvents } from "../api.js";
import { callItem, settle, textItem } from "./items.js";
import { isUnrun, takeBadCall, unrunCall } from "./verdicts.js";

const BAD_CALL = "callboard-call ";

/** Sends a message and fills the turn until it ends. Returns the id of the request, and the calls that were not valid. */
export async function streamTurn(turn, { model, conversation, text, signal }) {
  const body = { model, conversation, input: [{ role: "user", content: text }], stream: true };
  const response = await send("v1/responses", { method: "POST", body, headers: { "callboard-details": "calls" }, signal });
  const reader = new TurnReader(turn);
  try {
    for await (const event of serverEvents(response)) reader.read(event);
  } finally {
    reader.flush();
  }
  return { requestId: response.headers.get("x-request-id"), badCalls: reader.badCalls };
}

class TurnReader {
  constructor(turn) {
    Object.assign(this, { turn, byId: new Map(), badCalls: [], open: [], round: 0, anyDone: true, pending: new Map(), frame: null });
  }

  read({ event, data, comment }) {
    if (comment?.startsWith(BAD_CALL)) this.badCall(JSON.parse(comment.slice(BAD_CALL.length)));
    if (!data || data === "[DONE]") return;
    const message = JSON.parse(data);
    switch (event) {
      case "response.output_item.added":
        return this.add(message.item);
      case "response.output_text.delta":
      case "response.refusal.delta":
      case "response.reasoning_text.delta":
        return this.grow(message.item_id, message.delta);
      case "response.mcp_call_arguments.done":
        return this.arguments(message);
      case "response.output_item.done":
        return this.done(message.item);
      case "response.failed":
        this.turn.error.value = new Error(message.response.error?.message ?? "The turn failed.");
    }
  }

  badCall(bad) {
    this.badCalls.push(bad);
    if (!isUnrun(bad)) return void this.open.push(bad);
    const call = unrunCall(bad);
    call.round.value = this.nextRound();
    this.anyDone = true;
    this.show(call);
  }

  add(item) {
    const shown = this.shown(item);
    this.byId.set(item.id, shown);
    this.show(shown);
  }

  show(shown) {
    this.turn.items.value = [...this.turn.items.peek(), shown];
  }

  /** All calls of a round are announced before the first has run. */
  nextRound() {
    if (this.anyDone) this.round += 1;
    this.anyDone = false;
    return this.round;
  }

  shown(item) {
    if (item.type === "message") return this.beginText(item, "text");
    if (item.type === "reasoning") return this.beginText(item, "reasoning");
    const call = callItem({ id: item.id, name: item.name });
    call.round.value = this.nextRound();
    return call;
  }

  beginText(item, kind) {
    this.anyDone = true;
    return textItem({ id: item.id, kind });
  }

  arguments({ item_id, arguments: args }) {
    const call = this.byId.get(item_id);
    if (call) call.args.value = args;
  }

  done(item) {
    const shown = this.byId.get(item.id);
    if (shown?.kind !== "call") return;
    this.anyDone = true;
    settle(shown, item);
    this.open = takeBadCall(shown, this.open);
  }

  grow(id, delta) {
    this.pending.set(id, (this.pending.get(id) ?? "") + delta);
    this.frame ??= requestAnimationFrame(() => this.flush());
  }

  flush() {
    cancelAnimationFrame(this.frame);
    this.frame = null;
    for (const [id, delta] of this.pending) {
      const item = this.byId.get(id);
      if (item) item.text.value += delta;
    }
    this.pending.clear();
  }
}
