// The Vercel AI SDK on the Responses API of Callboard: its own tool loop, led by models that break every call.
//
//     ai_sdk.mjs URL PACKAGES        PACKAGES is the folder whose node_modules hold the SDK
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { Checks } from "./checks.mjs";

const [url, packages] = process.argv.slice(2);
const require = createRequire(join(packages, "package.json"));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { generateText, streamText, Output, stepCountIs, tool } = await load("ai");
const { createOpenAI } = await load("@ai-sdk/openai");
const { z } = await load("zod");

const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: "sk-test" });
const checks = new Checks("ai-sdk");
const prompt = "What is the weather like?";

async function whole(request) {
  const result = await generateText({ prompt, maxRetries: 0, stopWhen: stepCountIs(5), ...request });
  return { text: result.text, output: request.output && result.output, steps: result.steps, messages: result.response.messages };
}

async function streamed(request) {
  const failures = [];
  const onError = ({ error }) => failures.push(error);
  const result = streamText({ prompt, maxRetries: 0, stopWhen: stepCountIs(5), onError, ...request });
  for await (const part of result.fullStream) if (part.type === "error") failures.push(part.error);
  if (failures.length) throw failures[0];
  const { messages } = await result.response;
  return { text: await result.text, output: request.output && (await result.output), steps: await result.steps, messages };
}

function bothWays(name, run) {
  checks.add(`${name}, whole`, () => run(whole));
  checks.add(`${name}, streamed`, () => run(streamed));
}

function kit(seen) {
  return {
    add: tool({
      description: "Adds two integers.",
      inputSchema: z.object({ a: z.int(), b: z.int() }),
      execute: ({ a, b }) => {
        seen.push([a, b]);
        return String(a + b);
      },
    }),
    get_weather: tool({
      description: "A forecast.",
      inputSchema: z.object({ city: z.string(), days: z.int(), unit: z.enum(["celsius", "fahrenheit"]) }),
      execute: ({ city, days }) => {
        seen.push([city, days]);
        return `${days} days of sun`;
      },
    }),
  };
}

bothWays("text", async (ask) => {
  const { text } = await ask({ model: openai.responses("text") });
  assert.equal(text, "The callboard hangs backstage.");
});

bothWays("a tool loop of two rounds", async (ask) => {
  const seen = [];
  const { text, steps } = await ask({ model: openai.responses("sums"), tools: kit(seen) });
  assert.equal(text, "The sum is 10.");
  assert.deepEqual(seen, [[2, 3], [5, 5]]);
  assert.equal(steps.length, 3);
});

bothWays("the same with nothing stored", async (ask) => {
  const seen = [];
  const providerOptions = { openai: { store: false } };
  const { text } = await ask({ model: openai.responses("sums"), tools: kit(seen), providerOptions });
  assert.equal(text, "The sum is 10.");
});

bothWays("three calls at once", async (ask) => {
  const seen = [];
  const { text } = await ask({ model: openai.responses("parallel-same-id"), tools: kit(seen) });
  assert.equal(text, "Oslo: 3 days of sun; Lima: 2 days of sun; Pune: 1 days of sun");
  assert.deepEqual(seen.sort(), [["Lima", 2], ["Oslo", 3], ["Pune", 1]]);
});

bothWays("thinking before a call goes along", async (ask) => {
  const providerOptions = { openai: { reasoningSummary: "auto" } };
  const { text } = await ask({ model: openai.responses("thinking-caller"), tools: kit([]), providerOptions });
  assert.equal(text, "Oslo: 3 days of sun");
});

bothWays("an object by its schema", async (ask) => {
  const schema = z.object({ title: z.string(), acts: z.int(), cast: z.array(z.string()) });
  const { output } = await ask({ model: openai.responses("reporter"), output: Output.object({ schema }) });
  assert.deepEqual(output, { title: "Hamlet", acts: 5, cast: ["Hamlet", "Ophelia"] });
});

bothWays("a character with tools of its own and one of the client", async (ask) => {
  const request = { model: openai.responses("narrator"), prompt: "Open the door and ask for the weather.", tools: kit([]) };
  const { text } = await ask(request);
  assert.equal(text, "Logged story event: The red door was opened | 3 days of sun");
});

bothWays("a chat with a character, which knows its state from the items that are referred to", async (ask) => {
  const model = openai.responses("game_master");
  const messages = [{ role: "user", content: "I am Mira the ranger." }];
  messages.push(...(await ask({ model, prompt: undefined, messages })).messages, { role: "user", content: "torch" });
  const { text } = await ask({ model, prompt: undefined, messages });
  assert.equal(text, "Hero: Mira the ranger, 20 of 20 health. Bag: 1 torch.");
});

bothWays("a model that stays bad is an error", async (ask) => {
  const request = { model: openai.responses("always-unknown-tool"), tools: kit([]) };
  const error = await ask(request).then(() => assert.fail("no error"), (error) => error);
  const words = `${error.message} ${error.responseBody} ${JSON.stringify(error)}`;
  assert.match(words, /unknown_tool_call|launch_rocket/);
});

process.exitCode = await checks.run();
