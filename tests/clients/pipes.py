"""Pipes at which a scripted model or a tool waits, so that a check decides what happens when and sleeps nowhere."""
import os
import tempfile


class Pipes:
    """Pipes in a folder of their own. At the end it is gone, and everybody who waited goes on."""

    def __init__(self):
        self.made = 0
        self.held = []

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="callboard-pipes-")
        return self

    def __exit__(self, *_):
        for end in self.held:
            end.close()
        self.folder.cleanup()

    def new(self):
        self.made += 1
        path = os.path.join(self.folder.name, str(self.made))
        os.mkfifo(path)
        return path

    def reached(self, path):
        """Returns when somebody waits at the pipe, and keeps them there."""
        self.held.append(open(path, "w", encoding="utf-8"))

    def release(self, path):
        """Lets go on who waits at the pipe, or will."""
        open(path, "w", encoding="utf-8").close()

    def open_for_good(self, path):
        """Puts an empty file in place of the pipe: whoever comes from now on does not wait."""
        os.unlink(path)
        open(path, "w", encoding="utf-8").close()
