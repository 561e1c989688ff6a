// What others say is text, and pages of other origins stay outside.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { close, launch, open } from "./harness/browser.mjs";
import { hasResults, ModelServer } from "./harness/model-server.mjs";
import { Callboard } from "./harness/process.mjs";
import { call, say } from "./harness/talk.mjs";

const MARKUP = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script><b>bold</b>";
const STRANGE = "\u202e\u2067right to left \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627\u2069 \ud83e\udd16\ud83c\udff3\ufe0f\u200d\ud83c\udf08 \u0000\u0007 \ufffd Z\u0351\u036b\u0343";
const HUGE = "w".repeat(200_000);

let browser, model, callboard;

before(async () => {
  [browser, model] = await Promise.all([launch(), ModelServer.start()]);
  model.model("scripted", (reply) => reply.text("Hello."));
  model.model("hostile", (reply, request) => {
    if (hasResults(request)) return reply.text(`${MARKUP} ${STRANGE} ${HUGE}`);
    return reply.call("attack", JSON.stringify({ text: `${MARKUP} ${STRANGE}` }));
  });
  callboard = await Callboard.start({ upstream: model.url });
});

after(async () => {
  await Promise.all([browser?.close(), callboard?.close()]);
  model?.close();
});

test("markup, huge strings, right-to-left text and emoji are shown as text and break nothing", async () => {
  const page = await open(browser, callboard, "#/talk?with=hostile");
  await say(page, MARKUP);
  await page.locator(".words", { hasText: "right to left" }).waitFor();
  await call(page, "attack").locator("summary").click();
  await page.getByRole("button", { name: "Prompt" }).click();
  await page.getByRole("dialog").getByText("onerror").first().waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "History" }).click();
  await page.getByRole("dialog").getByText("onerror").first().waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("complementary", { name: "Board" }).locator(".warning", { hasText: "onerror" }).waitFor();
  const made = await page.evaluate(() => document.querySelectorAll("main img, main script, main b, main u, main i:not(.track i)").length);
  assert.equal(made, await page.locator(".warning > b").count(), "elements that came from text");
  assert.match(await page.title(), /Callboard/);
  const [needed, given] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(needed <= given, `${needed} pixels wide in a window of ${given}`);
  await close(page);
});

test("a page of another origin reads nothing and changes nothing", async () => {
  const id = await callboard.conversation();
  const other = createServer((request, response) => response.setHeader("content-type", "text/html").end("<title>Other</title>"));
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  // The same machine is another site by another name, which browsers resolve to loopback.
  const page = await (await browser.newContext()).newPage();
  await page.goto(`http://other.localhost:${other.address().port}/`);
  const outcomes = await page.evaluate(attempts, { url: callboard.url, id });
  assert.deepEqual(outcomes, { get: "refused", post: "refused", plain: "opaque", events: "refused", frame: "empty", script: "refused" });
  const { data } = await callboard.request(`/v1/conversations/${id}/items`);
  assert.deepEqual(data, []);
  await page.context().close();
  other.close();
});

/** Runs in the other page. */
async function attempts({ url, id }) {
  const asked = (path, options) => fetch(url + path, options).then((response) => (response.type === "opaque" ? "opaque" : "read"), () => "refused");
  const items = JSON.stringify({ items: [{ type: "message", role: "user", content: "planted" }] });
  const json = { method: "POST", headers: { "content-type": "application/json" }, body: items };
  const frame = document.createElement("iframe");
  const loaded = new Promise((resolve) => (frame.onload = resolve));
  frame.src = url;
  document.body.append(frame);
  await loaded;
  const isSeen = () => {
    try {
      return frame.contentDocument.title;
    } catch {
      return "";
    }
  };
  const script = document.createElement("script");
  const ran = new Promise((resolve) => Object.assign(script, { onload: () => resolve("ran"), onerror: () => resolve("refused") }));
  script.src = `${url}/page/ui.js`;
  document.head.append(script);
  return {
    get: await asked("/v1/conversations"),
    post: await asked(`/v1/conversations/${id}/items`, json),
    plain: await asked(`/v1/conversations/${id}/items`, { method: "POST", mode: "no-cors", body: items }),
    events: await asked("/v1/events"),
    frame: isSeen() ? "seen" : "empty",
    script: await ran,
  };
}
