// Asks for the API key of a Callboard that has some.

import { keepKey } from "../session.js";
import { html, useEffect, useRef } from "../ui.js";

export function KeyPrompt({ reason }) {
  const dialog = useRef(null);
  useEffect(() => dialog.current.showModal(), []);
  const submit = (event) => {
    event.preventDefault();
    const key = new FormData(event.currentTarget).get("key").trim();
    if (key) keepKey(key);
  };
  return html`
    <dialog ref=${dialog} class="key-prompt" aria-labelledby="key-title" onCancel=${(event) => event.preventDefault()}>
      <form onSubmit=${submit}>
        <h2 id="key-title">API key</h2>
        <p>${reason} It is one of the <code>api_keys</code> of its settings, and stays in this tab.</p>
        <label>Key <input name="key" type="password" autocomplete="off" autofocus required /></label>
        <button class="primary">Continue</button>
      </form>
    </dialog>
  `;
}
