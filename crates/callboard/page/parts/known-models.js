// What is known of the models of a server: how tools reach each, what the server honors, ignores and refuses, and since when.

import { html } from "../ui.js";

const MODES = { native: "in the request", prompt: "in the prompt", constrained: "by constrained decoding" };
const REASONS = { setting: "as set", finding: "by what was found", default: "by default" };

export function KnownModels({ server: { known, formats, aliases } }) {
  const models = [...new Set([...known.map(({ model }) => model), ...Object.keys(formats)])];
  if (models.length === 0 && aliases.length === 0) return null;
  return html`
    <details><summary class="small">What is known of its models</summary>
      <dl class="known">
        ${models.map((model) => html`<dt class="mono">${model}</dt><dd class="small">calls in text are read in the format of ${formats[model] ?? "Hermes"}<${Findings} known=${known.find((one) => one.model === model)} /></dd>`)}
        ${aliases.map((alias) => html`<dt class="mono">${alias}</dt><dd class="small">another name</dd>`)}
      </dl>
    </details>
  `;
}

function Findings({ known }) {
  if (!known) return null;
  return html`
    <p>Tools reach it ${MODES[known.tools_mode]}, ${REASONS[known.tools_mode_from]}.${known.version && ` Found out about ${known.version}.`}</p>
    <table class="findings" aria-label=${`Findings about ${known.model}`}>
      <tbody>${known.findings.map(({ kind, name, value, found_at: time }) => html`<tr><th scope="row" class="mono">${name}</th><td>${kind === "quirk" ? "worked around" : value}</td><td class="muted">${time.slice(0, 10)}</td></tr>`)}</tbody>
    </table>
  `;
}
