// What changes elsewhere: one stream of events for the whole page, resumed where it broke off. Views read again what it names.

import { send, serverEvents, withQuery } from "./api.js";
import { apiKey, keyWanted } from "./session.js";
import { effect, signal } from "./ui.js";

const FIRST_PAUSE = 300;
const LONGEST_PAUSE = 5000;

/** "open", or "lost" while Callboard does not answer. */
export const connection = signal("open");

/** Goes up with every turn that ends, from any client. */
export const turns = signal(0);

/** The watched conversation and its version, after each change: null once it is deleted, undefined where it may have changed. */
export const conversation = signal({ id: null, version: null });

const watched = signal(null);
let place = null;

/** Watches a conversation; null for none. */
export function watch(id) {
  if (watched.peek() === id) return;
  place = null;
  watched.value = id;
}

/** Listens from now on, while the page can be seen. */
export function start() {
  const visible = signal(!document.hidden);
  document.addEventListener("visibilitychange", () => (visible.value = !document.hidden));
  effect(() => {
    const wanted = visible.value && keyWanted.value === null && { id: watched.value, key: apiKey.value };
    if (!wanted) return undefined;
    const stop = new AbortController();
    listen(wanted.id, stop.signal);
    return () => stop.abort();
  });
}

async function listen(id, stopped) {
  let pause = FIRST_PAUSE;
  while (!stopped.aborted) {
    try {
      await follow(id, stopped, () => (pause = FIRST_PAUSE));
    } catch (error) {
      if (stopped.aborted || error.status === 401) return;
      // A conversation that is gone is nothing to listen to.
      if (error.status === 404) id = null;
    }
    if (stopped.aborted) return;
    connection.value = "lost";
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }
}

async function follow(id, stopped, opened) {
  const headers = place ? { "last-event-id": place } : {};
  const response = await send(withQuery("v1/events", { conversation: id }), { headers, signal: stopped });
  opened();
  connection.value = "open";
  for await (const event of serverEvents(response)) {
    if (stopped.aborted) return;
    if (event.id) place = event.id;
    // What changed before the stream began is read now.
    if (event.event === "ready") conversation.value = { id, version: undefined };
    if (event.event === "turns") turns.value += 1;
    if (event.event === "conversation") conversation.value = JSON.parse(event.data);
  }
}
