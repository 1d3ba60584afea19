"""A witness of its own thread, on a free port of the loopback."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from epsilond.ledgers.cosigning.folder import WitnessFolder
from epsilond.ledgers.cosigning.remote import WitnessAddress, read_addresses
from epsilond.ledgers.cosigning.server import WitnessService, listener, server
from epsilond.ledgers.log.keys import PublicKey

NAME = "witness.example/w1"
PATIENCE = 600.0
"""Seconds after which a test may say that something hangs."""


@dataclass(frozen=True)
class RunningWitness:
    """A witness that answers.

    Attributes:
        folder: its folder.
        service: its answers.
        url: where it is.
    """

    folder: WitnessFolder
    service: WitnessService
    url: str

    @property
    def setting(self) -> str:
        """The witness as a service of ledgers is configured."""
        return f"{self.url} {self.folder.public.vkey}"

    @property
    def address(self) -> WitnessAddress:
        """The address of the witness."""
        return read_addresses(self.setting)[0]


@contextmanager
def running(folder: Path, *logs: PublicKey, name: str = NAME, port: int = 0) -> Iterator[RunningWitness]:
    """Run a witness of these logs."""
    opened = WitnessFolder.open(folder, name)
    service = WitnessService(opened, logs)
    with listener("127.0.0.1", port) as listening:
        serving = server(service)
        thread = threading.Thread(target=serving.run, kwargs={"sockets": [listening]}, name="witness")
        thread.start()
        try:
            until = time.monotonic() + PATIENCE
            while not serving.started:
                assert thread.is_alive()
                assert time.monotonic() < until
                time.sleep(0.002)
            yield RunningWitness(opened, service, f"http://127.0.0.1:{listening.getsockname()[1]}")
        finally:
            serving.should_exit = True
            thread.join(PATIENCE)
    assert not thread.is_alive()
