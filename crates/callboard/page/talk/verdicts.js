// What became of each call: joined from the turn's trace, and from what the stream said about calls that were not valid.

import { callIdOf, callItem } from "./items.js";

const STORED = "callboard-bad-calls";
const MOST_STORED = 50;
const UNRUN = "unrun-";

let lastUnrun = 0;

/** What is known of a call: how it was written, and what was done about it. */
export function verdictOf(bad) {
  return bad ? { outcome: bad.outcome, bad } : { outcome: "valid", bad: null };
}

/** Gives a call what is known of how it was written, and returns the others. */
export function takeBadCall(call, bads) {
  const bad = bads.find((bad) => isSame(call, bad));
  call.verdict.value ??= verdictOf(bad);
  return bads.filter((other) => other !== bad);
}

/** A call that no one ran is none of the conversation's items: its line is made here. */
export function unrunCall(bad, name = bad.tool) {
  const item = callItem({ id: `${UNRUN}${(lastUnrun += 1)}`, name, args: bad?.before?.arguments ?? "" });
  item.done.value = true;
  item.verdict.value = bad && verdictOf(bad);
  return item;
}

export function isUnrun(bad) {
  return bad.outcome !== "repaired" && bad.outcome !== "observed";
}

function isSame(call, bad) {
  if (isUnrun(bad)) return false;
  if (bad.call_ids?.length) return bad.call_ids.includes(callIdOf(call));
  if (bad.after?.length) return bad.after.some(({ name, arguments: args }) => name === call.name && sameJson(args, call.args.peek()));
  return call.name === bad.tool;
}

function sameJson(one, other) {
  try {
    return JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other));
  } catch {
    return one === other;
  }
}

/** Applies the trace of a turn to its items. */
export function applyTrace(turn, trace) {
  turn.trace.value = trace.id;
  const bads = badCallsOf(trace);
  addUnrun(turn, trace, bads.filter(isUnrun));
  const timed = new Map(trace.tool_calls.map((call) => [call.id, call]));
  const own = callsOf(turn).filter((call) => timed.has(callIdOf(call)));
  let open = bads;
  for (const call of own) {
    call.timing.value = timed.get(callIdOf(call));
    open = takeBadCall(call, open);
  }
  numberByRequests(callsOf(turn).filter((call) => call.timing.peek()), trace);
}

/** With what the model wrote, where that is known. */
function badCallsOf({ request_id, bad_calls: recorded = [] }) {
  return recorded.some(({ before }) => before) ? recorded : (recall(request_id) ?? recorded);
}

export function callsOf(turn) {
  return turn.items.peek().filter(({ kind }) => kind === "call");
}

/** Lines for calls that were not run, before the first that began after them. A stream may have made them already. */
function addUnrun(turn, trace, bads) {
  const known = new Set(callsOf(turn).map(callIdOf));
  const made = callsOf(turn).filter(({ id }) => id.startsWith(UNRUN));
  const unrun = trace.tool_calls.filter(({ id, run_by, outcome }) => run_by === "character" && outcome === "error" && !known.has(id));
  unrun.forEach((timing, index) => {
    const item = made[index] ?? unrunCall(bads[index], timing.name);
    item.timing.value = timing;
    if (!made[index]) insertBefore(turn, item, trace.tool_calls.slice(trace.tool_calls.indexOf(timing) + 1));
  });
}

function insertBefore(turn, item, later) {
  const ids = new Set(later.map(({ id }) => id));
  const items = turn.items.peek();
  const place = items.findIndex((other) => other.kind === "call" && ids.has(callIdOf(other)));
  const words = items.findIndex(({ kind }) => kind === "text");
  const before = place >= 0 ? place : words >= 0 ? words : items.length;
  turn.items.value = items.toSpliced(before, 0, item);
}

/** The rounds of a turn, by the requests to the model between them. */
function numberByRequests(calls, { upstream_requests: requests }) {
  for (const call of calls) {
    const start = call.timing.peek().start_ms;
    call.round.value = Math.max(1, requests.filter((request) => request.start_ms <= start).length);
  }
}

/** Keeps what a stream said about its calls for this tab: traces hold no content unless the settings say so. */
export function remember(requestId, bads) {
  if (!requestId || bads.length === 0) return;
  const kept = [...stored().filter(([id]) => id !== requestId), [requestId, bads]].slice(-MOST_STORED);
  try {
    sessionStorage.setItem(STORED, JSON.stringify(kept));
  } catch {
    // Full: what was written is shown until the page is loaded again.
  }
}

function recall(requestId) {
  return stored().find(([id]) => id === requestId)?.[1];
}

function stored() {
  return JSON.parse(sessionStorage.getItem(STORED) ?? "[]");
}
