// A text before and after: two lines in which the pieces that differ are marked.

import { html } from "../ui.js";

/** Longer texts are compared by their common beginning and end only. */
const MOST_PIECES = 600;

export function Diff({ before, after, beforeLabel = "The model wrote", afterLabel = "It became" }) {
  const [was, now] = differences(before, after);
  return html`
    <div class="compare mono">
      <div class="was"><span class="hidden-label">${beforeLabel}: </span>${marked(was)}</div>
      <div class="now"><span class="hidden-label">${afterLabel}: </span>${marked(now)}</div>
    </div>
  `;
}

function marked(pieces) {
  return pieces.map(({ text, differs }) => (differs ? html`<mark>${text}</mark>` : text));
}

function differences(before, after) {
  const [was, now] = [pieces(before), pieces(after)];
  const kept = was.length * now.length > MOST_PIECES ** 2 ? ends(was, now) : longestCommon(was, now);
  return [joined(was, kept.was), joined(now, kept.now)];
}

/** Strings, numbers and words are a piece each. */
function pieces(text) {
  return text.match(/"(?:[^"\\]|\\.)*"|[\p{L}\p{N}_.+-]+|\s+|[^]/gu) ?? [];
}

function ends(was, now) {
  const keptWas = new Set();
  const keptNow = new Set();
  const most = Math.min(was.length, now.length);
  let start = 0;
  while (start < most && was[start] === now[start]) start += 1;
  let end = 0;
  while (end < most - start && was.at(-1 - end) === now.at(-1 - end)) end += 1;
  was.forEach((_, place) => (place < start || place >= was.length - end) && keptWas.add(place));
  now.forEach((_, place) => (place < start || place >= now.length - end) && keptNow.add(place));
  return { was: keptWas, now: keptNow };
}

function longestCommon(was, now) {
  const lengths = Array.from({ length: was.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let a = was.length - 1; a >= 0; a -= 1) {
    for (let b = now.length - 1; b >= 0; b -= 1) {
      lengths[a][b] = was[a] === now[b] ? lengths[a + 1][b + 1] + 1 : Math.max(lengths[a + 1][b], lengths[a][b + 1]);
    }
  }
  const kept = { was: new Set(), now: new Set() };
  for (let a = 0, b = 0; a < was.length && b < now.length; ) {
    if (was[a] === now[b]) {
      kept.was.add(a++);
      kept.now.add(b++);
    } else if (lengths[a + 1][b] >= lengths[a][b + 1]) a += 1;
    else b += 1;
  }
  return kept;
}

function joined(texts, kept) {
  const runs = [];
  texts.forEach((text, place) => {
    const differs = !kept.has(place);
    if (runs.at(-1)?.differs === differs) runs.at(-1).text += text;
    else runs.push({ text, differs });
  });
  return runs;
}
