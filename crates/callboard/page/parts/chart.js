// Charts as SVG: stacked bars and lines over time. Their colours are CSS; a table below says the same in numbers.

import { html } from "../ui.js";

const WIDTH = 300;
const HEIGHT = 84;

/** `buckets` have a `label` and `parts`, a number by name; `names` are the parts from bottom to top. */
export function StackedBars({ buckets, names, label }) {
  const highest = Math.max(1, ...buckets.map(({ parts }) => names.reduce((sum, name) => sum + parts[name], 0)));
  const step = WIDTH / buckets.length;
  return html`
    <svg class="plot" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label=${label}>
      ${buckets.map((bucket, place) => stack(bucket, names, { left: place * step, step, scale: HEIGHT / highest }))}
    </svg>
  `;
}

function stack({ label, parts }, names, { left, step, scale }) {
  let top = HEIGHT;
  const bars = names.map((name) => {
    const height = parts[name] * scale;
    top -= height;
    const gap = step > 3 ? 1 : 0;
    return height > 0 && html`<rect class=${name} x=${left + gap / 2} y=${top} width=${step - gap} height=${Math.max(height, 1)} />`;
  });
  return html`<g><title>${label}</title>${bars}</g>`;
}

/** `lines` have a `name` and `values`, null where there is none. */
export function Lines({ lines, label }) {
  const values = lines.flatMap((line) => line.values).filter((value) => value !== null);
  const highest = Math.max(...values, 0) || 1;
  return html`
    <svg class="plot" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label=${label}>
      ${lines.map((line) => html`<path class=${line.name} d=${path(line.values, highest)} />`)}
    </svg>
  `;
}

/** Points next to each other are joined; one alone is a short stroke. */
function path(values, highest) {
  const step = WIDTH / Math.max(1, values.length);
  const y = (value) => (HEIGHT - 2 - (value / highest) * (HEIGHT - 6)).toFixed(1);
  let open = false;
  return values
    .map((value, place) => {
      if (value === null) {
        open = false;
        return "";
      }
      const x = place * step;
      const piece = open ? `L${(x + step / 2).toFixed(1)} ${y(value)}` : `M${x.toFixed(1)} ${y(value)}L${(x + step / 2).toFixed(1)} ${y(value)}`;
      open = true;
      return piece;
    })
    .join("");
}
