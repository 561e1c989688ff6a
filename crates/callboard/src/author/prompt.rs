//! The prompt of a conversation at the terminal: a line with editing and history. Its thread ends with it.

use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use tokio::sync::{mpsc, oneshot};

/// The prompt lives on a thread of its own, since reading a line blocks.
pub(super) struct Prompt {
    asks: mpsc::Sender<oneshot::Sender<Option<String>>>,
}

impl Prompt {
    pub(super) fn start() -> Self {
        let (asks, mut asked) = mpsc::channel::<oneshot::Sender<Option<String>>>(1);
        tokio::task::spawn_blocking(move || {
            let mut editor = DefaultEditor::new().ok();
            while let Some(answer) = asked.blocking_recv() {
                if answer.send(read_line(&mut editor)).is_err() {
                    break;
                }
            }
        });
        Self { asks }
    }

    /// The next line; none when the user has enough.
    pub(super) async fn line(&mut self) -> Option<String> {
        let (answer, line) = oneshot::channel();
        self.asks.send(answer).await.ok()?;
        line.await.ok().flatten()
    }
}

fn read_line(editor: &mut Option<DefaultEditor>) -> Option<String> {
    loop {
        let editor = editor.as_mut()?;
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
