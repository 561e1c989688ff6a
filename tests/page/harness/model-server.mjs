// A model server whose replies are scripted by the tests: each model name is a function that writes its reply.

import { once } from "node:events";
import { createServer } from "node:http";

export class ModelServer {
  static async start() {
    const server = new ModelServer();
    server.scripts = new Map();
    server.requests = [];
    server.http = createServer((request, response) => server.handle(request, response).catch(() => response.destroy()));
    server.http.listen(0, "127.0.0.1");
    await once(server.http, "listening");
    server.url = `http://127.0.0.1:${server.http.address().port}/v1`;
    return server;
  }

  /** A model that answers like this: `write` gets a Reply and the request, and may take its time. */
  model(name, write) {
    this.scripts.set(name, write);
  }

  close() {
    this.http.closeAllConnections();
    this.http.close();
  }

  async handle(request, response) {
    if (request.url.endsWith("/models")) {
      const data = [...this.scripts.keys()].map((id) => ({ id, object: "model", created: 0, owned_by: "tests" }));
      return response.setHeader("content-type", "application/json").end(JSON.stringify({ object: "list", data }));
    }
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const body = JSON.parse(Buffer.concat(pieces));
    this.requests.push(body);
    const reply = new Reply(body, response);
    const script = this.scripts.get(body.model);
    if (!script) return response.writeHead(404).end(JSON.stringify({ error: { message: `no model ${body.model}` } }));
    await script(reply, body);
    return reply.end();
  }
}

/** A reply as it is written, streamed or whole as the request asks. */
class Reply {
  constructor(request, response) {
    Object.assign(this, { request, response, content: "", calls: [] });
    this.gone = once(response, "close").catch(() => {});
    if (request.stream) response.writeHead(200, { "content-type": "text/event-stream" });
  }

  text(content) {
    this.content += content;
    this.chunk({ content });
  }

  call(name, args) {
    const index = this.calls.length;
    const call = { id: `upstream-${index}`, type: "function", function: { name, arguments: args } };
    this.calls.push(call);
    this.chunk({ tool_calls: [{ index, ...call }] });
  }

  chunk(delta, finish = null) {
    if (this.request.stream) this.send({ object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] });
  }

  send(fields) {
    const common = { id: "chatcmpl-scripted", created: 0, model: this.request.model };
    this.response.write(`data: ${JSON.stringify({ ...common, ...fields })}\n\n`);
  }

  end() {
    const finish = this.calls.length ? "tool_calls" : "stop";
    if (!this.request.stream) return this.whole(finish);
    this.chunk({}, finish);
    return this.response.end("data: [DONE]\n\n");
  }

  whole(finish) {
    const message = { role: "assistant", content: this.content || null, ...(this.calls.length && { tool_calls: this.calls }) };
    const choices = [{ index: 0, message, finish_reason: finish }];
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const body = { id: "chatcmpl-scripted", object: "chat.completion", created: 0, model: this.request.model, choices, usage };
    this.response.setHeader("content-type", "application/json").end(JSON.stringify(body));
  }
}

/** Whether the newest message of a request is the result of a call. */
export function hasResults({ messages }) {
  return messages.at(-1).role === "tool";
}

/** A promise that a test settles: `const gate = gated(); … await gate.opened … gate.open()`. */
export function gated() {
  let open;
  const opened = new Promise((resolve) => (open = resolve));
  return { opened, open };
}
