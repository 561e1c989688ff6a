//! A model server in a separate process, which can be killed.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

const CODE: &str = r#"
import http.server, json, sys
class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = {"role": "assistant", "content": sys.argv[1]}
        body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
print(server.server_address[1], flush=True)
server.serve_forever()
"#;

/// The process.
pub struct KillableModelServer {
    child: Child,
    /// The base URL.
    pub url: String,
}

impl KillableModelServer {
    /// Starts a server that answers every request with this text.
    pub fn start(text: &str) -> Self {
        let mut command = Command::new("python3");
        let mut child = command.args(["-c", CODE, text]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, url: format!("http://127.0.0.1:{}/v1", line.trim()) }
    }

    /// Sends SIGKILL.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for KillableModelServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
