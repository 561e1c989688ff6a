// Talk: what a person says, what the model calls, and what Callboard made of it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { checkView, close, eventually, launch, open, PHONE, picture } from "./harness/browser.mjs";
import { gated, ModelServer } from "./harness/model-server.mjs";
import { Callboard } from "./harness/process.mjs";
import { call, conversationOf, say } from "./harness/talk.mjs";

let browser, model, callboard;

before(async () => {
  [browser, model] = await Promise.all([launch(), ModelServer.start()]);
  model.model("scripted", (reply) => reply.text("Hello."));
  model.model("mender", mend);
  callboard = await Callboard.start({ upstream: model.url });
});

after(async () => {
  await Promise.all([browser?.close(), callboard?.close()]);
  model?.close();
});

/** Does what the last message of the user names. */
function mend(reply, request) {
  const said = request.messages.findLast(({ role }) => role === "user").content;
  const text = typeof said === "string" ? said : said.map((part) => part.text).join("");
  const results = request.messages.slice(request.messages.findLastIndex(({ role }) => role === "user")).filter(({ role }) => role === "tool").length;
  if (text === "repair" && !results) return reply.call("add", '{"number": "5",}');
  if (text === "wrong" && results === 0) return reply.call("add", '{"number": "many"}');
  if (text === "wrong" && results === 1) return reply.call("add", '{"number": 7}');
  if (text === "fail" && !results) return reply.call("fail", "{}");
  if (text === "rounds" && results === 0) {
    reply.call("add", '{"number": 1}');
    return reply.call("add", '{"number": 2}');
  }
  if (text === "rounds" && results === 2) return reply.call("add", '{"number": 3}');
  return reply.text("Counted.");
}

test("the narrator's call appears in place, and is there after a reload", async () => {
  const page = await open(browser, callboard);
  await page.getByRole("heading", { name: "Narrator" }).waitFor();
  await say(page, "Log that the dragon has arrived.");
  const line = call(page, "log_story_event");
  await line.getByText("valid").waitFor();
  await line.getByText(/of \d+ ms/).waitFor();
  await page.locator(".words", { hasText: "Logged story event" }).waitFor();
  await conversationOf(page);
  await page.reload();
  await call(page, "log_story_event").getByText("valid").waitFor();
  await call(page, "log_story_event").getByText(/of \d+ ms/).waitFor();
  await close(page);
});

test("a first start says what Callboard does, and begins with an example", async () => {
  const page = await open(browser, callboard, "#/talk?with=grimlog");
  await page.getByText("makes their tool calls dependable").waitFor();
  await page.getByRole("button", { name: "I hold objectives 1 and 2." }).click();
  await call(page, "update_objective_control").locator(".chip.valid").waitFor();
  await conversationOf(page);
  await close(page);
});

test("a conversation with a plain model goes on with that model", async () => {
  const id = await callboard.conversation();
  await callboard.say(id, "scripted", "Hi.");
  const page = await open(browser, callboard, `#/talk/${id}`);
  await page.getByRole("heading", { name: "scripted" }).waitFor();
  await say(page, "And again.");
  await page.getByText("Hello.").nth(1).waitFor();
  const { character } = await callboard.request(`/v1/conversations/${id}/state`);
  assert.equal(character, null);
  await close(page);
});

test("a conversation that another client deletes says so", async () => {
  const page = await open(browser, callboard, "#/talk?with=mender");
  await say(page, "repair");
  await callboard.request(`/v1/conversations/${await conversationOf(page)}`, { method: "DELETE" });
  await page.getByRole("alert").getByText("This conversation was deleted.").waitFor();
  await close(page, [/404/]);
});

test("a conversation is deleted from the history, after a second question", async () => {
  const id = await callboard.conversation();
  await callboard.say(id, "scripted", "Forget about this.");
  const page = await open(browser, callboard, "#/talk?with=mender");
  await page.getByRole("button", { name: "History" }).click();
  await page.getByRole("button", { name: "Delete: Forget about this." }).click();
  await page.getByRole("button", { name: "Really delete?: Forget about this." }).click();
  await page.getByRole("dialog").getByText("Forget about this.").waitFor({ state: "detached" });
  assert.equal((await fetch(`${callboard.url}/v1/conversations/${id}`)).status, 404);
  await close(page);
});

