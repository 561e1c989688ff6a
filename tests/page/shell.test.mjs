// The frame of the page: how it is served, its key, its theme, and its connection.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { checkView, close, launch, open } from "./harness/browser.mjs";
import { ModelServer } from "./harness/model-server.mjs";
import { Callboard } from "./harness/process.mjs";

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

test("the first load is small, and the policy is strict", async () => {
  const page = await open(browser, callboard);
  await page.getByRole("navigation").getByText("Talk").waitFor();
  const loaded = await page.evaluate(() => {
    const entries = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
    return entries.filter(({ name }) => !name.includes("/v1/")).map(({ encodedBodySize }) => encodedBodySize);
  });
  const bytes = loaded.reduce((sum, size) => sum + size, 0);
  assert.ok(bytes > 10_000 && bytes < 150_000, `${bytes} bytes in ${loaded.length} files`);
  const response = await fetch(callboard.url);
  const policy = response.headers.get("content-security-policy");
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe/);
  assert.match(policy, /frame-ancestors 'none'/);
  await close(page);
});

test("a key is asked for, refused, accepted and kept for the tab", async () => {
  const guarded = await Callboard.start({ upstream: model.url, environment: { CALLBOARD_API_KEYS: "right" } });
  const page = await open(browser, guarded);
  const dialog = page.getByRole("dialog", { name: "API key" });
  await dialog.getByLabel("Key").fill("wrong");
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByText("This key is not accepted.").waitFor();
  await dialog.getByLabel("Key").fill("right");
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "hidden" });
  await page.reload();
  await page.getByRole("status").getByText("127.0.0.1").waitFor();
  assert.equal(await dialog.count(), 0);
  await page.getByRole("button", { name: "Forget the key" }).click();
  await dialog.getByText("This Callboard asks for an API key.").waitFor();
  for (const path of ["v1/events", "v1/characters", "v1/conversations", "v1/traces", "v1/calls", "v1/calls/summary", "v1/traces/1/golden_page", "v1/upstreams", "metrics"]) {
    assert.equal((await fetch(`${guarded.url}/${path}`)).status, 401, path);
  }
  await close(page, [/401/]);
  await guarded.close();
});

test("the question for a key is well made in both themes, on a desk and on a phone", async () => {
  const guarded = await Callboard.start({ upstream: model.url, environment: { CALLBOARD_API_KEYS: "right" } });
  const ready = (page) => page.getByRole("dialog", { name: "API key" }).waitFor();
  await checkView(browser, guarded, { name: "key", hash: "", ready, expected: [/401/] });
  await guarded.close();
});

test("the theme follows the system until one is chosen", async () => {
  const page = await open(browser, callboard, "", { colorScheme: "dark" });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.getByRole("button", { name: "Light theme" }).waitFor();
  const dark = await background();
  await page.getByRole("button", { name: "Light theme" }).click();
  assert.notEqual(await background(), dark);
  await page.reload();
  await page.getByRole("button", { name: "Dark theme" }).click();
  assert.equal(await background(), dark);
  await close(page);
});

test("the page says when Callboard is gone, and comes back", async () => {
  const mortal = await Callboard.start({ upstream: model.url });
  const page = await open(browser, mortal);
  const status = page.getByRole("navigation").getByRole("status");
  await status.getByText("127.0.0.1").waitFor();
  await mortal.stop();
  await status.getByText("Not connected").waitFor();
  await mortal.run();
  await status.getByText("127.0.0.1").waitFor();
  await close(page, [/ERR_/]);
  await mortal.close();
});
