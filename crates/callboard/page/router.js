// The address behind the `#`: a view, what it shows, and its filters, so that every view can be linked to and shared.

import { withQuery } from "./api.js";
import { signal } from "./ui.js";

/** `#/calls/abc?tool=x` is `{ view: "calls", path: ["abc"], query: { tool: "x" } }`. */
export const route = signal(read());

addEventListener("hashchange", () => (route.value = read()));

function read() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [view = "", ...rest] = path.split("/").filter(Boolean).map(decoded);
  return { view, path: rest, query: Object.fromEntries(new URLSearchParams(query)) };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address of a view: `href(["calls", id], { tool: "x" })`. Filters without a value are left out. */
export function href(path, query = {}) {
  return withQuery(`#/${path.map(encodeURIComponent).join("/")}`, query);
}

export function navigate(path, query) {
  location.hash = href(path, query);
}

/** Changes filters in the address without a new entry in the history. */
export function setQuery(changes) {
  const { view, path, query } = route.peek();
  history.replaceState(null, "", href([view, ...path], { ...query, ...changes }));
  route.value = read();
}
