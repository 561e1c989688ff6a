// A running Callboard with a folder of its own: started on a free port, stopped, and started again on the same one.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";

const ROOT = path.resolve(import.meta.dirname, "../../..");
const OWN_CHARACTERS = path.resolve(import.meta.dirname, "../characters");

export class Callboard {
  /** `upstream` is the URL of a model server, `environment` more settings; or `settings` is the text of a settings file. */
  static async start({ upstream, settings, environment = {} }) {
    const callboard = new Callboard();
    callboard.folder = mkdtempSync(path.join(tmpdir(), "callboard-page-"));
    callboard.characters = path.join(callboard.folder, "characters");
    mkdirSync(callboard.characters);
    for (const folder of [path.join(ROOT, "characters"), OWN_CHARACTERS].filter(existsSync)) {
      cpSync(folder, callboard.characters, { recursive: true, filter: (file) => !file.endsWith("__pycache__") });
    }
    callboard.options = { upstream, environment };
    if (settings) writeFileSync(path.join(callboard.folder, "callboard.toml"), settings);
    callboard.address = "127.0.0.1:0";
    await callboard.run();
    return callboard;
  }

  async run() {
    const { upstream, environment } = this.options;
    const flags = ["--listen", this.address, "--characters", this.characters, ...(upstream ? ["--upstream", upstream] : []), "--model", "rehearsal"];
    const env = { PATH: process.env.PATH, HOME: this.folder, CALLBOARD_STORE: "sqlite:page.db", ...environment };
    const options = { cwd: this.folder, env, stdio: ["ignore", "pipe", "pipe"] };
    this.process = spawn(process.env.CALLBOARD, ["serve", ...flags], options);
    process.once("exit", () => this.process.kill("SIGKILL"));
    this.log = [];
    createInterface({ input: this.process.stderr }).on("line", (line) => this.log.push(line));
    this.exited = once(this.process, "exit");
    this.url = await Promise.race([this.announced(), this.exited.then(() => this.failed())]);
    this.address = new URL(this.url).host;
  }

  async announced() {
    for await (const line of createInterface({ input: this.process.stdout })) {
      const found = /listening on (http:\/\/\S+)/.exec(line);
      if (found) return found[1];
    }
    return this.failed();
  }

  failed() {
    throw new Error(`Callboard did not start:\n${this.log.join("\n")}`);
  }

  /** Stops at once, as a crash would. */
  async stop() {
    this.process.kill("SIGKILL");
    await this.exited;
  }

  async close() {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async request(path, { body, headers = {}, method = body ? "POST" : "GET" } = {}) {
    const text = body && JSON.stringify(body);
    const response = await fetch(`${this.url}${path}`, { method, body: text, headers: { "content-type": "application/json", ...headers } });
    const reply = await response.json();
    if (!response.ok) throw new Error(`${path}: ${JSON.stringify(reply)}`);
    return reply;
  }

  /** A turn over the API, as another client would take it; returns the response. */
  say(conversation, model, input) {
    return this.request("/v1/responses", { body: { model, conversation, input } });
  }

  async conversation(metadata = {}) {
    return (await this.request("/v1/conversations", { body: { metadata } })).id;
  }
}
