"""Pipes at which a scripted model or a tool waits, so that a check decides what happens when."""
import os
import tempfile


class Pipes:
    """Pipes in a folder of their own, which is gone at the end."""

    def __init__(self):
        self.made = 0

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="callboard-pipes-")
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def new(self):
        self.made += 1
        path = os.path.join(self.folder.name, str(self.made))
        os.mkfifo(path)
        return path

    def reached(self, path):
        """Waits until somebody waits at the pipe. They go on when what is returned is closed."""
        return open(path, "w", encoding="utf-8")

    def release(self, path):
        self.reached(path).close()
