// Requests to Callboard: JSON in, JSON out, and replies that stream. A failure is an ApiError whose message can be shown.

import { apiKey, refuseKey } from "./session.js";

export class ApiError extends Error {
  constructor(message, { status = 0, code = "", param = null } = {}) {
    super(message);
    Object.assign(this, { status, code, param });
  }
}

export function get(path, query) {
  return request("GET", withQuery(path, query));
}

export function post(path, body) {
  return request("POST", path, body);
}

export function remove(path) {
  return request("DELETE", path);
}

/** A path with those parameters that have a value. */
export function withQuery(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}

async function request(method, path, body) {
  const response = await send(path, { method, body });
  return response.json();
}

/** A request whose reply is read as it comes. */
export async function send(path, { method = "GET", body, headers = {}, signal } = {}) {
  const key = apiKey.peek();
  const all = { ...headers, ...(key && { authorization: `Bearer ${key}` }) };
  if (method === "POST") all["content-type"] = "application/json";
  const text = method === "POST" ? JSON.stringify(body ?? {}) : undefined;
  const response = await fetch(path, { method, body: text, headers: all, signal, credentials: "omit" }).catch(unreachable);
  if (response.ok) return response;
  if (response.status === 401) refuseKey(key);
  throw await failure(response);
}

function unreachable(error) {
  if (error.name === "AbortError") throw error;
  throw new ApiError(`Callboard does not answer at ${location.host}. Is it running?`, { code: "unreachable" });
}

async function failure(response) {
  const body = await response.json().catch(() => ({}));
  const { message, code, param } = body.error ?? {};
  return new ApiError(message ?? `Callboard answered with status ${response.status}.`, { status: response.status, code, param });
}

/** The events of a stream: `{ event, data, id }`, and comments as `{ comment }`. */
export async function* serverEvents(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) yield* readBlock(block);
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function* readBlock(block) {
  const event = { event: "message", data: "", id: null };
  for (const line of block.split("\n")) {
    if (line.startsWith(":")) yield { comment: line.slice(1).trim() };
    else if (line.startsWith("event:")) event.event = line.slice(6).trim();
    else if (line.startsWith("id:")) event.id = line.slice(3).trim();
    else if (line.startsWith("data:")) event.data += line.slice(5).trimStart();
  }
  if (event.data) yield event;
}
