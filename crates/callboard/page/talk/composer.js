// Where a message is written, or spoken where the browser can listen.

import { html, useEffect, useRef, useState } from "../ui.js";
import { canListen, canSpeak, listen, speaks, toggleSpeech } from "./speech.js";

export function Composer({ thread, busy, disabled, placeholder, send, stop }) {
  const field = useRef(null);
  useEffect(() => field.current.focus({ preventScroll: true }), [thread]);
  const submit = (event) => {
    event?.preventDefault();
    const text = field.current.value.trim();
    if (!text || busy || disabled) return;
    field.current.value = "";
    resize(field.current);
    send(text);
  };
  const onKeyDown = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
    if (event.key === "Escape" && busy) stop();
  };
  return html`
    <form class="say" onSubmit=${submit}>
      <textarea ref=${field} rows="1" dir="auto" aria-label="Message" placeholder=${placeholder} onKeyDown=${onKeyDown} onInput=${() => resize(field.current)}></textarea>
      ${canListen && html`<${Microphone} heard=${(text) => write(field.current, text)} />`}
      ${canSpeak && html`<button type="button" class="quiet" aria-pressed=${speaks.value} onClick=${toggleSpeech}>Read aloud</button>`}
      ${busy ? html`<button type="button" key="stop" class="primary" onClick=${stop}>Stop</button>` : html`<button key="send" class="primary" disabled=${disabled}>Send</button>`}
    </form>
  `;
}

function resize(field) {
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight, 200)}px`;
}

function write(field, text) {
  field.value = `${field.value} ${text}`.trim();
  resize(field);
  field.focus();
}

function Microphone({ heard }) {
  const [stop, setStop] = useState(null);
  const toggle = () => {
    if (stop) return stop();
    setStop(() => listen(heard, () => setStop(null)));
  };
  return html`<button type="button" class="quiet" aria-pressed=${stop !== null} onClick=${toggle}>${stop ? "Listening" : "Speak"}</button>`;
}
