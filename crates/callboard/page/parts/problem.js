// Something went wrong: what, and what can be done.

import { html } from "../ui.js";

export function Problem({ error, retry }) {
  return html`
    <div class="problem" role="alert">
      <div>${error.message ?? String(error)}</div>
      ${retry && html`<button type="button" onClick=${retry}>Try again</button>`}
    </div>
  `;
}
