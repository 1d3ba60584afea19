"""The application: settings, lists and lifespan in one object. Only `create_app()` makes it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

import anyio
import scipy.optimize  # noqa: F401  closed forms run in the event loop, where their first search must not import it
from fastapi import FastAPI

from epsilond.accountants import VERSION
from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems import THEOREMS
from epsilond.app import routes
from epsilond.app.callers.caller import BUDGETS, Budgets
from epsilond.app.callers.keyring import KEYRING, Keyring
from epsilond.app.callers.oidc import Tokens
from epsilond.app.document import document
from epsilond.app.health import HEALTH, Health
from epsilond.app.http.body import BytesRoute, Shortcut
from epsilond.app.http.compression import Compress
from epsilond.app.http.handlers import answer_problem
from epsilond.app.http.lag import LoopLag
from epsilond.app.http.middleware import Authenticate, Observe
from epsilond.app.http.problems import TABLE
from epsilond.app.jobs.manager import JOBS, Jobs
from epsilond.app.jobs.places import JOB_WAITS, STREAMS, Places
from epsilond.app.jobs.questions import QuestionRunner
from epsilond.app.jobs.simulations import SIMULATIONS, SimulationRunner
from epsilond.app.metrics import METRICS, Metrics
from epsilond.app.questions.compute import COMPUTE, Compute
from epsilond.app.questions.readings import Readings
from epsilond.app.routes.jobs import figures as job_figures
from epsilond.app.routes.jobs import simulations
from epsilond.app.routes.pages import docs
from epsilond.app.settings import SETTINGS, Settings
from epsilond.app.workers.pool import POOL, Pool
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.calibration import Calibrator
from epsilond.ledgers.http.service import LEDGERS_OF, Ledgers
from epsilond.ledgers.http.signatures import SIGNATURES
from epsilond.witness.kind import SimulationKind
from epsilond.witness.kinds import KINDS

DESCRIPTION = """
Privacy accounting and calibration for federated learning, with certified answers. Every privacy figure is an enclosure
with a lower and an upper bound. A calibrated parameter meets its target on the upper bound.

Start with one of three questions:

- **What do I run with?** `POST /v1/calibrations/{algorithm}` returns noise, rounds and batch size for a target (ε, δ).
- **What did I run?** `POST /v1/accounts` returns ε and δ of a run that you describe.
- **What may I still run?** `POST /v1/ledgers` opens a budget that is kept over all releases of a data set.

Each operation below has examples, which can be sent from this page. An answer that takes longer than its request waits
becomes a job (status 202), which `GET /v1/jobs/{id}` follows. Errors are problem documents (RFC 9457) with a JSON
pointer to each field at fault. A service that asks for keys takes them as `Authorization: Bearer`. The guide of this
service, at `/guide`, explains the terms.
""".strip()

LEDGER_MODULES = (
    "epsilond.ledgers.mathematics.moves",
    "epsilond.ledgers.mathematics.what_if",
    "epsilond.ledgers.mathematics.opening",
    "epsilond.ledgers.book.answers",
)
"""Modules that workers need for ledgers. They import the other modules of the ledgers' mathematics."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ServiceParts:
    """The long-lived objects of one service, which its routes and middleware share.

    They are made before the service starts, and run only while the application is served.

    Attributes:
        settings: settings of the service.
        metrics: figures about requests, computations and jobs, which /metrics serves.
        health: checks whether each part of the service works.
        budgets: limits on the CPU time of callers, with the time that each has used.
        keyring: the API keys; None if the settings name no file of keys.
        tokens: the verifier of bearer tokens; None if the settings name no identity provider.
        pool: the worker processes, which compute everything that takes longer than milliseconds.
        compute: computes the answers to questions, once for equal questions, and caches them.
        simulations: runs simulations as jobs, block by block.
        jobs: computations that go on after their request was answered.
        ledgers: privacy budgets that are kept over all releases of a data set.
    """

    settings: Settings
    metrics: Metrics
    health: Health
    budgets: Budgets
    keyring: Keyring | None
    tokens: Tokens | None
    pool: Pool
    compute: Compute
    simulations: SimulationRunner
    jobs: Jobs
    ledgers: Ledgers


