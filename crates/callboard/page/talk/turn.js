// A turn of a thread: what the user said, with the calls and the words that followed.

import { CallLine } from "../parts/call.js";
import { Problem } from "../parts/problem.js";
import { href } from "../router.js";
import { VIEWS } from "../views.js";
import { classes, html, useComputed, useEffect, useRef, useState } from "../ui.js";

/** Whether there is a view of single turns to link to. */
const hasCalls = VIEWS.some(({ name }) => name === "calls");

export function Turn({ turn, actions, deadlines }) {
  return html`
    <article class="turn" aria-label=${turn.text ? `Turn: ${turn.text.slice(0, 80)}` : "Turn"}>
      ${turn.text !== null && html`<${UserMessage} turn=${turn} actions=${actions} />`}
      <${Items} turn=${turn} deadlines=${deadlines} />
      <${Ending} turn=${turn} actions=${actions} />
    </article>
  `;
}

function UserMessage({ turn, actions }) {
  const [editing, setEditing] = useState(false);
  if (editing) {
    const done = (text) => {
      setEditing(false);
      if (text) actions.fork(turn, text);
    };
    return html`<${MessageEditor} text=${turn.text} done=${done} />`;
  }
  const canFork = turn.id.value !== null && !actions.busy.value;
  return html`
    <div class="message-row">
      <div class="message-actions">
        ${turn.trace.value && hasCalls && html`<a class="quiet" href=${href(["calls", turn.trace.value])}>Steps</a>`}
        <button type="button" class="quiet" disabled=${!canFork} onClick=${() => setEditing(true)}>Edit</button>
        <button type="button" class="quiet" disabled=${!canFork} onClick=${() => actions.fork(turn, turn.text)}>Retry</button>
      </div>
      <div class="me" dir="auto">${turn.text}</div>
    </div>
  `;
}

function MessageEditor({ text, done }) {
  const field = useRef(null);
  useEffect(() => {
    field.current.focus();
    field.current.setSelectionRange(text.length, text.length);
  }, []);
  const submit = (event) => {
    event.preventDefault();
    done(field.current.value.trim());
  };
  return html`
    <form class="editor" onSubmit=${submit} onKeyDown=${(event) => event.key === "Escape" && done(null)}>
      <textarea ref=${field} dir="auto" aria-label="Edit the message" rows="3">${text}</textarea>
      <div class="row">
        <span class="small muted">Continues in a new conversation from here; this one stays.</span>
        <button type="button" onClick=${() => done(null)}>Cancel</button>
        <button class="primary">Send</button>
      </div>
    </form>
  `;
}

function Items({ turn, deadlines }) {
  return turn.items.value.map((item) => html`<${Item} key=${item.id} item=${item} deadlines=${deadlines} />`);
}

function Item({ item, deadlines }) {
  if (item.kind === "call") return html`<${LiveCall} item=${item} deadlines=${deadlines} />`;
  if (item.kind === "reasoning") return html`<details class="reasoning"><summary>Reasoning</summary><div dir="auto">${item.text}</div></details>`;
  return html`<div class=${classes({ words: true, note: item.kind === "note" })} dir="auto">${item.text}</div>`;
}

/** Calls of one round stand together; the next round is set apart by its number. */
function LiveCall({ item, deadlines }) {
  const call = useComputed(() => ({
    name: item.name,
    args: item.args.value,
    output: item.output.value,
    failed: item.failed.value,
    done: item.done.value,
    outcome: item.verdict.value?.outcome,
    bad: item.verdict.value?.bad,
    timing: item.timing.value,
    deadline: item.runBy === "character" ? deadlines.value.get(item.name) : undefined,
  }));
  return html`
    <div class="round" data-round=${item.round}>
      <span class="hidden-label">Round ${item.round}</span>
      <${CallLine} call=${call.value} />
    </div>
  `;
}

function Ending({ turn, actions }) {
  if (turn.running.value) return turn.items.value.length === 0 && html`<div class="waiting muted" role="status">Thinking …</div>`;
  const retry = turn.text !== null && !actions.busy.value ? () => actions.again(turn) : null;
  return html`
    ${turn.stopped && html`<p class="small muted">Stopped.</p>`}
    ${turn.error.value && html`<${Problem} error=${turn.error.value} retry=${retry} />`}
  `;
}
