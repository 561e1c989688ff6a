// The steps of a turn as bars on one scale, in the order in which they began.

import { html } from "../ui.js";
import { duration } from "./format.js";
import { verdictWord, violationWords } from "./verdict.js";

/** Milliseconds. */
const TOGETHER = 1;

export function TimeLine({ trace }) {
  const whole = Math.max(trace.duration_ms, 0.001);
  return html`<ol class="time-line">${stepsOf(trace).map((step) => html`<${Step} step=${step} whole=${whole} />`)}</ol>`;
}

function Step({ step: { label, detail, start, took, kind }, whole }) {
  const left = Math.min(98.5, (start / whole) * 100);
  const width = Math.max(1.5, Math.min(100 - left, ((took ?? 0) / whole) * 100));
  return html`
    <li class="entry">
      <span class="name" title=${detail ?? ""}>${label}</span>
      <span class="track" aria-hidden="true"><i class=${kind} style=${{ left: `${left}%`, width: `${width}%` }}></i></span>
      <span class="num">${took === null ? `at ${duration(start)}` : duration(took)}</span>
    </li>
  `;
}

function stepsOf(trace) {
  const { upstream_requests: requests, contract, tool_calls: calls } = trace;
  const steps = [...requests.map(requestStep), ...contractSteps(contract), ...calls.filter(isRunHere).map(toolStep)];
  if (trace.first_word_ms !== undefined) steps.push({ label: "first word", start: trace.first_word_ms, took: null, kind: "point" });
  steps.sort((one, other) => one.start - other.start);
  const begin = steps[0]?.start ?? trace.duration_ms;
  const busy = Math.max(0, ...steps.map(({ start, took }) => start + (took ?? 0)));
  return [
    { label: "request read", start: 0, took: begin, kind: "own" },
    ...steps,
    { label: "stored and sent", start: busy, took: Math.max(0, trace.duration_ms - busy), kind: "own" },
  ];
}

function requestStep(request) {
  const failed = request.outcome !== "ok";
  const label = failed ? `model: ${request.outcome}` : request.goes_on ? "model again" : "model";
  const learned = request.learned?.length ? `, learned: ${request.learned.join(", ")}` : "";
  return { label, detail: `${request.model} at ${request.url}${learned}`, start: request.start_ms, took: request.duration_ms, kind: failed ? "bad" : "model" };
}

function isRunHere({ run_by: runner, duration_ms: took }) {
  return runner === "character" && took !== undefined;
}

function toolStep({ name, start_ms: start, duration_ms: took, outcome, queued_ms: queued }) {
  return { label: name, detail: queued > 1 ? `waited ${duration(queued)} for a worker` : "", start, took, kind: outcome === "error" ? "bad" : "tool" };
}

/** What was found at about one time is one step. */
function contractSteps(notes) {
  const steps = [];
  for (const { violation, outcome, at_ms: at } of notes) {
    const last = steps.at(-1);
    const word = violationWords(violation);
    if (last?.outcome === outcome && at - last.start < TOGETHER) last.detail += `, ${word}`;
    else steps.push({ outcome, label: verdictWord(outcome), detail: word, start: at, took: null, kind: outcome === "repaired" ? "good" : "bad" });
  }
  return steps;
}