def create_app(
    *,
    calibrators: tuple[Calibrator, ...] = CALIBRATORS,
    theorems: tuple[Theorem, ...] = THEOREMS,
    settings: Settings | None = None,
    theorem_home: str = "epsilond.accountants.theorems",
    kinds: tuple[SimulationKind, ...] = KINDS,
    figures: str = "epsilond.witness.figures",
) -> FastAPI:
    """Make the application with all its routes and parts, which start and stop with its lifespan.

    Args:
        calibrators: calibrators to serve.
        theorems: theorems to serve.
        settings: settings of the service; None reads the environment.
        theorem_home: name of the module with the list `THEOREMS`. Workers import a theorem from it, because theorems
            contain functions, which cannot be pickled.
        kinds: kinds of simulation to run.
        figures: module with the function `draw`, which draws the results of simulations.

    Returns:
        The application, ready to be served by an ASGI server.

    Raises:
        ValueError: an EPSILOND_ variable, or the file of API keys, cannot be read.
        MissingExtra: an identity provider is named, and the packages that check its tokens are not installed.
    """
    parts = _make_parts(settings or Settings.from_environment(), calibrators, theorems, theorem_home, kinds)
    app = FastAPI(
        title="epsilond",
        version=VERSION,
        description=DESCRIPTION,
        lifespan=partial(_run_parts, parts),
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.openapi = partial(document, app)  # type: ignore[method-assign]
    app.router.route_class = BytesRoute
    _publish_parts(app, parts)
    _add_layers(app, parts)
    for exception_class in TABLE:
        app.add_exception_handler(exception_class, answer_problem)
    routes.add(app, calibrators, theorems, theorem_home)
    if kinds:
        simulations.add(app, kinds)
        job_figures.add(app, figures)
    return app


def _make_parts(
    settings: Settings,
    calibrators: tuple[Calibrator, ...],
    theorems: tuple[Theorem, ...],
    theorem_home: str,
    kinds: tuple[SimulationKind, ...],
) -> ServiceParts:
    """Make the parts of a service, without starting workers or opening the store.

    Args:
        settings: settings of the service.
        calibrators: calibrators to serve.
        theorems: theorems to serve.
        theorem_home: name of the module with the list `THEOREMS`, from which workers import the theorems.
        kinds: kinds of simulation to run.

    Returns:
        The parts, which refer to each other but do not run yet.

    Raises:
        ValueError: the file of API keys cannot be read.
        MissingExtra: an identity provider is named, and the packages that check its tokens are not installed.
    """
    # A part takes the parts that it uses as arguments, which determines the order.
    metrics = Metrics()
    health = Health()
    budgets = Budgets(settings, metrics)
    keyring = Keyring.of(settings.api_keys_file, budgets)
    pool = Pool(settings, metrics, worker_modules(calibrators, theorem_home, kinds), charge=budgets.charge)
    compute = Compute(settings, metrics, pool)
    simulation_runner = SimulationRunner(settings, metrics, pool, kinds)
    readings = Readings(calibrators, theorems, theorem_home)
    jobs = Jobs(settings, metrics, health, QuestionRunner(settings, compute, pool), simulation_runner, readings)
    organisations = keyring.organisations if keyring else dict
    ledgers = Ledgers(settings, metrics, pool, jobs, organisations)
    # A check returns the reason why its part does not work, or None.
    health.register("ledgers", ledgers.trouble)
    health.register("workers", lambda: None if pool.ready else "No worker is warm yet.")
    return ServiceParts(
        settings=settings,
        metrics=metrics,
        health=health,
        budgets=budgets,
        keyring=keyring,
        tokens=Tokens.of(settings, budgets),
        pool=pool,
        compute=compute,
        simulations=simulation_runner,
        jobs=jobs,
        ledgers=ledgers,
    )


@asynccontextmanager
async def _run_parts(parts: ServiceParts, app: FastAPI) -> AsyncIterator[None]:
    """Run the parts of a service while its application is served.

    Each part starts after the parts that it uses, and stops before them.

    Args:
        parts: the parts, which are not running yet.
        app: the application; its documentation pages are prepared in the background.

    Yields:
        None, once, when all parts run.
    """
    async with AsyncExitStack() as stack:
        if parts.keyring is not None:
            await stack.enter_async_context(parts.keyring.following())
        await stack.enter_async_context(parts.pool.running())
        await stack.enter_async_context(parts.compute.running())
        await stack.enter_async_context(parts.simulations.running())
        await stack.enter_async_context(parts.jobs.running())
        await stack.enter_async_context(parts.ledgers.running())
        background = await stack.enter_async_context(anyio.create_task_group())
        background.start_soon(docs.prepare, app)
        await stack.enter_async_context(LoopLag(parts.metrics).running())
        yield


def _publish_parts(app: FastAPI, parts: ServiceParts) -> None:
    """Store the service's parts in the state of its ASGI application, where endpoints find them.

    Args:
        app: the application; its state is changed.
        parts: the parts of the service.
    """
    SETTINGS.put(app, parts.settings)
    METRICS.put(app, parts.metrics)
    HEALTH.put(app, parts.health)
    BUDGETS.put(app, parts.budgets)
    KEYRING.put(app, parts.keyring)
    POOL.put(app, parts.pool)
    COMPUTE.put(app, parts.compute)
    SIMULATIONS.put(app, parts.simulations)
    JOBS.put(app, parts.jobs)
    LEDGERS_OF.put(app, parts.ledgers)
    SIGNATURES.put(app, parts.ledgers.signatures)
    # Connections that stay open are limited in number, and the metrics report their present number.
    streams = STREAMS.put(app, Places(parts.settings.event_streams, "event streams"))
    waits = JOB_WAITS.put(app, Places(parts.settings.job_waits, "requests that wait for jobs"))
    parts.metrics.event_streams.set_function(lambda: streams.taken)
    parts.metrics.job_waits.set_function(lambda: waits.taken)


def _add_layers(app: FastAPI, parts: ServiceParts) -> None:
    """Add the middleware to an application, the innermost layer first.

    A request passes them in reverse order: it is observed, its answer is compressed, and its caller is authenticated.
    Then `Shortcut` may answer it without the framework's router.

    Args:
        app: the application, which is changed.
        parts: the parts of the service that the layers use.
    """
    settings = parts.settings
    # Starlette passes a request to the layer first that is added last.
    app.add_middleware(Shortcut)
    app.add_middleware(
        Authenticate,
        budgets=parts.budgets,
        keyring=parts.keyring,
        tokens=parts.tokens,
        metrics_open=settings.metrics_open,
    )
    app.add_middleware(Compress)
    app.add_middleware(Observe, metrics=parts.metrics, hsts_seconds=settings.hsts_seconds)


def worker_modules(
    calibrators: tuple[Calibrator, ...], theorem_home: str, kinds: tuple[SimulationKind, ...]
) -> tuple[str, ...]:
    """Return the names of the modules that every worker process imports before its first task, to save time later.

    Args:
        calibrators: calibrators of the service; the attribute `home` names the module of each.
        theorem_home: name of the module with the list of theorems.
        kinds: kinds of simulation that the service runs.

    Returns:
        The modules that compute calibrations and theorems, run simulations and ledgers, and read request bodies.
    """
    modules = {theorem_home, Readings.__module__, "scipy.optimize"}
    modules |= {calibrator.home for calibrator in calibrators}
    modules |= {kind.run_block.__module__ for kind in kinds}
    modules |= set(LEDGER_MODULES)
    return tuple(sorted(modules))
