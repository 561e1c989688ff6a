// Calls: the live list over all clients, its filters in the address, its figures, and one turn on its time line.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { checkView, close, launch, open, processorTime } from "./harness/browser.mjs";
import { hasResults, ModelServer } from "./harness/model-server.mjs";
import { Callboard } from "./harness/process.mjs";

const ROLL = { type: "function", function: { name: "roll", parameters: { type: "object", properties: { sides: { type: "integer" } }, required: ["sides"], additionalProperties: false } } };
const FORECAST = { type: "function", function: { name: "forecast", parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } } };

let browser, model, callboard;

before(async () => {
  [browser, model] = await Promise.all([launch(), ModelServer.start()]);
  model.model("tidy", (reply) => reply.call("roll", '{"sides":6}'));
  model.model("sloppy", (reply) => reply.call("roll", '{"sides": "6",}'));
  model.model("stubborn", (reply) => reply.call("roll", '{"sides": "many"}'));
  model.model("corrects-itself", (reply, body) => reply.call("forecast", hasResults(body) ? '{"city":"Paris"}' : '{"town":"Paris"}'));
  model.model("chatty", (reply) => reply.text("Hello."));
  callboard = await Callboard.start({ upstream: model.url, environment: { CALLBOARD_TRACE_CONTENT: "true" } });
});

after(async () => {
  await Promise.all([browser?.close(), callboard?.close()]);
  model?.close();
});

/** A turn of another client; its status. */
async function ask(name, { tools = [ROLL, FORECAST], stream = false, agent = "Dice/1.0", at = callboard } = {}) {
  const messages = [{ role: "user", content: "It's your turn." }];
  const body = JSON.stringify({ model: name, messages, stream, ...(tools && { tools }) });
  const headers = { "content-type": "application/json", "user-agent": agent };
  const response = await fetch(`${at.url}/v1/chat/completions`, { method: "POST", headers, body });
  await response.text();
  return response.status;
}

async function someTurns() {
  assert.equal(await ask("tidy"), 200);
  assert.equal(await ask("sloppy", { agent: "Cline/3.18.0 (linux)", stream: true }), 200);
  assert.equal(await ask("corrects-itself"), 200);
  assert.equal(await ask("stubborn"), 502);
  assert.equal(await ask("chatty", { tools: null }), 200);
}

const row = (page, text) => page.locator("tr.call-row", { hasText: text });

test("an empty list says what to do", async () => {
  const fresh = await Callboard.start({ upstream: model.url });
  const ready = (page) => page.getByRole("heading", { name: "No calls yet" }).waitFor();
  await checkView(browser, fresh, { name: "calls-empty", hash: "#/calls", ready });
  await fresh.close();
});

test("calls of all clients come in live, with their verdicts", async () => {
  const page = await open(browser, callboard, "#/calls");
  await page.getByRole("heading", { name: "Calls", exact: true }).waitFor();
  await someTurns();
  for (const [text, verdict] of [["tidy", "valid"], ["sloppy", "repaired"], ["corrects-itself", "asked again"], ["stubborn", "refused"], ["chatty", "answered"]]) {
    await row(page, text).filter({ hasText: verdict }).first().waitFor();
  }
  await row(page, "Cline 3.18.0").waitFor();
  await page.getByText("What the contract did").waitFor();
  await page.getByText(/\d+ calls?, \d+ repaired/).first().waitFor();
  await close(page);
});

test("filters are in the address, and a view can be shared", async () => {
  await someTurns();
  const page = await open(browser, callboard, "#/calls");
  await page.getByRole("button", { name: "repaired" }).click();
  await row(page, "sloppy").first().waitFor();
  await row(page, "tidy").first().waitFor({ state: "detached" });
  assert.match(page.url(), /verdict=repaired/);
  await page.getByRole("searchbox", { name: "Filter" }).fill("client:dice tool:roll");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Nothing matches" }).waitFor();
  assert.match(page.url(), /client=dice/);
  const shared = await open(browser, callboard, new URL(page.url()).hash);
  await shared.getByRole("heading", { name: "Nothing matches" }).waitFor();
  assert.equal(await shared.getByRole("button", { name: "repaired" }).getAttribute("aria-pressed"), "true");
  await shared.getByRole("button", { name: "Clear" }).click();
  await row(shared, "tidy").first().waitFor();
  await close(shared);
  await close(page);
});

