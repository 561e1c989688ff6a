// The official Node SDK against Callboard, with models that break every rule (scripts.py).
//
//     node_sdk.mjs GATEWAY_URL MODEL_URL PACKAGES
//
// PACKAGES is the folder whose node_modules hold the SDK. A check made with `mended` is run twice: through the gateway, where
// it must hold, and straight against the model server, where it must not.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";

import { Checks, inOneLine } from "./checks.mjs";

const [gatewayUrl, modelUrl, packages] = process.argv.slice(2);
const require = createRequire(join(packages, "package.json"));
const { OpenAI, APIError, APIConnectionError, BadRequestError, InternalServerError, NotFoundError } = require("openai");
const { zodFunction, zodResponseFormat } = require("openai/helpers/zod");
const { z } = require("zod");

const options = { apiKey: "sk-test", maxRetries: 0, timeout: 20_000 };
const gateway = new OpenAI({ baseURL: `${gatewayUrl}/v1`, ...options });
const direct = new OpenAI({ baseURL: `${modelUrl}/v1`, ...options });

const checks = new Checks("node");
const check = (name, run) => checks.add(name, run);

function mended(name, run) {
  check(name, () => run(gateway));
  check(`${name}: not without the gateway`, () => mustBreak(run));
}

async function mustBreak(run) {
  try {
    await run(direct);
  } catch (error) {
    const tellsNothing = [APIConnectionError, NotFoundError, ReferenceError].some((kind) => error instanceof kind);
    if (tellsNothing) throw error;
    return inOneLine(error).slice(0, 90);
  }
  throw new Error("the client got along with the bare model");
}

const messages = [{ role: "user", content: "What is the weather like?" }];
const oslo = { city: "Oslo", days: 3, unit: "celsius" };
const lima = { city: "Lima", days: 2, unit: "celsius" };
const pune = { city: "Pune", days: 1, unit: "celsius" };
const weather = z.object({ city: z.string(), days: z.int(), unit: z.enum(["celsius", "fahrenheit"]) });
const report = z.object({ title: z.string(), acts: z.int(), cast: z.array(z.string()) });
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
const tools = [{ type: "function", function: { name: "get_weather", description: "A forecast.", parameters } }];

function expectCalls(message, wanted) {
  const calls = message.tool_calls ?? [];
  assert.deepEqual(
    calls.map((call) => [call.type, call.function.name, JSON.parse(call.function.arguments)]),
    wanted.map((each) => ["function", "get_weather", each]),
  );
  for (const { id } of calls) assert.match(id, /^call_[A-Za-z0-9]{24,32}$/);
  assert.equal(new Set(calls.map((call) => call.id)).size, calls.length);
}

// ---------------------------------------------------------------------------------------------------------------------
// Create and stream

check("text, whole and streamed", async () => {
  const whole = await gateway.chat.completions.create({ model: "text", messages });
  assert.equal(whole.choices[0].message.content, "The callboard hangs backstage.");
  const pieces = [];
  for await (const chunk of await gateway.chat.completions.create({ model: "text", messages, tools, stream: true })) {
    if (chunk.choices[0]?.delta.content) pieces.push(chunk.choices[0].delta.content);
  }
  assert.equal(pieces.join(""), "The callboard hangs backstage.");
  assert.ok(pieces.length > 1, "the text came in one lump");
});

check("the response header says what was repaired", async () => {
  const { response } = await gateway.chat.completions.create({ model: "sloppy", messages, tools }).withResponse();
  assert.match(response.headers.get("callboard-contract"), /trailing_comma/);
});

check("models", async () => {
  const names = [];
  for await (const model of gateway.models.list()) names.push(model.id);
  assert.ok(names.includes("sloppy") && names.includes("text"), `listed ${names}`);
});

mended("create: a damaged call, then its result", async (client) => {
  const { message, finish_reason } = (await client.chat.completions.create({ model: "sloppy", messages, tools })).choices[0];
  assert.equal(finish_reason, "tool_calls");
  expectCalls(message, [oslo]);
  const result = { role: "tool", tool_call_id: message.tool_calls[0].id, content: "sun" };
  const history = [...messages, message, result];
  const last = await client.chat.completions.create({ model: "sloppy", messages: history, tools });
  assert.equal(last.choices[0].message.content, "Oslo: sun");
});

mended("create: arguments sent as an object", async (client) => {
  const completion = await client.chat.completions.create({ model: "object-arguments", messages, tools });
  expectCalls(completion.choices[0].message, [oslo]);
});

mended("create: a missing argument is asked for again", async (client) => {
  const completion = await client.chat.completions.create({ model: "forgetful", messages, tools });
  expectCalls(completion.choices[0].message, [oslo]);
});

