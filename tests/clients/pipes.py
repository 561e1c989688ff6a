"""Pipes at which a scripted model or a tool waits, so that a check decides what happens when and sleeps nowhere."""
import contextlib
import os
import tempfile


class Pipes:
    """Pipes in a folder of their own. At the end the folder is removed, and all that waits at a pipe continues."""

    def __init__(self):
        self.made = 0
        self.held = contextlib.ExitStack()

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="callboard-pipes-")
        return self

    def __exit__(self, *_):
        self.held.close()
        self.folder.cleanup()

    def new(self) -> str:
        self.made += 1
        path = os.path.join(self.folder.name, str(self.made))
        os.mkfifo(path)
        return path

    def reached(self, path: str) -> None:
        """Returns when a reader waits at the pipe, and keeps it there."""
        self.held.enter_context(open(path, "w", encoding="utf-8"))  # noqa: SIM115 - stays open

    def release(self, path: str) -> None:
        """Lets the reader at the pipe continue, the one that waits or the next one."""
        open(path, "w", encoding="utf-8").close()

    def open_for_good(self, path: str) -> None:
        """Puts an empty file in place of the pipe: later readers do not wait."""
        os.unlink(path)
        open(path, "w", encoding="utf-8").close()
