// A character's file that failed to load: what is wrong, what to write instead, and the lines around it.

import { html } from "../ui.js";

export function LoadProblem({ file }) {
  return html`
    <article class="load-problem" aria-label=${`${file.id} is not loaded`}>
      <h2><code>${file.id}.py</code> <span class="chip refused">not loaded</span></h2>
      ${file.earlier_version_on_stage && html`<p class="small">The last good version is still in use.</p>`}
      ${file.problems.map((problem) => html`<${One} problem=${problem} />`)}
    </article>
  `;
}

function One({ problem: { what, remedy, line, excerpt } }) {
  return html`
    <div>
      <p>${line ? html`<b>Line ${line}:</b> ` : ""}${what}</p>
      <p class="small muted">${remedy}</p>
      ${excerpt?.length > 0 && html`<pre class="excerpt" tabindex="0">${excerpt.map((one) => html`<${Line} one=${one} current=${one.line === line} />`)}</pre>`}
    </div>
  `;
}

function Line({ one: { line, text }, current }) {
  return html`<span class=${current ? "line current" : "line"}><span class="number" aria-hidden="true">${String(line).padStart(4)}</span> ${text}${"\n"}</span>`;
}
