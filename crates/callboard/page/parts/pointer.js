// JSON Pointers, by which a VIEW names values of the state.

/** The value at a pointer; undefined where there is none. */
export function at(value, pointer) {
  const steps = (pointer ?? "").split("/").slice(1).map(unescaped);
  return steps.reduce((found, step) => (found !== null && typeof found === "object" && Object.hasOwn(found, step) ? found[step] : undefined), value);
}

/** One more step of a pointer. */
export function child(pointer, step) {
  return `${pointer}/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

function unescaped(step) {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** The entries of an object or a list: `[key, value]`. */
export function entriesOf(value) {
  if (value === null || typeof value !== "object") return [];
  return Array.isArray(value) ? value.map((entry, index) => [String(index), entry]) : Object.entries(value);
}
