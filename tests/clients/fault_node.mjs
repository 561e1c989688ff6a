// The official Node SDK in the fault matrix, whole and streamed: its tool runner makes the calls, and zod checks their arguments.
//
//     node fault_node.mjs PACKAGES SECONDS < CASES        both are JSON
//
// A case has a name, url, model, prompt, and whether to stream; its ending is printed as one line with what its tool did.
import { createRequire } from "node:module";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { inOneLine } from "./checks.mjs";

const [packages, seconds] = process.argv.slice(2);
const require = createRequire(join(packages, "package.json"));
const { OpenAI } = require("openai");
const { zodFunction } = require("openai/helpers/zod");
const { z } = require("zod");

const AT_ONCE = 16;
const parameters = z.object({
  title: z.string(),
  number: z.int(),
  urgent: z.boolean(),
  tags: z.array(z.string()),
  text: z.string(),
});

async function finalContent({ url, model, prompt, stream, tool }, did, signal) {
  const write = (note) => {
    did.push(note);
    return `receipt-${2 * note.number}`;
  };
  const client = new OpenAI({ baseURL: url, apiKey: "sk-test" });
  const tools = [zodFunction({ name: tool, description: "Writes a note and gives a receipt.", parameters, function: write })];
  const messages = [{ role: "user", content: prompt }];
  return client.chat.completions.runTools({ model, messages, tools, stream }, { signal }).finalContent();
}

async function ending(one) {
  const did = [];
  const signal = AbortSignal.timeout(1000 * seconds);
  try {
    return { did, text: (await finalContent(one, did, signal)) ?? "" };
  } catch (error) {
    return { did, error: inOneLine(error), hangs: signal.aborted };
  }
}

async function work(cases) {
  for (let one = cases.shift(); one; one = cases.shift()) {
    console.log(JSON.stringify({ name: one.name, ...(await ending(one)) }));
  }
}

const cases = JSON.parse(await text(process.stdin));
await Promise.all(Array.from({ length: AT_ONCE }, () => work(cases)));
