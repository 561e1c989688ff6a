// A browser, and pages in it that fail their test when something goes wrong in them unseen.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { afterEach } from "node:test";

const packages = createRequire(path.join(process.env.PAGE_PACKAGES, "package.json"));
const { chromium } = packages("playwright-core");
const AXE = readFileSync(packages.resolve("axe-core/axe.min.js"), "utf8");

/** How long anything may take on a busy machine. */
export const PATIENCE = Number(process.env.PAGE_PATIENCE ?? 60_000);
export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };
export const THEMES = ["light", "dark"];

/** Pages that no test has closed yet. */
const openPages = new Set();

// A test that fails leaves its pages open: they show what it waited for in vain.
afterEach(async () => {
  for (const page of [...openPages].filter((page) => !page.isClosed())) {
    const text = await page.locator("body").innerText().catch(String);
    console.error(`left open at ${page.url()}\n${page.complaints.join("\n")}\n${text}`);
    await page.context().close();
  }
  openPages.clear();
});

export async function launch() {
  // Containers have no user namespaces for the sandbox, and little shared memory.
  const args = ["--no-sandbox", "--disable-dev-shm-usage"];
  return chromium.launch({ executablePath: process.env.CHROMIUM, args, timeout: PATIENCE });
}

/** A page at an address of a Callboard. What it logs as an error is collected in `page.complaints`. */
export async function open(browser, callboard, hash = "", { viewport = DESKTOP, colorScheme = "light", context } = {}) {
  const isPhone = viewport === PHONE;
  const own = context ?? (await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce", hasTouch: isPhone, isMobile: isPhone }));
  own.setDefaultTimeout(PATIENCE);
  await serveSource(own, callboard);
  const page = await own.newPage();
  page.complaints = [];
  page.on("pageerror", (error) => page.complaints.push(String(error)));
  page.on("pageerror", (error) => console.error(error));
  page.on("console", (message) => message.type() === "error" && page.complaints.push(`${message.text()} ${message.location().url}`));
  openPages.add(page);
  await page.goto(`${callboard.url}/${hash}`);
  return page;
}

/** Serves the page's files from a folder instead of the binary, with the headers of the binary. */
async function serveSource(context, callboard) {
  const folder = process.env.PAGE_SOURCE && path.resolve(process.env.PAGE_SOURCE);
  if (!folder) return;
  const policy = (await fetch(`${callboard.url}/`)).headers.get("content-security-policy");
  const isPage = (url) => url.host === callboard.address && (url.pathname === "/" || url.pathname.startsWith("/page/"));
  await context.route(isPage, async (route) => {
    const { pathname } = new URL(route.request().url());
    const file = path.join(folder, pathname === "/" ? "index.html" : pathname.slice("/page/".length));
    if (!existsSync(file)) return route.continue();
    return route.fulfill({ path: file, headers: { "content-security-policy": policy, "content-type": typeOf(file) } });
  });
}

function typeOf(file) {
  const types = { ".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml" };
  return types[path.extname(file)] ?? "text/plain";
}

/** Closes a page, and fails where it has logged errors, but for those that the test expects. */
export async function close(page, expected = []) {
  const complaints = page.complaints.filter((text) => !expected.some((pattern) => pattern.test(text)));
  openPages.delete(page);
  await page.context().close();
  assert.deepEqual(complaints, []);
}

/** Fails where axe-core finds something serious. */
export async function checkAccessibility(page, name) {
  await page.evaluate(AXE);
  const found = await page.evaluate(() => globalThis.axe.run({ resultTypes: ["violations"] }));
  const serious = found.violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
  const told = serious.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.html).join(" | ")}`);
  assert.deepEqual(told, [], name);
}

/** Fails where the Tab key does not lead to something that can be clicked. Of an open dialog, only what is in it is reachable. */
export async function checkKeyboard(page, name) {
  const wanted = await page.evaluate(() => {
    const NATIVE = "a[href], button, input, select, textarea, summary, [tabindex='0']";
    const top = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
    const isShown = (element) => element.checkVisibility({ visibilityProperty: true }) && !element.disabled;
    const shown = [...top.querySelectorAll("*")].filter(isShown);
    const isPointed = (element) => getComputedStyle(element).cursor === "pointer";
    // A row that is one large link holds the link.
    const hasNative = (element) => element.closest(`${NATIVE}, label`) || element.querySelector(NATIVE);
    const lonely = shown.filter((element) => isPointed(element) && !isPointed(element.parentElement) && !hasNative(element));
    globalThis.unreached = new Set(shown.filter((element) => element.matches(NATIVE)));
    return { count: globalThis.unreached.size, lonely: lonely.map((element) => element.outerHTML.slice(0, 100)) };
  });
  assert.deepEqual(wanted.lonely, [], `${name}: clickable, but not by keyboard`);
  await page.evaluate(() => document.activeElement?.blur());
  for (let pressed = 0; pressed < wanted.count + 10; pressed += 1) {
    await page.keyboard.press("Tab");
    await page.evaluate(() => globalThis.unreached.delete(document.activeElement));
  }
  const left = await page.evaluate(() => [...globalThis.unreached].filter((element) => element.isConnected).map((element) => element.outerHTML.slice(0, 100)));
  assert.deepEqual(left, [], `${name}: not reached by the Tab key`);
}

/** A picture of a view, for people to look at. */
export async function picture(page, name, { fullPage = false } = {}) {
  mkdirSync(process.env.PAGE_PICTURES, { recursive: true });
  // What was scrolled is painted.
  await page.evaluate(() => new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted))));
  await page.screenshot({ path: path.join(process.env.PAGE_PICTURES, `${name}.png`), fullPage });
}

/**
 * Shows a view in both themes, on a desk and on a phone: checks it by axe-core and by keyboard, that nothing is wider than the window, and takes pictures.
 * `ready` waits until it is all there.
 */
export async function checkView(browser, callboard, { name, hash, ready, prepare = async () => {}, expected = [] }) {
  for (const colorScheme of THEMES) {
    for (const [size, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
      const page = await open(browser, callboard, hash, { viewport, colorScheme });
      await ready(page);
      await prepare(page);
      const shown = `${name}-${colorScheme}-${size}`;
      await picture(page, shown);
      await checkAccessibility(page, shown);
      // Themes differ in nothing that can be clicked.
      if (colorScheme === THEMES[0]) await checkKeyboard(page, shown);
      const [needed, given] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
      assert.ok(needed <= given, `${shown} is ${needed} pixels wide in a window of ${given}`);
      await close(page, expected);
    }
  }
}

/** The processor time that the page has taken, in milliseconds. Time on a clock would count what other programs take, too. */
export async function processorTime(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => (await session.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value * 1000;
}

/** Waits until a condition in the test holds: `look` is called until it returns something. */
export async function eventually(look, what) {
  const until = Date.now() + PATIENCE;
  for (;;) {
    const found = await look();
    if (found) return found;
    assert.ok(Date.now() < until, `not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
