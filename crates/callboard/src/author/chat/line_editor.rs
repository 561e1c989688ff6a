//! The prompt of a conversation at the terminal: a line editor with history.

use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use tokio::sync::{mpsc, oneshot};

/// The line editor, on a separate thread because reading a line blocks. The thread ends when this is dropped.
pub(super) struct Prompt {
    requests: mpsc::Sender<oneshot::Sender<Option<String>>>,
}

impl Prompt {
    pub(super) fn start() -> Self {
        let (requests, mut received) = mpsc::channel::<oneshot::Sender<Option<String>>>(1);
        tokio::task::spawn_blocking(move || {
            let mut editor = DefaultEditor::new().ok();
            while let Some(reply) = received.blocking_recv() {
                if reply.send(read_line(&mut editor)).is_err() {
                    break;
                }
            }
        });
        Self { requests }
    }

    /// The next line; none at the end of the input.
    pub(super) async fn line(&mut self) -> Option<String> {
        let (reply, line) = oneshot::channel();
        self.requests.send(reply).await.ok()?;
        line.await.ok().flatten()
    }
}

fn read_line(editor: &mut Option<DefaultEditor>) -> Option<String> {
    let editor = editor.as_mut()?;
    loop {
        match editor.readline("> ") {
            Ok(line) => {
                let _ = editor.add_history_entry(&line);
                return Some(line);
            }
            Err(ReadlineError::Interrupted) => {}
            Err(_) => return None,
        }
    }
}
