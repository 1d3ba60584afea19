"""A proxy before two ports: nginx with deploy/nginx.conf where it is installed, else one of our own.

Ours takes each connection to the replicas in turn, and to the other if the first is away; it reads nothing of it.
"""

from __future__ import annotations

import asyncio
import itertools
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.environments import ROOT

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
CONFIGURATION = ROOT / "deploy/nginx.conf"
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
def proxy(folder: Path, ports: Sequence[int]) -> Iterator[int]:
    """One or the other; answers its port."""
    with nginx(folder, ports) if NGINX else passing_on(ports) as port:
        yield port


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


@contextmanager
def passing_on(ports: Sequence[int]) -> Iterator[int]:
    """Bytes passed on, in a thread with an event loop of its own."""
    loop, turns = asyncio.new_event_loop(), itertools.count()
    listening = threading.Event()
    found: list[int] = []

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        turn = next(turns)
        with suppress(OSError, asyncio.IncompleteReadError):
            for place in range(len(ports)):
                with suppress(OSError):
                    there = await asyncio.open_connection("127.0.0.1", ports[(turn + place) % len(ports)])
                    await asyncio.gather(copied(reader, there[1]), copied(there[0], writer))
                    break
        writer.close()

    async def copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while read := await reader.read(65536):
                writer.write(read)
                await writer.drain()
        finally:
            writer.close()

    async def serve() -> None:
        server = await asyncio.start_server(connection, "127.0.0.1", 0)
        found.append(server.sockets[0].getsockname()[1])
        listening.set()
        with suppress(asyncio.CancelledError):
            await server.serve_forever()

    task = loop.create_task(serve())
    thread = threading.Thread(target=loop.run_until_complete, args=(task,), daemon=True)
    thread.start()
    listening.wait()
    try:
        yield found[0]
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(PATIENCE)
