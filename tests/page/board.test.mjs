// The board: a character's state as its VIEW describes it, live in every window, with undo.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { checkView, close, launch, open } from "./harness/browser.mjs";
import { ModelServer } from "./harness/model-server.mjs";
import { Callboard } from "./harness/process.mjs";
import { conversationOf, say } from "./harness/talk.mjs";

const UTTERANCES = ["I hold objectives 1 and 2", "Five victory points for me", "I use transhuman on the terminators"];

let browser, model, callboard;

before(async () => {
  [browser, model] = await Promise.all([launch(), ModelServer.start()]);
  model.model("scripted", (reply) => reply.text("Hello."));
  callboard = await Callboard.start({ upstream: model.url });
});

after(async () => {
  await Promise.all([browser?.close(), callboard?.close()]);
  model?.close();
});

function boardOf(page) {
  return page.getByRole("complementary", { name: "Board" });
}

/** The value of a fact, by the title of its part and its label. */
function fact(page, title, label) {
  const part = boardOf(page).locator(".part", { has: page.getByRole("heading", { name: title, exact: true }) });
  return part.locator("dl > div", { has: page.locator("dt", { hasText: label }) }).locator("dd");
}

test("Grimlog's board shows what three utterances have done, and an undo takes it back in every window", async () => {
  const page = await open(browser, callboard, "#/talk?with=grimlog");
  await page.getByRole("heading", { name: "Grimlog" }).waitFor();
  for (const text of UTTERANCES) await say(page, text);
  const id = await conversationOf(page);
  const board = boardOf(page);
  await fact(page, "Player", "VP").getByText("5").waitFor();
  await fact(page, "Now", "Phase").getByText("Command").waitFor();
  await board.getByText("Termagants").first().waitFor();
  // The rule that was broken is named.
  await board.locator(".warning code").first().waitFor();

  const other = await open(browser, callboard, `#/talk/${id}`);
  await fact(other, "Player", "VP").getByText("5").waitFor();
  const scored = board.locator(".timeline li", { hasText: /VP|victory/i }).first();
  await scored.getByRole("button", { name: /^Undo/ }).press("Enter");
  for (const window of [page, other]) await fact(window, "Player", "VP").getByText("0").waitFor();
  await close(page);
  await close(other);
});

test("what another client does arrives in an open window, also after a restart", async () => {
  const mortal = await Callboard.start({ upstream: model.url });
  const id = await mortal.conversation();
  await mortal.say(id, "grimlog", UTTERANCES[1]);
  const page = await open(browser, mortal, `#/talk/${id}`);
  await fact(page, "Player", "VP").getByText("5", { exact: true }).waitFor();
  await mortal.say(id, "grimlog", UTTERANCES[1]);
  await fact(page, "Player", "VP").getByText("10").waitFor();
  await page.locator(".me", { hasText: UTTERANCES[1] }).nth(1).waitFor();
  await mortal.stop();
  await page.getByRole("navigation").getByText("Not connected").waitFor();
  await mortal.run();
  await mortal.say(id, "grimlog", UTTERANCES[1]);
  await fact(page, "Player", "VP").getByText("15").waitFor();
  await page.locator(".me", { hasText: UTTERANCES[1] }).nth(2).waitFor();
  assert.equal(await page.getByRole("article").count(), 3);
  await close(page, [/ERR_/]);
  await mortal.close();
});

test("a board stands alone on a second screen, and follows", async () => {
  const id = await callboard.conversation();
  await callboard.say(id, "grimlog", UTTERANCES[1]);
  const page = await open(browser, callboard, `#/talk/${id}`);
  const opened = page.context().waitForEvent("page");
  await boardOf(page).getByRole("link", { name: "Open alone" }).click();
  const alone = await opened;
  await fact(alone, "Player", "VP").getByText("5", { exact: true }).waitFor();
  assert.equal(await alone.getByRole("textbox", { name: "Message" }).count(), 0);
  await callboard.say(id, "grimlog", UTTERANCES[1]);
  await fact(alone, "Player", "VP").getByText("10").waitFor();
  await close(page);
});

test("an undo that others build on asks before it takes them too", async () => {
  const id = await callboard.conversation();
  const add = (number) => callboard.request("/v1/characters/mender/tools/add", { body: { conversation: id, arguments: { number } } });
  await add(1);
  await add(2);
  const page = await open(browser, callboard, `#/talk/${id}`);
  const board = boardOf(page);
  await board.getByText("3", { exact: true }).waitFor();
  await board.getByRole("button", { name: /Undo add, change 1/ }).click();
  await board.getByRole("button", { name: "Undo it and everything after" }).click();
  await board.getByText("0", { exact: true }).first().waitFor();
  await board.getByText("undone").first().waitFor();
  await close(page, [/409/]);
});

test("the board is well made in both themes, on a desk and on a phone", async () => {
  const id = await callboard.conversation();
  for (const text of [...UTTERANCES, "I use transhuman again on the terminators"]) await callboard.say(id, "grimlog", text);
  const ready = (page) => boardOf(page).locator(".warning").first().waitFor();
  await checkView(browser, callboard, { name: "board-alone", hash: `#/board/${id}`, ready });
  const prepare = (page) => boardOf(page).scrollIntoViewIfNeeded();
  await checkView(browser, callboard, { name: "board", hash: `#/talk/${id}`, ready, prepare });
});
