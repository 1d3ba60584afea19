"""The server: one process, one event loop, and worker processes."""

from __future__ import annotations

import errno
import gc
import socket
from contextlib import ExitStack
from typing import Any, cast

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
from epsilond.app.main import create_app, worker_modules
from epsilond.app.questions.compute import COMPUTE
from epsilond.app.settings import PREFIX, SETTINGS, Settings
from epsilond.app.workers.forkserver import fork_server
from epsilond.app.workers.pool import POOL
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.calibration import Calibrator
from epsilond.ledgers.http.keys import Keys
from epsilond.ledgers.log.errors import KeysUnusable, Malformed
from epsilond.witness.kind import SimulationKind
from epsilond.witness.kinds import KINDS

BACKLOG = 2048
"""Number of connections that may wait to be accepted."""


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
    """Run the service until SIGTERM or SIGINT arrives.

    It then rejects new connections, answers requests under way, and ends.

    Args:
        host: host to listen on, if `settings` is None; None for the host of the environment.
        port: port to listen on, if `settings` is None; None for the port of the environment.
        dask: address of a Dask scheduler, if `settings` is None; None for the address of the environment.
        settings: settings of the service; None reads the environment.
        calibrators: calibrators to serve.
        theorems: theorems to serve.
        theorem_home: module with the list of theorems.
        kinds: kinds of simulation to run.
        figures: module with the function `draw`, which draws the results of simulations.

    Raises:
        ValueError: an EPSILOND_ variable cannot be read or is unknown, the port is taken, the store of jobs cannot be
            used, or the folder of keys cannot be used.
    """
    chosen = settings or Settings.from_environment(host=host, port=port, dask=dask)
    logs.configure(chosen.log_level)
    require_keys(chosen)
    # Workers are forked from a process that is started before anything is opened.
    modules = worker_modules(calibrators, theorem_home, kinds)
    forked = fork_server(modules)
    with ExitStack() as stack:
        if forked is not None:
            stack.callback(forked.kill)
        # Connections that arrive during the start wait in the sockets.
        listeners = open_listeners(chosen.host, chosen.port)
        sockets = [stack.enter_context(listener) for listener in listeners]
        app = create_app(
            calibrators=calibrators,
            theorems=theorems,
            settings=chosen,
            theorem_home=theorem_home,
            kinds=kinds,
            figures=figures,
        )
        POOL.within(app).forked = forked
        # The store is opened here, so that its faults are reported before the start.
        JOBS.within(app).open()
        http_server = server(app, chosen)
        http_server.is_only_server = True
        http_server.run(sockets=sockets)


def require_keys(settings: Settings) -> None:
    """Check that the keys which sign the logs of ledgers can be used, if the settings name their folder.

    The check is made at the start of the service, because otherwise the first signature would fail.

    Args:
        settings: settings of the service. Without a folder of keys, nothing is checked.

    Raises:
        ValueError: the folder or its keys cannot be used. The message names the environment variable and the reason.
    """
    if not settings.ledger_keys:
        return
    try:
        Keys.of(settings, durable=False)
    except (KeysUnusable, Malformed) as error:
        raise ValueError(f"{PREFIX}LEDGER_KEYS: the keys cannot be used: {error}") from None
    except OSError as error:
        raise ValueError(f"{PREFIX}LEDGER_KEYS: the folder cannot be used: {error.strerror}") from None


def open_listeners(host: str, port: int) -> list[socket.socket]:
    """Open a listening socket for each address of a host.

    Connections that arrive before the service has started are kept, and answered after the start.

    Args:
        host: name or address; empty for all addresses of this machine.
        port: port number.

    Returns:
        The listening sockets, at least one, which the caller must close.

    Raises:
        ValueError: the host is unknown, or the port is not available. The message names the environment variable.
    """
    try:
        addresses = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise ValueError(f"{PREFIX}HOST: {host} is not an address of this machine: {error.strerror}") from None
    # If an address fails, the stack closes the sockets that were opened before.
    with ExitStack() as opened:
        listeners = []
        distinct_addresses = dict.fromkeys(addresses)
        for family, kind, protocol, _, address in distinct_addresses:
            listener = opened.enter_context(socket.socket(family, kind, protocol))
            try:
                _listen(listener, address)
            except OSError as error:
                raise ValueError(_describe_bind_error(error, host, port)) from None
            listeners.append(listener)
        opened.pop_all()  # without an error, the sockets stay open
    return listeners


def _listen(listener: socket.socket, address: Any) -> None:
    """Bind a socket to an address, and let it accept connections.

    Args:
        listener: a new TCP socket.
        address: address of the socket's family, as `getaddrinfo` returns it.

    Raises:
        OSError: the address cannot be used.
    """
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # A socket of IPv6 leaves the addresses of IPv4 to another socket.
    if listener.family == socket.AF_INET6:
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    listener.bind(address)
    listener.listen(BACKLOG)


def _describe_bind_error(error: OSError, host: str, port: int) -> str:
    """Build the message that a port cannot be listened on, with the environment variable to change.

    Args:
        error: the error of the operating system.
        host: name or address of the host.
        port: port number.
    """
    variable = "HOST" if error.errno == errno.EADDRNOTAVAIL else "PORT"
    reason = "is taken" if error.errno == errno.EADDRINUSE else f"is not to be had: {error.strerror}"
    return f"{PREFIX}{variable}: port {port} of {host} {reason}"


class Server(uvicorn.Server):
    """Uvicorn's HTTP server, with another shutdown: jobs go back to the store, and requests get limited time to end."""

    is_only_server = False
    """True if the process runs only this server, so that the objects present after the start are in use to its end."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the server. If it is the only one of the process, also exempt all objects from garbage collection.

        Otherwise, each full collection would visit a quarter of a million objects of the application, all in use.

        Args:
            sockets: listening sockets; None lets uvicorn open its own.
        """
        await super().startup(sockets)
        if self.is_only_server and self.started:
            # Objects that exist now move to a set that the garbage collector never visits.
            gc.freeze()
            gc.enable()
            # The port is that of the socket: if the settings have port 0, the operating system chooses one.
            for listener in sockets or ():
                host, port, *_ = listener.getsockname()
                structlog.get_logger().info("listening", host=host, port=port)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop the health checks and the jobs, reject new connections, and wait for the requests under way.

        After `drain_seconds` (or the deadline of questions, if jobs would be lost), requests no longer wait for their
        computations.

        Args:
            sockets: listening sockets of the server; None if uvicorn has opened its own.
        """
        app = cast("FastAPI", self.config.app)
        jobs = JOBS.within(app)
        settings = SETTINGS.within(app)
        HEALTH.within(app).stop()
        jobs.stop()
        # Jobs in a store that outlives the service go on after the next start, so requests need not wait as long.
        seconds = settings.drain_seconds if jobs.survives else settings.deadline_seconds
        async with anyio.create_task_group() as draining:
            draining.start_soon(COMPUTE.within(app).close_after, seconds)
            await super().shutdown(sockets)
            # The requests have ended, so the time limit is not needed any more.
            draining.cancel_scope.cancel()


def server(app: FastAPI, settings: Settings) -> Server:
    """Build the uvicorn server of the service; its log lines go to the root logger of the standard library.

    At a shutdown, uvicorn gives requests the deadline of computations and five seconds more.

    Args:
        app: the application.
        settings: settings of the service.

    Returns:
        The server, which does not listen yet.
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
        timeout_graceful_shutdown=int(settings.deadline_seconds) + 5,  # [s], above the deadline of a request
    )
    return Server(config)
