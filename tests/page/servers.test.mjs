// Servers: what answers and what is known of it, how to connect, and a test of the connection.

import { after, before, test } from "node:test";

import { checkView, close, launch, open } from "./harness/browser.mjs";
import { ModelServer } from "./harness/model-server.mjs";
import { Callboard } from "./harness/process.mjs";

let browser, model, callboard;

before(async () => {
  [browser, model] = await Promise.all([launch(), ModelServer.start()]);
  model.model("caller", (reply) => reply.call("get_weather", '{"city":"Paris",}'));
  model.model("talker", (reply) => reply.text("Sunny, I suppose."));
  callboard = await Callboard.start({ upstream: model.url });
});

after(async () => {
  await Promise.all([browser?.close(), callboard?.close()]);
  model?.close();
});

test("a server is shown with its models, and a model is tried with a tool", async () => {
  const page = await open(browser, callboard, "#/servers");
  await page.getByText("Answers, 2 models: caller, talker.").waitFor();
  await page.getByRole("combobox", { name: "Model" }).selectOption("caller");
  await page.getByRole("button", { name: "Test the connection" }).click();
  await page.getByText("it calls tools").waitFor();
  await page.getByText('get_weather {"city":"Paris"}').waitFor();
  await page.getByText("contract: repaired=trailing_comma").waitFor();
  await page.getByRole("combobox", { name: "Model" }).selectOption("talker");
  await page.getByRole("button", { name: "Test the connection" }).click();
  await page.getByText("it answers, without a call").waitFor();
  await page.getByRole("link", { name: "What happened" }).click();
  await page.locator("tr.call-row", { hasText: "talker" }).waitFor();
  await close(page);
});

test("what a probe has found is shown for each model", async () => {
  const [method, headers] = ["POST", { "content-type": "application/json" }];
  await fetch(`${callboard.url}/v1/upstreams/probe`, { method, headers, body: JSON.stringify({ model: "talker" }) });
  const page = await open(browser, callboard, "#/servers");
  await page.getByText("What is known of its models").click();
  await page.getByText("Tools reach it in the request, by default.").waitFor();
  const row = page.getByRole("table", { name: "Findings about talker" }).getByRole("row", { name: "tool_choice:required" });
  await row.getByText("ignored").waitFor();
  await row.getByText(/^\d{4}-\d\d-\d\d$/).waitFor();
  await close(page);
});

test("recipes name this Callboard's own address", async () => {
  const page = await open(browser, callboard, "#/servers");
  const recipe = page.locator("details.recipe", { hasText: "Codex" });
  await recipe.locator("summary").click();
  await recipe.getByText(`base_url = "${callboard.url}/v1"`).waitFor();
  await page.getByText("vLLM", { exact: true }).click();
  await page.getByText("--enable-auto-tool-choice --tool-call-parser hermes").waitFor();
  await close(page);
});

test("a server that is gone is named, with its reason", async () => {
  const mortal = await ModelServer.start();
  const alone = await Callboard.start({ upstream: mortal.url });
  mortal.close();
  const page = await open(browser, alone, "#/servers");
  await page.getByText(/^Does not answer: cannot connect/).waitFor();
  await close(page);
  await alone.close();
});

test("the servers, in both themes and sizes", async () => {
  const ready = (page) => page.getByText("Answers, 2 models").waitFor();
  const prepare = (page) => page.locator("details.recipe").first().locator("summary").click();
  await checkView(browser, callboard, { name: "servers", hash: "#/servers", ready, prepare });
});

test("a server that Callboard starts is shown with what it printed before it ended", async () => {
  const settings = `[[upstream]]\ncommand = ["sh", "-c", "echo no model at {port}; exit 3"]\n`;
  const starting = await Callboard.start({ settings });
  try {
    const ended = async () => (await (await fetch(`${starting.url}/v1/upstreams`)).json()).data[0].process.restarts > 0;
    while (!(await ended()));
    const page = await open(browser, starting, "#/servers");
    await page.getByRole("heading", { name: "sh" }).waitFor();
    await page.getByText("exited with status 3: no model at").waitFor();
    await page.getByText("What it printed before it ended").click();
    await page.getByText(/^no model at \d+$/).waitFor();
    await close(page);
  } finally {
    await starting.close();
  }
});
