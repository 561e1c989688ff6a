// What the contract made of a call: a word with a colour that repeats it, and its violations in words.

import { html } from "../ui.js";

const WORDS = {
  valid: "valid",
  repaired: "repaired",
  reasked: "asked again",
  refused: "refused",
  observed: "passed on",
};

const VIOLATIONS = {
  arguments_as_object: "arguments as an object instead of text",
  call_id: "missing or foreign id",
  call_in_text: "call written as text",
  call_index: "calls out of order",
  cut_off_call: "call cut off",
  double_encoding: "JSON encoded twice",
  invalid_tool_arguments: "arguments do not fit the schema",
  malformed_tool_arguments: "arguments are not a JSON object",
  tool_choice_unmet: "tool choice not kept",
  unknown_tool_call: "no such tool",
};

export const VERDICTS = ["valid", "repaired", "reasked", "refused"];

export function verdictWord(verdict) {
  return WORDS[verdict] ?? verdict;
}

export function Verdict({ verdict }) {
  return verdict ? html`<span class="chip ${verdict}">${verdictWord(verdict)}</span>` : null;
}

/** The name of a violation or a repair, as people read it. */
export function violationWords(code) {
  return VIOLATIONS[code] ?? code.replaceAll("_", " ");
}

export function violationList(codes) {
  return codes.map(violationWords).join(", ");
}
