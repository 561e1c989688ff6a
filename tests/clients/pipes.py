"""Pipes at which a scripted model or a tool waits, so that a check controls the order of events without sleeping."""
import contextlib
import os
import tempfile


class Pipes:
    """Pipes in a temporary folder. On exit the folder is removed, and all readers continue."""

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
        """Returns when a reader waits at the pipe, and keeps it waiting."""
        self.held.enter_context(open(path, "w", encoding="utf-8"))  # noqa: SIM115 - stays open

    def release(self, path: str) -> None:
        """Releases the current or next reader of the pipe."""
        open(path, "w", encoding="utf-8").close()

    def open_for_good(self, path: str) -> None:
        """Replaces the pipe by an empty file: later readers do not wait."""
        os.unlink(path)
        open(path, "w", encoding="utf-8").close()
