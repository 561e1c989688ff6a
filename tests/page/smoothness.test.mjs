// Long conversations stay smooth: the page works only a little for each piece of a reply, however much precedes it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { close, launch, open, processorTime } from "./harness/browser.mjs";
import { gated, ModelServer } from "./harness/model-server.mjs";
import { Callboard } from "./harness/process.mjs";
import { longConversation } from "./harness/talk.mjs";

/** Milliseconds of processor time. A task of the page cannot take longer than the step that it is part of. */
const LONGEST_STEP = 100;
const STEPS = 20;
const PIECES = 10;

let browser, model, callboard;

before(async () => {
  [browser, model] = await Promise.all([launch(), ModelServer.start()]);
  callboard = await Callboard.start({ upstream: model.url });
});

after(async () => {
  await Promise.all([browser?.close(), callboard?.close()]);
  model?.close();
});

test("a reply streams smoothly into a conversation of 300 messages", async () => {
  const gates = Array.from({ length: STEPS }, gated);
  model.model("talkative", async (reply) => {
    for (const [step, gate] of gates.entries()) {
      await gate.opened;
      for (let piece = 0; piece < PIECES; piece += 1) reply.text(`piece ${piece} of step ${step}, with some more words. `);
    }
  });
  const id = await longConversation(callboard, 300);
  const page = await open(browser, callboard, `#/talk/${id}?with=talkative`);
  await page.getByText("Message 299.").waitFor();
  await page.getByRole("textbox", { name: "Message" }).fill("Talk.");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Stop" }).waitFor();
  const used = await processorTime(page);
  const steps = [];
  for (const [step, gate] of gates.entries()) {
    const before = await used();
    gate.open();
    await page.waitForFunction(isShown, `piece ${PIECES - 1} of step ${step},`);
    steps.push(Math.round((await used()) - before));
  }
  assert.ok(Math.max(...steps) <= LONGEST_STEP, `milliseconds of each step: ${steps}`);
  await close(page);
});

/** Runs in the page: looks at the last words only, so that looking costs nothing. */
function isShown(text) {
  return document.querySelector(".turn:last-child .words")?.textContent.includes(text);
}