test("a repaired call shows what the model wrote and what became of it", async () => {
  const page = await open(browser, callboard, "#/talk?with=mender");
  await say(page, "repair");
  const line = call(page, "add");
  await line.getByText("repaired").first().waitFor();
  await line.locator("summary").press("Enter");
  await line.getByText('{"number": "5",}').waitFor();
  await line.getByText('{"number":5}').waitFor();
  await line.getByText("trailing comma").waitFor();
  await line.getByText("The sum is 5.").waitFor();
  await picture(page, "repaired-call");
  await close(page);
});

test("a call that was asked for again says why", async () => {
  const page = await open(browser, callboard, "#/talk?with=mender");
  await say(page, "wrong");
  const line = page.locator("details.call").first();
  await line.getByText("asked again").waitFor();
  await line.locator("summary").click();
  await line.getByText('{"number": "many"}').first().waitFor();
  await line.getByText("is not of type").first().waitFor();
  await picture(page, "call-asked-again");
  await call(page, "add").getByText("valid").waitFor();
  await close(page);
});

test("a tool that fails says so beside its verdict", async () => {
  const page = await open(browser, callboard, "#/talk?with=mender");
  await say(page, "fail");
  await call(page, "fail").getByText("failed").waitFor();
  await close(page);
});

test("calls are grouped by the rounds of the turn", async () => {
  const page = await open(browser, callboard, "#/talk?with=mender");
  await say(page, "rounds");
  const rounds = () => page.locator(".round").evaluateAll((all) => all.map((one) => one.dataset.round));
  assert.deepEqual(await rounds(), ["1", "1", "2"]);
  await conversationOf(page);
  await page.reload();
  await page.locator('.round[data-round="2"]').waitFor();
  assert.deepEqual(await rounds(), ["1", "1", "2"]);
  await close(page);
});

test("a reply is stopped in its middle, and what was said stays", async () => {
  model.model("slow", async (reply) => {
    reply.text("This is the beginning");
    await reply.gone;
  });
  const page = await open(browser, callboard, "#/talk?with=slow");
  await page.getByRole("textbox", { name: "Message" }).fill("Tell me a long story.");
  await page.keyboard.press("Enter");
  await page.getByText("This is the beginning").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Stopped.").waitFor();
  model.model("slow", (reply) => reply.text("A short one."));
  await say(page, "Then a short one.");
  await page.getByText("A short one.", { exact: true }).waitFor();
  await page.reload();
  await page.getByText("This is the beginning").waitFor();
  assert.equal(await page.getByText("Tell me a long story.").count(), 1);
  await close(page);
});

test("a turn that failed is tried again", async () => {
  model.model("failing", (reply) => reply.response.destroy());
  const page = await open(browser, callboard, "#/talk?with=failing");
  await page.getByRole("textbox", { name: "Message" }).fill("Are you there?");
  await page.keyboard.press("Enter");
  const alert = page.getByRole("alert");
  await alert.waitFor();
  model.model("failing", (reply) => reply.text("Here I am."));
  await alert.getByRole("button", { name: "Try again" }).click();
  await page.getByText("Here I am.").waitFor();
  assert.equal(await page.getByText("Are you there?").count(), 1);
  await close(page, [/50\d/]);
});

