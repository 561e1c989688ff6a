// The official Node SDK's `responses` and `conversations` against Callboard, with models that break every rule.
//
//     responses_node.mjs URL PACKAGES        PACKAGES is the folder whose node_modules hold the SDK
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";

import { Checks, inOneLine } from "./checks.mjs";

const [url, packages] = process.argv.slice(2);
const require = createRequire(join(packages, "package.json"));
const { OpenAI, APIError, BadRequestError, InternalServerError, NotFoundError } = require("openai");
const { zodResponsesFunction, zodTextFormat } = require("openai/helpers/zod");
const { ResponsesToolRunner } = require("openai/helpers/responses-tool-runner");
const { ResponsesWS } = require("openai/resources/responses/ws");
const { z } = require("zod");

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "sk-test", maxRetries: 0, timeout: 20_000 });
const checks = new Checks("responses-node");
const check = (name, run) => checks.add(name, run);

const input = "What is the weather like?";
const oslo = { city: "Oslo", days: 3, unit: "celsius" };
const lima = { city: "Lima", days: 2, unit: "celsius" };
const pune = { city: "Pune", days: 1, unit: "celsius" };
const forecast = z.object({ city: z.string(), days: z.int(), unit: z.enum(["celsius", "fahrenheit"]) });
const report = z.object({ title: z.string(), acts: z.int(), cast: z.array(z.string()) });
const hamlet = { title: "Hamlet", acts: 5, cast: ["Hamlet", "Ophelia"] };
const parameters = {
  type: "object",
  properties: {
    city: { type: "string" },
    days: { type: "integer", minimum: 1 },
    unit: { type: "string", enum: ["celsius", "fahrenheit"] },
  },
  required: ["city", "days", "unit"],
  additionalProperties: false,
};
const numbers = {
  type: "object",
  properties: { a: { type: "integer" }, b: { type: "integer" } },
  required: ["a", "b"],
  additionalProperties: false,
};
const tools = [{ type: "function", name: "get_weather", description: "A forecast.", parameters, strict: true }];
const add = { type: "function", name: "add", description: "Adds.", parameters: numbers, strict: true };

const whole = (request) => client.responses.create({ input, ...request });
const streamed = (request) => client.responses.stream({ input, ...request }).finalResponse();

function bothWays(name, run) {
  check(`${name}, whole`, () => run(whole));
  check(`${name}, streamed`, () => run(streamed));
}

const callsOf = (response) => response.output.filter((item) => item.type === "function_call");
const resultOf = (call) => {
  return { type: "function_call_output", call_id: call.call_id, output: `${JSON.parse(call.arguments).days} days of sun` };
};

function expectCalls(response, wanted) {
  const calls = callsOf(response);
  assert.deepEqual(
    calls.map((call) => [call.name, JSON.parse(call.arguments), call.status]),
    wanted.map((each) => ["get_weather", each, "completed"]),
  );
  for (const { call_id } of calls) assert.match(call_id, /^call_[A-Za-z0-9]{24,32}$/);
  assert.equal(new Set(calls.map((call) => call.call_id)).size, calls.length);
}

// ---------------------------------------------------------------------------------------------------------------------
// Create and stream

bothWays("text", async (ask) => {
  const response = await ask({ model: "text", metadata: { act: "one" } });
  assert.equal(response.output_text, "The callboard hangs backstage.");
  assert.deepEqual([response.status, response.usage.total_tokens, response.metadata], ["completed", 30, { act: "one" }]);
});

check("the events of a stream, in their order", async () => {
  const kinds = [];
  for await (const event of await client.responses.create({ model: "text", input, stream: true })) {
    if (kinds.at(-1) !== event.type) kinds.push(event.type);
  }
  assert.deepEqual(kinds, [
    "response.created", "response.in_progress", "response.output_item.added", "response.content_part.added",
    "response.output_text.delta", "response.output_text.done", "response.content_part.done", "response.output_item.done",
    "response.completed",
  ]);
});

bothWays("a damaged call, then its result after previous_response_id", async (ask) => {
  const first = await ask({ model: "sloppy", tools });
  expectCalls(first, [oslo]);
  const results = callsOf(first).map(resultOf);
  const second = await ask({ model: "sloppy", tools, input: results, previous_response_id: first.id });
  assert.equal(second.output_text, "Oslo: 3 days of sun");
});

bothWays("three calls at once, then their results with the whole history and no store", async (ask) => {
  const first = await ask({ model: "parallel-same-id", tools, store: false });
  expectCalls(first, [oslo, lima, pune]);
  const history = [{ role: "user", content: input }, ...first.output, ...callsOf(first).map(resultOf).reverse()];
  const second = await ask({ model: "parallel-same-id", tools, input: history, store: false });
  assert.equal(second.output_text, "Oslo: 3 days of sun; Lima: 2 days of sun; Pune: 1 days of sun");
});

bothWays("thinking, as it is and summed up", async (ask) => {
  const plain = await ask({ model: "thinker" });
  assert.deepEqual(plain.output[0].content.map((part) => part.text), ["What is six times seven?"]);
  const summed = await ask({ model: "thinker", reasoning: { summary: "auto" } });
  assert.deepEqual(summed.output[0].summary.map((part) => part.text), ["What is six times seven?"]);
});

