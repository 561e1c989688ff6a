"""Installation, configuration and startup of each gateway.

Each `start_*` returns the running process and the base address that clients use instead of the upstream's.
"""

import json
import os
import shutil
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from processes import Process, answers, free_port, machine_cpu_seconds

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache"
LITELLM = "litellm[proxy]==1.106.2"
SMG = "smg==1.13.0"
OTHER = "other callboard"
UNTRACED = "callboard without traces"
WITH_CHARACTERS = "callboard with characters"
MODELS = ("whole-tool-call", "streamed-tool-call", "streamed-text", "streamed-text-unpaced")

NGINX_CONFIG = """
daemon off;
pid nginx.pid;
worker_processes {workers};
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    keepalive_requests 100000000;
    upstream model {{
        server {upstream};
        keepalive 256;
        keepalive_requests 100000000;
    }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://model;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_buffering off;
        }}
    }}
}}
"""


@dataclass
class Site:
    """The environment of the gateways, and `running`, which stops them."""

    folder: Path
    running: ExitStack
    load: Path
    key: str
    callboard: Path | None
    upstream: str = ""
    processes: list[Process] = field(default_factory=list)

    def start(self, name: str, command: list, environment=None) -> Process:
        process = self.running.enter_context(Process(name, command, self.folder, environment))
        self.processes.append(process)
        return process

    def foreign_cpu_seconds(self) -> float:
        """CPU time of all processes outside of the bench."""
        return machine_cpu_seconds() - sum(os.times()[:4]) - sum(process.cpu_seconds() for process in self.processes)


def build_load() -> Path:
    """Builds the upstream and load program and returns its path."""
    target = CACHE / "bench-target"
    manifest = ROOT / "bench/load/Cargo.toml"
    run("cargo", "build", "--release", "--locked", "--quiet", "--manifest-path", manifest, "--target-dir", target)
    return target / "release/load"


def start_upstream(site: Site) -> None:
    site.upstream = site.start("upstream", [site.load, "upstream", "--port", 0]).announced_address()


def start_nginx(site: Site) -> tuple[Process, str]:
    need_package("nginx")
    port = free_port()
    prefix = site.folder / "nginx"
    prefix.mkdir()
    config = prefix / "nginx.conf"
    upstream = site.upstream.removeprefix("http://")
    config.write_text(NGINX_CONFIG.format(workers=os.cpu_count(), upstream=upstream, port=port))
    process = site.start("nginx", ["nginx", "-p", f"{prefix}/", "-c", config, "-e", "stderr"])
    base = f"http://127.0.0.1:{port}"
    process.wait_until(lambda: answers(f"{base}/v1/models"), 10)
    return process, base


def callboard(site: Site) -> Path:
    """The program that is measured."""
    if site.callboard is not None:
        return site.callboard.resolve()
    run("cargo", "build", "--release", "--locked", "--quiet", "--package", "callboard", cwd=ROOT)
    return ROOT / "target/release/callboard"


def start_callboard(site: Site) -> tuple[Process, str]:
    return serve_callboard(site, "callboard", callboard(site))


def start_other(site: Site, program: Path) -> tuple[Process, str]:
    """Another build of Callboard, with its own store."""
    return serve_callboard(site, OTHER, program.resolve())


def start_untraced(site: Site) -> tuple[Process, str]:
    return serve_callboard(site, UNTRACED, callboard(site), environment={"CALLBOARD_TRACE_RECORD_PERCENT": "0"})


def start_with_characters(site: Site) -> tuple[Process, str]:
    return serve_callboard(site, WITH_CHARACTERS, callboard(site), options=["--characters", ROOT / "bench/characters"])


def serve_callboard(site: Site, name: str, program: Path, options=(), environment=None, seconds=20) -> tuple[Process, str]:
    upstream = f"{site.upstream}/v1"
    store = f"sqlite:{site.folder / name}.db"  # as in daily use: every turn is traced and counted there
    command = [program, "serve", "--listen", "127.0.0.1:0", "--upstream", upstream, "--store", store, *options]
    process = site.start(name, command, environment)
    return process, process.announced_address(seconds)


def start_litellm(site: Site) -> tuple[Process, str]:
    program = install("bench-venv", "litellm", LITELLM)
    route = {"api_base": f"{site.upstream}/v1", "api_key": "bench"}
    config = site.folder / "litellm.yaml"  # JSON is YAML
    config.write_text(json.dumps({
        "model_list": [{"model_name": model, "litellm_params": {"model": f"openai/{model}", **route}} for model in MODELS],
        "litellm_settings": {"telemetry": False, "num_retries": 0},
    }))
    port = free_port()
    command = [program, "--config", config, "--host", "127.0.0.1", "--port", port, "--num_workers", os.cpu_count()]
    # Uses the package's price list instead of the network; no request log.
    environment = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR", "LITELLM_MASTER_KEY": site.key}
    process = site.start("litellm", command, environment)
    base = f"http://127.0.0.1:{port}"
    process.wait_until(lambda: answers(f"{base}/health/liveliness"), 120)
    return process, base


def start_smg(site: Site) -> tuple[Process, str]:
    program = install("smg-venv", "smg", SMG)
    port, metrics_port = free_port(), free_port()
    command = [program, "launch", "--backend", "openai", "--worker-urls", site.upstream, "--host", "127.0.0.1", "--port", port,
               "--prometheus-host", "127.0.0.1", "--prometheus-port", metrics_port, "--log-level", "warn"]
    process = site.start("smg", command)
    base = f"http://127.0.0.1:{port}"
    process.wait_until(lambda: answers(f"{base}/health"), 60)
    return process, base


def start_floor(site: Site) -> tuple[Process, str]:
    """Callboard's HTTP stack without Callboard: every byte passed on unread."""
    command = [site.load, "forward", "--port", 0, "--to", site.upstream.removeprefix("http://")]
    process = site.start("floor", command)
    return process, process.announced_address()


def need_package(name: str) -> None:
    """Installs a Debian package that has a program of the same name."""
    if shutil.which(name):
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise SystemExit(f"{name} is missing; install it with: sudo apt-get install {name}")
    run("apt-get", "update", "-qq")
    run("apt-get", "install", "-qq", "--no-install-recommends", name, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})


def install(folder: str, program: str, requirement: str) -> Path:
    """Installs a Python package into a folder of its own, unless that version is there."""
    home = CACHE / folder
    stamp = home / "installed"
    if not stamp.exists() or stamp.read_text() != requirement:
        run(sys.executable, "-m", "venv", "--clear", home)
        run(home / "bin/pip", "install", "--quiet", requirement)
        stamp.write_text(requirement)
    return home / "bin" / program


def run(*command, **options):
    """Runs a setup command with its output on standard error, so that standard output has only the table."""
    subprocess.run([str(word) for word in command], check=True, stdout=sys.stderr, **options)


# In the order of each round; nginx is the baseline.
GATEWAYS = {"nginx": start_nginx, "callboard": start_callboard, "litellm": start_litellm}
# Started when asked for.
OTHERS = {"smg": start_smg, "untraced": start_untraced, "floor": start_floor}
