// Numbers and times as people read them.

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
const DAY = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const COUNT = new Intl.NumberFormat("en");

/** `0.2 ms`, `812 ms`, `1.9 s`, `2 min 5 s`. */
export function duration(ms) {
  if (ms === null || ms === undefined) return "–";
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** The time of day, and the day where it is not today. */
export function clock(ms, now = Date.now()) {
  const time = CLOCK.format(ms);
  return new Date(ms).toDateString() === new Date(now).toDateString() ? time : `${DAY.format(ms)}, ${time}`;
}

export function count(number) {
  return COUNT.format(number);
}

/** `1 call`, `2 calls`. */
export function counted(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** JSON text with indentation; any other text as it is. */
export function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
