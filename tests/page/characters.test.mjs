// Characters: what is loaded, a broken file with its line, a tool by hand, and figures.

import assert from "node:assert/strict";
import { writeFileSync, rmSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";

import { checkView, close, launch, open } from "./harness/browser.mjs";
import { ModelServer } from "./harness/model-server.mjs";
import { Callboard } from "./harness/process.mjs";

const BROKEN = `CHARACTER_NAME = "Broken"
INSTRUCTIONS = {"instruction_prompt": "x"}

class PromptGenerator:
    def __init__(self, instructions)
        pass
`;

let browser, model, callboard;

before(async () => {
  [browser, model] = await Promise.all([launch(), ModelServer.start()]);
  callboard = await Callboard.start({ upstream: model.url });
});

after(async () => {
  await Promise.all([browser?.close(), callboard?.close()]);
  model?.close();
});

const card = (page, name) => page.locator("a.card", { hasText: name });

test("a broken character is shown with its line, and disappears when it is mended", async () => {
  const page = await open(browser, callboard, "#/characters");
  await card(page, "Grimlog").waitFor();
  const file = path.join(callboard.characters, "broken.py");
  writeFileSync(file, BROKEN);
  const problem = page.getByRole("article", { name: "broken is not loaded" });
  await page.getByRole("button", { name: "Reload" }).click();
  await problem.getByText("Line 5:").waitFor();
  assert.match(await problem.locator(".line.current").innerText(), /5.*def __init__\(self, instructions\)$/m);
  const ready = (shown) => shown.getByRole("article", { name: "broken is not loaded" }).waitFor();
  await checkView(browser, callboard, { name: "characters-broken", hash: "#/characters", ready });
  rmSync(file);
  await page.getByRole("button", { name: "Reload" }).click();
  await problem.waitFor({ state: "detached" });
  await close(page);
});

test("a tool is run by hand: its result, and what is wrong with wrong arguments", async () => {
  const page = await open(browser, callboard, "#/characters/grimlog");
  const side = page.getByRole("complementary", { name: "One character" });
  const tool = side.locator("details.tool", { hasText: "update_victory_points" }).first();
  await tool.locator("summary").first().click();
  const form = tool.getByRole("form", { name: "Run update_victory_points" });
  await form.getByRole("button", { name: "Run" }).click();
  await tool.getByText("validation").waitFor();
  await tool.locator("pre.failed").waitFor();
  await form.getByRole("button", { name: "as JSON" }).click();
  await form.getByLabel("Arguments as JSON").fill("{");
  await form.getByRole("button", { name: "Run" }).click();
  await tool.getByText(/^This is not JSON/).waitFor();
  await form.getByLabel("Arguments as JSON").fill('{"player": "you", "points": 5}');
  await form.getByRole("button", { name: "Run" }).click();
  await tool.getByText(/entry 1 of the journal|validation/).waitFor();
  await close(page);
});

test("figures of a tool come with its calls", async () => {
  const conversation = await callboard.conversation();
  await callboard.say(conversation, "grimlog", "I score 5 points");
  const { tools } = await callboard.request("/v1/calls/summary?character=grimlog&turns=all");
  assert.ok(tools.length > 0, "the rehearsal model calls a tool");
  const page = await open(browser, callboard, "#/characters/grimlog");
  const tool = page.locator("details.tool", { hasText: tools[0].tool }).first();
  await tool.getByText(/\d+ calls?/).first().waitFor();
  await close(page);
});

test("the list and one character, in both themes and sizes", async () => {
  await checkView(browser, callboard, { name: "characters", hash: "#/characters", ready: (page) => card(page, "Grimlog").waitFor() });
  const tool = (page) => page.locator("details.tool").first();
  const prepare = (page) => tool(page).locator("summary").first().click();
  await checkView(browser, callboard, { name: "character", hash: "#/characters/grimlog", ready: (page) => tool(page).waitFor(), prepare });
});