mended("stream: a damaged call", async (client) => {
  const done = [];
  const stream = client.chat.completions.stream({ model: "sloppy", messages, tools });
  stream.on("tool_calls.function.arguments.done", (event) => done.push([event.name, event.index, JSON.parse(event.arguments)]));
  const completion = await stream.finalChatCompletion();
  assert.deepEqual(done, [["get_weather", 0, oslo]]);
  expectCalls(completion.choices[0].message, [oslo]);
  assert.equal(completion.choices[0].finish_reason, "tool_calls");
});

mended("stream: parallel calls under one index, results sent back in another order", async (client) => {
  const ask = (history) => client.chat.completions.stream({ model: "parallel", messages: history, tools }).finalMessage();
  const message = await ask(messages);
  expectCalls(message, [oslo, lima, pune]);
  const results = message.tool_calls.map((call) => {
    return { role: "tool", tool_call_id: call.id, content: `${JSON.parse(call.function.arguments).days}` };
  });
  const last = await ask([...messages, message, ...results.reverse()]);
  assert.equal(last.content, "Oslo: 3; Lima: 2; Pune: 1");
});

check("stream: usage when asked for", async () => {
  const stream = gateway.chat.completions.stream({ model: "sloppy", messages, tools, stream_options: { include_usage: true } });
  assert.equal((await stream.totalUsage()).total_tokens, 30);
});

// ---------------------------------------------------------------------------------------------------------------------
// The tool runner

function adder(seen) {
  return {
    type: "function",
    function: {
      name: "add",
      description: "Adds two integers.",
      parse: JSON.parse,
      parameters: { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } }, required: ["a", "b"] },
      function: ({ a, b }) => {
        seen.push([a, b]);
        return String(a + b);
      },
    },
  };
}

for (const stream of [false, true]) {
  mended(`runTools${stream ? ", streamed" : ""}: two rounds of damaged calls`, async (client) => {
    const seen = [];
    const runner = client.chat.completions.runTools({ model: "sums", messages, tools: [adder(seen)], stream });
    assert.equal(await runner.finalContent(), "The sum is 10.");
    assert.deepEqual(seen, [[2, 3], [5, 5]]);
  });
}

// ---------------------------------------------------------------------------------------------------------------------
// Parse

mended("parse: strict zod tools", async (client) => {
  const strict = [zodFunction({ name: "get_weather", parameters: weather })];
  const { message } = (await client.chat.completions.parse({ model: "sloppy", messages, tools: strict })).choices[0];
  assert.deepEqual(message.tool_calls.map((call) => call.function.parsed_arguments), [oslo]);
});

mended("parse: a zod response format", async (client) => {
  const response_format = zodResponseFormat(report, "report");
  const { message } = (await client.chat.completions.parse({ model: "report", messages, response_format })).choices[0];
  assert.deepEqual(message.parsed, { title: "Hamlet", acts: 5, cast: ["Hamlet", "Ophelia"] });
});

mended("stream: a zod response format", async (client) => {
  const response_format = zodResponseFormat(report, "report");
  const message = await client.chat.completions.stream({ model: "report", messages, response_format }).finalMessage();
  assert.deepEqual(message.parsed, { title: "Hamlet", acts: 5, cast: ["Hamlet", "Ophelia"] });
});

// ---------------------------------------------------------------------------------------------------------------------
// Errors

async function rejects(kind, request, wanted) {
  const error = await request().then(() => assert.fail(`no ${kind.name}`), (error) => error);
  assert.ok(error instanceof kind, inOneLine(error));
  for (const [name, value] of Object.entries(wanted)) assert.equal(error[name], value, `${name}: ${error[name]}`);
}

check("400 for a tool result without its call, with the place", () => {
  const history = [...messages, { role: "tool", tool_call_id: "call_nowhere", content: "3" }];
  const request = () => gateway.chat.completions.create({ model: "text", messages: history, tools });
  return rejects(BadRequestError, request, { status: 400, param: "messages[1].tool_call_id", type: "invalid_request_error" });
});

check("404 for an unknown model", () => {
  const request = () => gateway.chat.completions.create({ model: "no-such-model", messages });
  return rejects(NotFoundError, request, { status: 404, code: "model_not_found" });
});

check("502 with its code when the model stays bad", () => {
  const request = () => gateway.chat.completions.create({ model: "always-without-days", messages, tools });
  return rejects(InternalServerError, request, { status: 502, code: "invalid_tool_arguments" });
});

check("the same code in a stream", () => {
  const request = () => gateway.chat.completions.stream({ model: "always-without-days", messages, tools }).finalMessage();
  return rejects(APIError, request, { code: "invalid_tool_arguments" });
});

check("runTools stops with the code", () => {
  const request = { model: "always-unknown-tool", messages, tools: [adder([])] };
  return rejects(APIError, () => gateway.chat.completions.runTools(request).finalContent(), { code: "unknown_tool_call" });
});

// ---------------------------------------------------------------------------------------------------------------------

process.exitCode = await checks.run();
