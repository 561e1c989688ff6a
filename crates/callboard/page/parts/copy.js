// Text to take along: a command with a button that copies it.

import { html, useState } from "../ui.js";

export function Copyable({ text, label = "Copy" }) {
  return html`
    <div class="copyable">
      <pre tabindex="0">${text}</pre>
      <${CopyButton} text=${text} label=${label} />
    </div>
  `;
}

/** `text` may be a function that makes it, or promises it. */
export function CopyButton({ text, label = "Copy" }) {
  const [done, setDone] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "function" ? await text() : text);
      setDone("Copied");
    } catch {
      setDone("Copying failed");
    }
  };
  return html`
    <button type="button" onClick=${copy} onBlur=${() => setDone("")}>${done || label}<span class="hidden-label" role="status">${done}</span></button>
  `;
}