test("a turn shows what was written, what became of it, and why", async () => {
  await ask("sloppy", { stream: true });
  const page = await open(browser, callboard, "#/calls?model=sloppy");
  await row(page, "sloppy").first().getByRole("link").focus();
  await page.keyboard.press("Enter");
  const turn = page.getByRole("complementary", { name: "One turn" });
  for (const step of ["request read", "model", "repaired", "stored and sent"]) {
    await turn.getByRole("listitem").filter({ hasText: step }).first().waitFor();
  }
  assert.equal(await turn.locator(".was").innerText(), 'The model wrote:\nroll {"sides": "6",}');
  assert.equal(await turn.locator(".now").innerText(), 'It became:\nroll {"sides":6}');
  await turn.getByText("Trailing comma, number from text: sides").waitFor();
  await turn.getByText("raw bytes").click();
  await turn.locator("pre", { hasText: "data: " }).waitFor();
  await close(page);
});

test("a refused call says why", async () => {
  await ask("stubborn");
  const page = await open(browser, callboard, "#/calls?model=stubborn");
  await row(page, "stubborn").first().click();
  const turn = page.getByRole("complementary", { name: "One turn" });
  await turn.getByText("Failed with 502 invalid_tool_arguments").waitFor();
  await turn.getByText(/"many" is not of type "integer"/).first().waitFor();
  await close(page);
});

test("a turn is copied as curl, which sends it again, and saved as a golden page", async () => {
  await ask("sloppy", { stream: true });
  const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"], acceptDownloads: true });
  const page = await open(browser, callboard, "#/calls?model=sloppy", { context });
  await row(page, "sloppy").first().click();
  await page.getByRole("button", { name: "Copy as curl" }).click();
  await page.getByText("Copied").first().waitFor();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  const { stdout } = await promisify(execFile)("bash", ["-c", command]);
  assert.match(stdout, /"arguments":"\{\\"sides\\":6\}"/);
  assert.match(stdout, /data: \[DONE\]/);
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export as a golden page" }).click()]);
  assert.match(download.suggestedFilename(), /^sloppy-[0-9a-f]{8}\.md$/);
  const text = await readFile(await download.path(), "utf8");
  for (const part of ["## Request\n", "## Upstream 1\n", "```sse\n", "It's your turn."]) assert.ok(text.includes(part), `${part}\n${text}`);
  await close(page);
});

test("without content the page says how to record it", async () => {
  const bare = await Callboard.start({ upstream: model.url });
  await ask("sloppy", { at: bare });
  const page = await open(browser, bare, "#/calls");
  await row(page, "sloppy").click();
  const turn = page.getByRole("complementary", { name: "One turn" });
  await turn.getByText("CALLBOARD_TRACE_CONTENT=true callboard").waitFor();
  await turn.getByText("Trailing comma, number from text").waitFor();
  await close(page);
  await bare.close();
});

test("the list and a turn, in both themes and sizes", async () => {
  await someTurns();
  await checkView(browser, callboard, { name: "calls", hash: "#/calls", ready: (page) => row(page, "tidy").first().waitFor() });
  const { data } = await callboard.request("/v1/calls?model=sloppy&limit=1");
  const ready = (page) => page.getByRole("heading", { name: "Steps" }).waitFor();
  await checkView(browser, callboard, { name: "turn", hash: `#/calls/${data[0].turn}`, ready });
});

/** The most processor time, in milliseconds, that the page takes for a step of scrolling from the end to the beginning. */
async function busiestStep(page) {
  const used = await processorTime(page);
  let [most, before] = [0, await used()];
  for (let top = 200_000; top >= 0; top -= 2000) {
    await page.evaluate((position) => new Promise((resolve) => (scrollTo({ top: position }), requestAnimationFrame(() => requestAnimationFrame(resolve)))), top);
    const now = await used();
    [most, before] = [Math.max(most, now - before), now];
  }
  return most;
}

test("5,000 calls scroll without a long task", async () => {
  const busy = await Callboard.start({ upstream: model.url, environment: { CALLBOARD_TRACE_CONTENT: "false" } });
  const total = 5000;
  for (let sent = 0; sent < total; sent += 100) {
    const batch = Array.from({ length: 100 }, (_, place) => ask(place % 3 ? "tidy" : "sloppy", { at: busy }));
    assert.ok((await Promise.all(batch)).every((status) => status === 200));
  }
  const page = await open(browser, busy, "#/calls");
  await row(page, "tidy").first().waitFor();
  const shown = () => page.locator(".call-list [role=status]").innerText();
  while (!(await shown()).startsWith("5,000 entries")) {
    await page.evaluate(() => scrollTo({ top: document.documentElement.scrollHeight }));
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  }
  assert.ok((await page.locator("tr.call-row").count()) < 150, "only rows in sight are in the document");
  const most = await busiestStep(page);
  assert.ok(most > 0 && most <= 100, `a step took ${most} ms`);
  await row(page, "tidy").first().waitFor();
  await close(page);
  await busy.close();
});
