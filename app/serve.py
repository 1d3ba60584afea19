"""The server: one process, one event loop, as many workers as cores."""

from __future__ import annotations

import socket
import sys

import uvicorn
from fastapi import FastAPI

from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems import THEOREMS
from epsilond.app import logs
from epsilond.app.http.connections import connection
from epsilond.app.main import create_app
from epsilond.app.settings import Settings
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.calibration import Calibrator
from epsilond.witness.kinds import KINDS
from epsilond.witness.simulation import Kind


def serve(
    host: str | None = None,
    port: int | None = None,
    *,
    settings: Settings | None = None,
    calibrators: tuple[Calibrator, ...] = CALIBRATORS,
    theorems: tuple[Theorem, ...] = THEOREMS,
    theorem_home: str = "epsilond.accountants.theorems",
    kinds: tuple[Kind, ...] = KINDS,
    figures: str = "epsilond.witness.figures",
) -> None:
    """Serve until SIGTERM or SIGINT; then refuse new connections, answer what is under way, and end.

    Raises:
        ValueError: an EPSILOND_ variable cannot be read, or simulations cannot be kept where it says.
    """
    chosen = settings or Settings.from_environment(host=host, port=port)
    logs.configure(chosen.log_level)
    app = create_app(
        calibrators=calibrators,
        theorems=theorems,
        settings=chosen,
        theorem_home=theorem_home,
        kinds=kinds,
        figures=figures,
    )
    if kinds:
        app.state.jobs.open()  # what is wrong there is told before anything is started
    # Workers would run the file that was started once more, as multiprocessing does; they need nothing of it.
    vars(sys.modules["__main__"]).pop("__file__", None)
    server(app, chosen).run()


class Server(uvicorn.Server):
    """Uvicorn's, but simulations are interrupted as soon as it is to end: clients would be waiting for them."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Interrupt them; then refuse new connections and answer what is under way."""
        self.config.app.state.jobs.stop()  # type: ignore[union-attr]
        await super().shutdown(sockets)


def server(app: FastAPI, settings: Settings) -> Server:
    """The server of an application; its own log lines go to the standard library's root logger."""
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        loop="asyncio",
        http=connection(settings),
        h11_max_incomplete_event_size=settings.head_bytes,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=int(settings.deadline_seconds) + 5,
    )
    return Server(config)