test("an earlier message is edited in a fork, with the state of then", async () => {
  const page = await open(browser, callboard, "#/talk?with=mender");
  await say(page, "repair");
  const original = await conversationOf(page);
  await say(page, "rounds");
  await page.getByRole("complementary", { name: "Board" }).getByText("11", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Edit" }).last().click();
  await page.getByRole("textbox", { name: "Edit the message" }).fill("wrong");
  await page.getByRole("button", { name: "Send" }).first().click();
  await page.getByRole("complementary", { name: "Board" }).getByText("12", { exact: true }).waitFor();
  assert.notEqual(await conversationOf(page), original);
  assert.equal(await page.getByRole("article").count(), 2);
  const { state } = await callboard.request(`/v1/conversations/${original}/state`);
  assert.equal(state.sum, 11);
  await page.getByRole("button", { name: "History" }).click();
  await page.getByRole("dialog").getByRole("link", { name: /^repair/ }).first().waitFor();
  await page.keyboard.press("Escape");
  await close(page);
});

test("what the model is given can be looked at", async () => {
  const page = await open(browser, callboard, "#/talk?with=mender");
  await say(page, "repair");
  await page.getByRole("button", { name: "Prompt" }).click();
  const panel = page.getByRole("dialog", { name: "What the model is given" });
  await panel.getByText("You count what you hear.").waitFor();
  await panel.getByText("The sum is 5.").waitFor();
  await panel.getByText("3 tools").waitFor();
  await panel.getByRole("button", { name: "Close" }).click();
  await panel.waitFor({ state: "hidden" });
  await close(page);
});

test("nothing moves while a reply streams", async () => {
  const gate = gated();
  model.model("flowing", async (reply) => {
    reply.text("First words. ");
    await gate.opened;
    for (let line = 0; line < 40; line += 1) reply.text(`Line ${line}\n`);
  });
  const page = await open(browser, callboard, "#/talk?with=flowing");
  await page.getByRole("textbox", { name: "Message" }).fill("Go on.");
  await page.keyboard.press("Enter");
  await page.getByText("First words.").waitFor();
  const place = () => page.locator(".words").evaluate((words) => words.getBoundingClientRect().top + scrollY);
  const before = await place();
  gate.open();
  await page.getByText("Line 39").waitFor();
  await page.getByRole("button", { name: "Send" }).waitFor();
  assert.equal(await place(), before);
  const isAtEnd = () => page.evaluate(() => scrollY + innerHeight >= document.scrollingElement.scrollHeight - 2);
  await eventually(isAtEnd, "the end is in sight");
  await close(page);
});

test("a conversation is held by keyboard alone", async () => {
  const page = await open(browser, callboard, "#/talk?with=mender", { viewport: PHONE });
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  await page.keyboard.type("repair");
  await page.keyboard.press("Enter");
  await call(page, "add").getByText("repaired").waitFor();
  const reached = new Set();
  await page.evaluate(() => document.activeElement.blur());
  for (let step = 0; step < 30; step += 1) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement.ariaLabel ?? document.activeElement.textContent.trim().slice(0, 20)));
  }
  for (const name of ["Skip to the content", "Callboard", "Talk", "Prompt", "History", "New conversation", "Edit", "Retry", "Message", "Send"]) {
    assert.ok(reached.has(name), `${name} is not reached: ${[...reached]}`);
  }
  assert.ok([...reached].some((name) => name.startsWith("add")), "the call is not reached");
  await close(page);
});

test("the beginning and the panels are well made in both themes, on a desk and on a phone", async () => {
  const shows = (text) => (page) => page.getByText(text).first().waitFor();
  await checkView(browser, callboard, { name: "welcome", hash: "#/talk?with=narrator", ready: shows("Log that the dragon") });
  const hash = "#/talk?with=mender";
  const ready = shows("Mender has 2 tools");
  await callboard.say(await callboard.conversation(), "mender", "repair");
  for (const [name, text] of [["Prompt", "You count what you hear."], ["History", "Delete"]]) {
    const prepare = async (page) => {
      await page.getByRole("button", { name }).click();
      await page.getByRole("dialog").getByText(text).first().waitFor();
    };
    await checkView(browser, callboard, { name: name.toLowerCase(), hash, ready, prepare });
  }
});

test("Talk is well made in both themes, on a desk and on a phone", async () => {
  const id = await callboard.conversation();
  for (const text of ["repair", "wrong", "rounds", "fail"]) await callboard.say(id, "mender", text);
  const ready = (page) => call(page, "fail").getByText("failed").waitFor();
  const prepare = (page) => page.locator("details.call summary").first().click();
  await checkView(browser, callboard, { name: "talk", hash: `#/talk/${id}`, ready, prepare });
});
