// Parts of the page that need no browser: filters, commands, numbers, style sheets.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { callParameters, filterLine, readFilterLine } from "../../crates/callboard/page/parts/call-filter.js";
import { curlOf, isRepeatable } from "../../crates/callboard/page/parts/curl.js";
import { counted, duration, pretty } from "../../crates/callboard/page/parts/format.js";

const PAGE = new URL("../../crates/callboard/page/", import.meta.url);
const given = (filters) => Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));

test("a line of filters is read, and written as it is read", () => {
  for (const [line, filters] of [
    ["", {}],
    ["roll", { tool: "roll" }],
    ["tool:roll client:cline", { tool: "roll", client: "cline" }],
    ['client:"Roo Code" model:qwen3:8b', { client: "Roo Code", model: "qwen3:8b" }],
    ["nonsense:x", { tool: "x" }],
  ]) {
    assert.deepEqual(given(readFilterLine(line)), filters, line);
    assert.deepEqual(given(readFilterLine(filterLine(filters))), filters, line);
  }
});

test("turns without calls are listed unless calls are what is looked for", () => {
  for (const [query, turns] of [[{}, "all"], [{ model: "m" }, "all"], [{ tool: "t" }, undefined], [{ verdict: "valid" }, undefined], [{ turns: "with_calls" }, undefined]]) {
    assert.equal(callParameters(query).turns, turns, JSON.stringify(query));
  }
});

test("a command means the same to a shell as its request", () => {
  const request = { model: "m", messages: [{ role: "user", content: "It's $HOME `x` \"y\" \\ \n!" }], type: "response.create" };
  const trace = { endpoint: "responses", input: { request, named_conversation: "a 'b'" } };
  const words = (command) => JSON.parse(execFileSync("bash", ["-c", `python3 -c 'import json,sys; print(json.dumps(sys.argv[1:]))' ${command.replace(/^curl /, "")}`], { env: { ...process.env, CALLBOARD_KEY: "k" } }));
  const found = words(curlOf(trace, "http://h:1", true));
  assert.deepEqual(found.slice(0, -1), ["-N", "http://h:1/v1/responses", "-H", "content-type: application/json", "-H", "authorization: Bearer k", "-H", "callboard-conversation: a 'b'", "-d"]);
  const { type, ...sent } = request;
  assert.deepEqual(JSON.parse(found.at(-1)), sent, type);
  assert.ok(isRepeatable(trace) && !isRepeatable({ endpoint: "chat", input: {} }) && !isRepeatable({ endpoint: "tool", input: { request } }));
});

test("numbers are written as people read them", () => {
  const times = [[null, "–"], [0.04, "0.0 ms"], [9.96, "10.0 ms"], [812.4, "812 ms"], [1900, "1.9 s"], [125_000, "2 min 5 s"]];
  for (const [ms, text] of times) assert.equal(duration(ms), text);
  assert.deepEqual([counted(1, "call"), counted(5000, "entry", "entries")], ["1 call", "5,000 entries"]);
  assert.deepEqual([pretty('{"a":1}'), pretty("no JSON")], ['{\n  "a": 1\n}', "no JSON"]);
});

test("views do not style each other's classes", () => {
  const begins = (name) => new Set(selectors(name).flatMap((selector) => /^(?:[a-z]+)?\.([a-z][\w-]*)/.exec(selector)?.[1] ?? []));
  const shared = new Set([...begins("look.css"), ...begins("shell.css")]);
  const owners = new Map();
  for (const name of readdirSync(PAGE).filter((file) => file.endsWith(".css") && !["look.css", "shell.css"].includes(file))) {
    for (const own of begins(name)) {
      if (!shared.has(own)) owners.set(own, [...(owners.get(own) ?? []), name]);
    }
  }
  assert.deepEqual([...owners].filter(([, sheets]) => sheets.length > 1), []);
  assert.ok(owners.size > 50);
});

/** The selectors of a style sheet, those within media queries too. */
function selectors(name) {
  const text = readFileSync(new URL(name, PAGE), "utf8").replace(/\/\*[^]*?\*\//g, "");
  return [...text.matchAll(/([^{}]+)\{/g)].flatMap(([, list]) => list.split(",")).map((selector) => selector.trim());
}
