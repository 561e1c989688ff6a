// The characters as Callboard describes them one by one: tools with their deadlines, and the view of their state. Read once each.

import { get } from "../api.js";
import { signal } from "../ui.js";
import { characterOf } from "./catalog.js";

const known = new Map();

/** A character's description; null while it is read, and for models. Follows signals. */
export function characterDetail(id) {
  if (!characterOf(id)) return null;
  if (!known.has(id)) {
    const detail = signal(null);
    known.set(id, detail);
    get(`v1/characters/${encodeURIComponent(id)}`).then((found) => (detail.value = found), () => known.delete(id));
  }
  return known.get(id).value;
}
