// Filters of calls: one line of `name:value` words and a verdict each, kept in the address.

const NAMES = ["tool", "model", "character", "client", "conversation", "endpoint", "request_id"];

/** The line for filters of the address: `tool:roll client:cline`. */
export function filterLine(query) {
  return NAMES.filter((name) => query[name]).map((name) => `${name}:${quoted(query[name])}`).join(" ");
}

/** The filters of a line. A word without a name is a tool's. */
export function readFilterLine(line) {
  const filters = Object.fromEntries(NAMES.map((name) => [name, undefined]));
  for (const [, name, quotation, word] of line.matchAll(/(?:([a-z_]+):)?(?:"([^"]*)"|(\S+))/g)) {
    filters[NAMES.includes(name) ? name : "tool"] = quotation ?? word;
  }
  return filters;
}

function quoted(value) {
  return /\s/.test(value) ? `"${value}"` : value;
}

/** The parameters of `/v1/calls` for the filters of an address. */
export function callParameters(query) {
  const filters = Object.fromEntries(NAMES.map((name) => [name, query[name]]));
  return { ...filters, verdict: query.verdict, turns: query.turns === "with_calls" || query.verdict || query.tool ? undefined : "all" };
}

/** How far back the charts look. */
export const RANGES = [
  { name: "15m", label: "last 15 minutes", ms: 15 * 60_000 },
  { name: "1h", label: "last hour", ms: 60 * 60_000 },
  { name: "24h", label: "last day", ms: 24 * 60 * 60_000 },
  { name: "7d", label: "last week", ms: 7 * 24 * 60 * 60_000 },
];

export function rangeOf(query) {
  return RANGES.find(({ name }) => name === query.range) ?? RANGES[1];
}
