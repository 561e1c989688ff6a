// The journal of a conversation's state: every change, newest first, with its undo.

import { classes, html } from "../ui.js";

const SHOWN = 100;

export function Journal({ board, open }) {
  const entries = board.journal.value;
  if (entries.length === 0) return null;
  const newest = entries.slice(-SHOWN).reverse();
  return html`
    <details class="journal" open=${open}>
      <summary>Journal <span class="muted">${entries.length} ${entries.length === 1 ? "change" : "changes"}</span></summary>
      <ol reversed>${newest.map((entry) => html`<${Entry} key=${entry.sequence} entry=${entry} board=${board} />`)}</ol>
    </details>
  `;
}

function Entry({ entry, board }) {
  const { sequence, tool, at, undone_by, undoes, call_id } = entry;
  const word = undoes ? `undo of ${undoes.sequence}` : tool;
  return html`
    <li class=${classes({ undone: undone_by })}>
      <span class="mono muted num">${sequence}</span>
      <span><code>${word}</code> <span class="small muted">${timeOf(at)}</span></span>
      ${undone_by ? html`<span class="small muted">undone</span>` : html`<button type="button" class="quiet" aria-label=${`Undo ${word}, change ${sequence}`} onClick=${() => board.undo(call_id)}>Undo</button>`}
    </li>
  `;
}

function timeOf(at) {
  return new Date(at).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
}
