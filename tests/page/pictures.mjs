// The pictures of docs/pictures: Grimlog after a few utterances, the calls of several clients, and a repaired one. Run by scripts/page-pictures.

import { readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";

import { close, launch, open, picture } from "./harness/browser.mjs";
import { hasResults, ModelServer } from "./harness/model-server.mjs";
import { Callboard } from "./harness/process.mjs";

const TOOLS = ["read_file", "replace_in_file", "execute_command"].map((name) => {
  const properties = { path: { type: "string" }, command: { type: "string" }, line: { type: "integer" }, requires_approval: { type: "boolean" } };
  return { type: "function", function: { name, parameters: { type: "object", properties, required: name === "execute_command" ? ["command"] : ["path"], additionalProperties: false } } };
});
const UTTERANCES = ["Moving to movement.", "Moving to shooting.", "I score 5 points.", "I did 5 damage to your Swarmlord.", "I have objective 1."];
const BROKEN = 'CHARACTER_NAME = "Bard"\nINSTRUCTIONS = {"instruction_prompt": "You sing."}\n\nclass PromptGenerator\n    def make_system_prompt(self):\n        return "Sing."\n';

let browser, model, callboard;

before(async () => {
  [browser, model] = await Promise.all([launch(), ModelServer.start()]);
  model.model("qwen3-coder:30b", (reply) => reply.call("execute_command", `{'command': "cargo test", 'requires_approval': False,}`));
  model.model("qwen3:8b", (reply) => reply.call("read_file", '{"path":"src/main.rs"}'));
  model.model("devstral:24b", (reply, body) => reply.call("replace_in_file", hasResults(body) ? '{"path":"src/lib.rs","line":12}' : '{"file":"src/lib.rs"}'));
  model.model("smollm2:1.7b", (reply) => reply.call("replace_in_file", '{"path": 7}'));
  callboard = await Callboard.start({ upstream: model.url, environment: { CALLBOARD_TRACE_CONTENT: "true" } });
  // The characters of the tests are no part of the picture.
  readdirSync(path.join(import.meta.dirname, "characters")).forEach((name) => rmSync(path.join(callboard.characters, name)));
  await callboard.request("/v1/characters/reload", { method: "POST", body: {} });
});

after(async () => {
  await Promise.all([browser?.close(), callboard?.close()]);
  model?.close();
});

async function ask(name, agent) {
  const body = JSON.stringify({ model: name, messages: [{ role: "user", content: "Run the tests." }], tools: TOOLS });
  const headers = { "content-type": "application/json", "user-agent": agent };
  await (await fetch(`${callboard.url}/v1/chat/completions`, { method: "POST", headers, body })).text();
}

async function someCalls() {
  const clients = [["qwen3:8b", "Cline/3.18.0"], ["qwen3-coder:30b", "Cline/3.18.0"], ["devstral:24b", "opencode/1.2.3"], ["smollm2:1.7b", "OpenAI/Python 2.4.0"], ["qwen3:8b", "codex_cli_rs/0.46.0"]];
  for (let round = 0; round < 4; round += 1) {
    for (const [name, agent] of clients) await ask(name, agent);
  }
  await ask("qwen3-coder:30b", "Cline/3.18.0");
}

test("pictures", async () => {
  const conversation = await callboard.conversation();
  for (const words of UTTERANCES) await callboard.say(conversation, "grimlog", words);
  const talk = await open(browser, callboard, `#/talk/${conversation}`);
  await talk.getByText(UTTERANCES.at(-1)).first().waitFor();
  await talk.locator("details.call").first().waitFor();
  await talk.getByRole("complementary").getByText("The Swarmlord").first().waitFor();
  await picture(talk, "talk");
  await close(talk);

  await someCalls();
  const { data } = await callboard.request("/v1/calls?model=qwen3-coder%3A30b&limit=1");
  const turn = await open(browser, callboard, `#/calls/${data[0].turn}?range=15m`);
  await turn.getByRole("heading", { name: "Steps" }).waitFor();
  await turn.locator("tr.call-row").first().waitFor();
  await picture(turn, "turn");
  await close(turn);

  writeFileSync(path.join(callboard.characters, "bard.py"), BROKEN);
  await callboard.request("/v1/characters/reload", { method: "POST", body: {} });
  const characters = await open(browser, callboard, "#/characters");
  await characters.getByRole("article", { name: "bard is not loaded" }).waitFor();
  await picture(characters, "characters");
  await close(characters);
});