check("a character: what it ran is an item with its result", async () => {
  const response = await streamed({ model: "narrator", input: "Open the door." });
  assert.deepEqual(response.output.map((item) => item.type), ["message", "mcp_call", "message"]);
  assert.equal(response.output[1].output, "Logged story event: The red door was opened");
});

// ---------------------------------------------------------------------------------------------------------------------
// Parse and the tool runner

check("parse: a zod text format", async () => {
  const response = await client.responses.parse({ model: "reporter", input, text: { format: zodTextFormat(report, "report") } });
  assert.deepEqual(response.output_parsed, hamlet);
});

check("stream: a zod text format", async () => {
  const response = await streamed({ model: "report", text: { format: zodTextFormat(report, "report") } });
  assert.deepEqual(response.output_parsed, hamlet);
});

check("parse: strict zod tools", async () => {
  const strict = [zodResponsesFunction({ name: "get_weather", parameters: forecast })];
  const response = await client.responses.parse({ model: "sloppy", input, tools: strict });
  assert.deepEqual(callsOf(response).map((call) => call.parsed_arguments), [oslo]);
});

for (const stream of [false, true]) {
  check(`the SDK's own tool runner${stream ? ", streamed" : ""}: two rounds of damaged calls`, async () => {
    const seen = [];
    const execute = ({ a, b }) => {
      seen.push([a, b]);
      return String(a + b);
    };
    const runner = new ResponsesToolRunner({ functions: [{ tool: add, execute }] });
    const response = await runner.run(client, { model: "sums", input }, { stream });
    assert.equal(response.output_text, "The sum is 10.");
    assert.deepEqual(seen, [[2, 3], [5, 5]]);
  });
}

// ---------------------------------------------------------------------------------------------------------------------
// What is kept

check("a response is kept, listed and deleted", async () => {
  const made = await whole({ model: "recall", input: "One." });
  const { output_text, ...kept } = await client.responses.retrieve(made.id);
  assert.equal(output_text, "user: One.");
  assert.deepEqual(kept.output, made.output);
  const items = [];
  for await (const item of client.responses.inputItems.list(made.id)) items.push(item.content[0].text);
  assert.deepEqual(items, ["One."]);
  await client.responses.delete(made.id);
  await rejects(NotFoundError, () => client.responses.retrieve(made.id), { status: 404, code: "response_not_found" });
});

check("a conversation goes on without its history being sent", async () => {
  const { id } = await client.conversations.create({ metadata: { scene: "one" } });
  await whole({ model: "recall", input: "One.", conversation: id });
  const second = await streamed({ model: "recall", input: "Two.", conversation: { id } });
  assert.equal(second.output_text, "user: One. | assistant: user: One. | user: Two.");
  const roles = [];
  for await (const item of client.conversations.items.list(id, { order: "asc", limit: 3 })) roles.push(item.role);
  assert.deepEqual(roles, ["user", "assistant", "user", "assistant"]);
  assert.equal((await client.conversations.delete(id)).deleted, true);
  await rejects(NotFoundError, () => client.conversations.retrieve(id), { status: 404, code: "conversation_not_found" });
});

// ---------------------------------------------------------------------------------------------------------------------
// WebSocket

async function ask(socket, request) {
  const last = new Promise((resolve, reject) => {
    const events = [];
    const take = (event) => {
      events.push(event);
      if (event.type !== "response.completed") return;
      socket.off("event", take);
      resolve(events);
    };
    socket.on("event", take);
    socket.on("error", reject);
  });
  socket.send({ type: "response.create", ...request });
  return last;
}

check("a tool loop on a WebSocket, with nothing stored", async () => {
  const socket = new ResponsesWS(client);
  const request = { model: "sloppy", tools, store: false };
  const first = (await ask(socket, { ...request, input })).at(-1).response;
  expectCalls(first, [oslo]);
  const results = callsOf(first).map(resultOf);
  const events = await ask(socket, { ...request, input: results, previous_response_id: first.id });
  assert.equal(events.at(-1).response.output.at(-1).content[0].text, "Oslo: 3 days of sun");
  assert.deepEqual(events.map((event) => event.sequence_number), events.map((_, place) => place));
  socket.close();
});

// ---------------------------------------------------------------------------------------------------------------------
// Errors

async function rejects(kind, request, wanted) {
  const error = await request().then(() => assert.fail(`no ${kind.name}`), (error) => error);
  assert.ok(error instanceof kind, inOneLine(error));
  for (const [name, value] of Object.entries(wanted)) assert.equal(error[name], value, `${name}: ${error[name]}`);
}

check("400 for a result without its call, with the place", () => {
  const orphan = [{ type: "function_call_output", call_id: "call_nowhere", output: "3" }];
  return rejects(BadRequestError, () => whole({ model: "text", input: orphan }), { status: 400, param: "input[0].call_id" });
});

check("404 for an unknown model", () => {
  return rejects(NotFoundError, () => whole({ model: "no-such-model" }), { status: 404, code: "model_not_found" });
});

check("502 with its code when the model stays bad, and the same code in a stream", async () => {
  const request = { model: "always-without-days", tools };
  await rejects(InternalServerError, () => whole(request), { status: 502, code: "invalid_tool_arguments" });
  await rejects(APIError, () => streamed(request), { code: "invalid_tool_arguments" });
});

process.exitCode = await checks.run();
