"""No telemetry: importing everything, the command line and the service speak to no other host, and look none up."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest

WATCH = """
import ipaddress, json, sys
SEEN = []

def watch(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
        if isinstance(address, tuple) and not ipaddress.ip_address(address[0]).is_loopback:
            SEEN.append([event, repr(address)])
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        if arguments[0] not in (None, "127.0.0.1", "localhost", "::1"):
            SEEN.append([event, repr(arguments[0])])

sys.addaudithook(watch)
"""
TELL = """
print("SEEN " + json.dumps(SEEN))
"""
IMPORT = """
import importlib, pkgutil
for package in ("accountants", "calibrators", "mechanisms", "training", "simulators", "witness", "storage", "ledgers", "app", "epsilond"):
    for found in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
        if not found.name.endswith(("__main__", "migrations.env")):  # what Python and alembic run, nobody imports
            try:
                importlib.import_module(found.name)
            except ModuleNotFoundError as missing:  # the host of an integration, which its user brings
                if not found.name.startswith("epsilond.integrations.") or missing.name.startswith("epsilond"):
                    raise
"""
COMMANDS = """
from typer.testing import CliRunner
from epsilond.commands.line import line
for command in (["--help"], ["theorems"], ["calibrate", "gaussian", "--help"], ["keys", "new", "ada"]):
    assert CliRunner().invoke(line, command).exit_code == 0, command
"""
SERVICE = """
import threading, time, urllib.request
from epsilond.app import serve
from epsilond.app.main import create_app
from epsilond.app.settings import Settings
settings = Settings(port=0, workers=1, spare_workers=0, store_path=":memory:")
server = serve.server(create_app(settings=settings), settings)
thread = threading.Thread(target=server.run)
thread.start()
while not server.started and thread.is_alive():
    time.sleep(0.01)
port = server.servers[0].sockets[0].getsockname()[1]
for path in ("/healthz", "/docs", "/openapi.json", "/v1/algorithms", "/metrics"):
    urllib.request.urlopen(f"http://127.0.0.1:{port}{path}").read()
server.should_exit = True
thread.join()
"""
PROOF = """
import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
    one.connect(("192.0.2.1", 9))
"""


def seen(script: str) -> list[list[str]]:
    """What a program of its own tried to reach beside this machine."""
    text = textwrap.dedent(WATCH + script + TELL)
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stderr
    told = next(line for line in ran.stdout.splitlines() if line.startswith("SEEN "))
    found: list[list[str]] = json.loads(told.removeprefix("SEEN "))
    return found


@pytest.mark.parametrize("script", [IMPORT, COMMANDS, SERVICE], ids=["import", "commands", "service"])
def test_no_other_host_is_spoken_to(script: str) -> None:
    assert seen(script) == []


def test_the_watch_sees_who_is_spoken_to() -> None:
    assert seen(PROOF) == [["socket.connect", "('192.0.2.1', 9)"]]
