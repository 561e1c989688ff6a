// Nothing to show yet: what would be here, and what to do for it.

import { html } from "../ui.js";

export function Empty({ title, children }) {
  return html`<div class="empty"><h2>${title}</h2>${children}</div>`;
}
