"""What the run counts, and which checks passed. Many threads count at the same time."""

import threading
import time
from collections import Counter
from collections.abc import Iterable

SHOWN = 5


class Report:
    def __init__(self):
        self.lock = threading.Lock()
        self.counts: dict[str, Counter] = {}
        self.complaints: dict[str, list[str]] = {}
        self.passed = self.failed = 0

    def count(self, kind: str, name: str) -> None:
        with self.lock:
            self.counts.setdefault(kind, Counter())[name] += 1

    def complain(self, check: str, complaint: str) -> None:
        """Something that must not happen; the check of that name fails at the end."""
        with self.lock:
            self.complaints.setdefault(check, []).append(f"{complaint} (at {time.strftime('%H:%M:%S', time.gmtime())} UTC)")

    def check(self, name: str, complaints: Iterable[str] = ()) -> None:
        """Prints whether a check passed, with the complaints so far."""
        with self.lock:
            found = [*self.complaints.pop(name, []), *complaints]
        self.passed += not found
        self.failed += bool(found)
        print(f"{'FAILED' if found else 'ok    '} {name}" + (f": {len(found)} of these" if len(found) > 1 else ""))
        for complaint in found[:SHOWN]:
            print(f"         {complaint[:1500]}", flush=True)

    def print_counts(self) -> None:
        for kind, counter in sorted(self.counts.items()):
            print(f"{kind}: {sum(counter.values())}")
            for name, number in counter.most_common():
                print(f"  {number:6} {name}")

    def finish(self) -> int:
        """Checks that complained and were not printed are printed; then the last line. The exit code."""
        for name in list(self.complaints):
            self.check(name)
        self.print_counts()
        print(f"{self.passed} passed, {self.failed} failed")
        return int(self.failed > 0 or self.passed == 0)
