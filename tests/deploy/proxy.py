"""nginx with deploy/nginx.conf, in front of two ports of this machine."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
CONFIGURATION = Path(__file__).parents[2] / "deploy/nginx.conf"
PATIENCE = 600.0
NAMES = ("epsilond-1:8000", "epsilond-2:8000")
"""The replicas in the file."""


def free_port() -> int:
    """A port of the loopback where nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def listens(port: int) -> bool:
    """Whether something does there."""
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def nginx(folder: Path, ports: Sequence[int]) -> Iterator[int]:
    """nginx, as it is deployed, but for the addresses and its folder.

    Raises:
        RuntimeError: it refuses its configuration, or does not listen.
    """
    port, text = free_port(), CONFIGURATION.read_text(encoding="utf-8")
    for name, to in zip(NAMES, ports, strict=True):
        text = text.replace(name, f"127.0.0.1:{to}")
    text = text.replace("listen 8080", f"listen 127.0.0.1:{port}").replace("/tmp/", f"{folder}/")
    (folder / "nginx.conf").write_text(f"daemon off;\n{text}")
    command = [str(NGINX), "-e", "stderr", "-c", str(folder / "nginx.conf"), "-p", str(folder)]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    if checked.returncode:
        raise RuntimeError(checked.stderr)
    running = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + PATIENCE
        while not listens(port):
            if running.poll() is not None or time.monotonic() > until:
                raise RuntimeError("nginx does not listen")
            time.sleep(0.01)
        yield port
    finally:
        running.terminate()
        running.wait()
