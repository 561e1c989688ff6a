// Talk: a conversation with a character or a model.

import { html } from "../ui.js";

export default function Talk() {
  return html`<section class="full"><h1>Talk</h1></section>`;
}
