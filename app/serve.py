"""The server: one process, one event loop, as many workers as cores."""

from __future__ import annotations

import errno
import gc
import socket
from contextlib import ExitStack
from typing import cast

import anyio
import structlog
import uvicorn
from fastapi import FastAPI

from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems import THEOREMS
from epsilond.app import logs
from epsilond.app.health import HEALTH
from epsilond.app.http.connections import connection
from epsilond.app.jobs.manager import JOBS
from epsilond.app.ledgers.keys import Keys
from epsilond.app.main import create_app, modules_of
from epsilond.app.questions.compute import COMPUTE
from epsilond.app.settings import PREFIX, SETTINGS, Settings
from epsilond.app.workers.forkserver import fork_server
from epsilond.app.workers.pool import POOL
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.calibration import Calibrator
from epsilond.ledgers.log.errors import KeysUnusable, Malformed
from epsilond.witness.kind import SimulationKind
from epsilond.witness.kinds import KINDS

BACKLOG = 2048
"""Connections that may wait to be taken."""


def serve(
    host: str | None = None,
    port: int | None = None,
    *,
    dask: str | None = None,
    settings: Settings | None = None,
    calibrators: tuple[Calibrator, ...] = CALIBRATORS,
    theorems: tuple[Theorem, ...] = THEOREMS,
    theorem_home: str = "epsilond.accountants.theorems",
    kinds: tuple[SimulationKind, ...] = KINDS,
    figures: str = "epsilond.witness.figures",
) -> None:
    """Serve until SIGTERM or SIGINT; then refuse new connections, answer what is under way, and end.

    Raises:
        ValueError: an EPSILOND_ variable cannot be read or is no setting, the port is taken, or jobs cannot be kept
            where it says, or the folder of keys cannot be used.
    """
    chosen = settings or Settings.from_environment(host=host, port=port, dask=dask)
    logs.configure(chosen.log_level)
    require_keys(chosen)
    forked = fork_server(modules_of(calibrators, theorem_home, kinds))  # before anything is opened
    with ExitStack() as held:
        if forked is not None:
            held.callback(forked.kill)
        sockets = [held.enter_context(one) for one in listening(chosen.host, chosen.port)]
        app = create_app(
            calibrators=calibrators,
            theorems=theorems,
            settings=chosen,
            theorem_home=theorem_home,
            kinds=kinds,
            figures=figures,
        )
        POOL.within(app).forked = forked
        JOBS.within(app).open()  # what is wrong with the store is told before anything is started
        started = server(app, chosen)
        started.alone = True
        started.run(sockets=sockets)


def require_keys(settings: Settings) -> None:
    """Open the folder of keys that the settings name, if they name one.

    Raises:
        ValueError: naming the variable, with the reason why the folder cannot be used.
    """
    if not settings.ledger_keys:
        return
    try:
        Keys.of(settings, durable=False)
    except (KeysUnusable, Malformed) as error:
        raise ValueError(f"{PREFIX}LEDGER_KEYS: the keys cannot be used: {error}") from None
    except OSError as error:
        raise ValueError(f"{PREFIX}LEDGER_KEYS: the folder cannot be used: {error.strerror}") from None


def listening(host: str, port: int) -> list[socket.socket]:
    """A socket for each address of a host, listening at the port; who connects now is answered after the start.

    Raises:
        ValueError: naming the variable that is to blame: there is no such host, or the port is not to be had.
    """
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise ValueError(f"{PREFIX}HOST: {host} is no address of this machine: {error.strerror}") from None
    bound: list[socket.socket] = []
    for family, kind, protocol, _, address in dict.fromkeys(found):
        one = socket.socket(family, kind, protocol)
        bound.append(one)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        try:
            one.bind(address)
            one.listen(BACKLOG)
        except OSError as error:
            for each in bound:
                each.close()
            blamed = "HOST" if error.errno == errno.EADDRNOTAVAIL else "PORT"
            told = "is taken" if error.errno == errno.EADDRINUSE else f"is not to be had: {error.strerror}"
            raise ValueError(f"{PREFIX}{blamed}: port {port} of {host} {told}") from None
    return bound


class Server(uvicorn.Server):
    """Uvicorn's, but as soon as it is to end, jobs go back to the store, and questions have little time left."""

    alone = False
    """Whether the process is this server's alone, so that what is there when it has started stays to the end."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as uvicorn does; then tell the garbage collector that what is there now is no garbage.

        It would look at a quarter of a million objects of the application at every full collection.
        """
        await super().startup(sockets)
        if self.alone and self.started:
            gc.freeze()
            gc.enable()
            for one in sockets or ():
                host, port, *_ = one.getsockname()
                structlog.get_logger().info("listening", host=host, port=port)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Have everybody told; then refuse new connections and answer what is under way."""
        app = cast("FastAPI", self.config.app)
        jobs, settings = JOBS.within(app), SETTINGS.within(app)
        HEALTH.within(app).stop()
        jobs.stop()
        seconds = settings.drain_seconds if jobs.survives else settings.deadline_seconds
        async with anyio.create_task_group() as draining:
            draining.start_soon(COMPUTE.within(app).close_after, seconds)
            await super().shutdown(sockets)
            draining.cancel_scope.cancel()


def server(app: FastAPI, settings: Settings) -> Server:
    """The server of an application; its own log lines go to the standard library's root logger.

    The event loop is uvloop's where it is installed.
    """
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=connection(settings),
        ws="none",
        lifespan="on",
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=int(settings.deadline_seconds) + 5,
    )
    return Server(config)
