// What a thread is made of: turns, each a message of the user and what followed. Parts that change while they are shown are signals.

import { signal } from "../ui.js";

let lastKey = 0;

/** A turn that begins with a message of the user; without one, it holds what precedes the first. */
export function newTurn(text = null, id = null) {
  return { key: (lastKey += 1), id: signal(id), text, items: signal([]), error: signal(null), running: signal(false), trace: signal(null) };
}

export function textItem({ id, kind = "text", text = "" }) {
  return { id, kind, text: signal(text) };
}

export function callItem({ id, name, args = "", runBy = "character" }) {
  return {
    id,
    kind: "call",
    name,
    runBy,
    args: signal(args),
    output: signal(null),
    failed: signal(false),
    done: signal(false),
    verdict: signal(null),
    timing: signal(null),
    round: signal(1),
  };
}

/** The id that a call has in traces and in the journal. */
export function callIdOf(item) {
  return item.id.startsWith("mcp_") ? `call_${item.id.slice(4)}` : item.id;
}

/** The turns of stored items, oldest first. */
export function turnsOf(stored) {
  const turns = [];
  for (const item of stored) addStored(turns, item);
  for (const turn of turns) numberRounds(turn.items.peek());
  return turns;
}

function addStored(turns, item) {
  if (item.type === "message" && item.role === "user") {
    turns.push(newTurn(textOf(item.content), item.id));
    return;
  }
  if (turns.length === 0) turns.push(newTurn());
  const items = turns.at(-1).items;
  const shown = item.type === "function_call_output" ? answer(items.peek(), item) : shownItem(item);
  if (shown) items.value = [...items.peek(), shown];
}

function shownItem(item) {
  switch (item.type) {
    case "message":
      return textItem({ id: item.id, kind: item.role === "assistant" ? "text" : "note", text: textOf(item.content) });
    case "reasoning":
      return textItem({ id: item.id, kind: "reasoning", text: textOf([...(item.summary ?? []), ...(item.content ?? [])]) });
    case "mcp_call":
      return settle(callItem({ id: item.id, name: item.name, args: item.arguments }), item);
    case "function_call":
    case "custom_tool_call":
      return callItem({ id: item.call_id, name: item.name, args: item.arguments ?? item.input, runBy: "client" });
    default:
      return textItem({ id: item.id, kind: "note", text: item.type });
  }
}

/** Puts the result of a client's call to its call. */
function answer(items, { call_id, output }) {
  const call = items.find((item) => item.kind === "call" && item.id === call_id);
  if (!call) return textItem({ id: call_id, kind: "note", text: textOf(output) });
  call.output.value = textOf(output);
  call.done.value = true;
  return null;
}

/** Takes over how a call ended. */
export function settle(call, { arguments: args, output, error, status }) {
  call.args.value = args;
  call.output.value = output ?? (error ? textOf(error.content ?? error) : null);
  call.failed.value = status === "failed" || Boolean(error);
  call.done.value = status !== "in_progress";
  return call;
}

export function textOf(content) {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return JSON.stringify(content);
  return content.map((part) => part.text ?? part.refusal ?? `[${part.type}]`).join("");
}

/** Calls that were written together are one round: a call after others have ended, or after text, begins the next one. */
export function numberRounds(items) {
  let round = 0;
  let before = null;
  for (const item of items) {
    if (item.kind !== "call") {
      before = null;
      continue;
    }
    if (!before) round += 1;
    item.round.value = round;
    before = item;
  }
}
