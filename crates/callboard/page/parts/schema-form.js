// A form made from a tool's JSON Schema. It passes on what is written, also where it is wrong: saying so is the contract's business.

import { html, useState } from "../ui.js";

/** Calls `onRun` with the arguments. */
export function SchemaForm({ schema, label, busy, onRun }) {
  const [raw, setRaw] = useState(false);
  const [slip, setSlip] = useState("");
  const fields = Object.entries(schema?.properties ?? {});
  const required = schema?.required ?? [];
  const submit = (event) => {
    event.preventDefault();
    try {
      const data = new FormData(event.currentTarget);
      onRun(raw ? JSON.parse(data.get("raw") || "{}") : argumentsOf(data, fields));
      setSlip("");
    } catch (error) {
      setSlip(`This is not JSON: ${error.message}`);
    }
  };
  return html`
    <form class="schema-form" noValidate onSubmit=${submit} aria-label=${label}>
      ${raw ? html`<label>Arguments as JSON<textarea name="raw" rows="5" class="mono" spellcheck="false" placeholder="{}"></textarea></label>` : fields.map(([name, part]) => html`<${Field} name=${name} schema=${part} required=${required.includes(name)} />`)}
      ${!raw && fields.length === 0 && html`<p class="small muted">It takes no arguments.</p>`}
      ${slip && html`<div class="problem" role="alert">${slip}</div>`}
      <div class="actions">
        <button class="primary" disabled=${busy}>${busy ? "Running …" : "Run"}</button>
        <button type="button" class="quiet" aria-pressed=${String(raw)} onClick=${() => setRaw(!raw)}>as JSON</button>
      </div>
    </form>
  `;
}

function Field({ name, schema, required }) {
  return html`
    <label>
      <span><code>${name}</code> <span class="muted">${typeWords(schema)}${required ? ", required" : ""}</span></span>
      <${Input} name=${name} schema=${schema} />
      ${schema.description && html`<span class="small muted">${schema.description}</span>`}
    </label>
  `;
}

function Input({ name, schema }) {
  const choices = choicesOf(schema);
  if (choices) {
    return html`<select name=${name}><option value="">not given</option>${choices.map((choice) => html`<option value=${JSON.stringify(choice)}>${String(choice)}</option>`)}</select>`;
  }
  if (isStructure(schema)) return html`<textarea name=${name} rows="3" class="mono" spellcheck="false" placeholder=${schema.type === "array" ? "[]" : "{}"}></textarea>`;
  const mode = ["integer", "number"].includes(schema.type) ? "decimal" : "text";
  return html`<input name=${name} inputmode=${mode} autocomplete="off" placeholder=${schema.default === undefined ? "" : String(schema.default)} />`;
}

function choicesOf(schema) {
  if (Array.isArray(schema.enum)) return schema.enum;
  return schema.type === "boolean" ? [true, false] : null;
}

function isStructure({ type }) {
  return type === "array" || type === "object" || type === undefined;
}

function typeWords(schema) {
  if (schema.enum) return "one of a list";
  const [least, most] = [schema.minimum, schema.maximum];
  const range = least !== undefined || most !== undefined ? ` ${least ?? "…"} to ${most ?? "…"}` : "";
  return `${[schema.type ?? "any"].flat().join(" or ")}${range}`;
}

function argumentsOf(data, fields) {
  const given = fields.filter(([name]) => data.get(name) !== "");
  return Object.fromEntries(given.map(([name, schema]) => [name, valueOf(data.get(name), schema)]));
}

/** Text for a text field, else JSON; what is no JSON stays text, for the contract to judge. */
function valueOf(text, schema) {
  if (schema.type === "string" && !schema.enum) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
