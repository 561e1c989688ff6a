"""A model server that Callboard starts: `startable_model.py PORT [WORD …]`.

Words: `gate=FIFO` waits until the test has opened this pipe; `hang-once=FILE` does not answer the first chat request of all
processes and creates the file when it comes; `child` starts a process of its own session; `pid=FILE` writes its process id
there; `model=NAME` is its model; `vllm` makes it say that it is vLLM.
"""

import http.server
import json
import os
import subprocess
import sys

PORT = int(sys.argv[1])
WORDS = dict(word.partition("=")[::2] for word in sys.argv[2:])
CHILD = subprocess.Popen(["sleep", "1000"], start_new_session=True).pid if "child" in WORDS else None
MODEL = WORDS.get("model", "m")

print("loading the model", flush=True)
if "pid" in WORDS:
    with open(WORDS["pid"], "w") as file:
        file.write(str(os.getpid()))
if "gate" in WORDS:
    with open(WORDS["gate"]) as gate:
        gate.read()


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/version" and "vllm" in WORDS:
            self.reply({"version": "0.9.1"})
        else:
            owner = "vllm" if "vllm" in WORDS else "tests"
            self.reply({"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": owner}]})

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.hang_once()
        print("a secret of", request["model"], flush=True)
        known = {"pid": os.getpid(), "child": CHILD, "environment": dict(os.environ), "folder": os.getcwd()}
        content = json.dumps(known)
        if request.get("stream"):
            delta = {"choices": [{"index": 0, "delta": {"content": content}}]}
            end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
            events = [json.dumps(delta), json.dumps(end), "[DONE]"]
            self.write("text/event-stream", "".join(f"data: {event}\n\n" for event in events))
        else:
            message = {"role": "assistant", "content": content}
            choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
            self.reply({"choices": choices, "usage": {"prompt_tokens": 37, "completion_tokens": 2, "total_tokens": 39}})

    def hang_once(self):
        if "hang-once" in WORDS and not os.path.exists(WORDS["hang-once"]):
            open(WORDS["hang-once"], "w").close()
            while True:
                os.read(os.pipe()[0], 1)

    def reply(self, body):
        self.write("application/json", json.dumps(body))

    def write(self, kind, body):
        """In one piece: a server that is killed has sent all of a reply or nothing."""
        body = body.encode()
        head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
        self.wfile.write(head.encode() + body)

    def log_message(self, *words):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256


Server(("127.0.0.1", PORT), Model).serve_forever()
