"""The application: settings, lists and lifespan in one object. Only `create_app()` makes it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
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
from epsilond.app.http.body import BytesRoute
from epsilond.app.http.handlers import answer_problem
from epsilond.app.http.lag import LoopLag
from epsilond.app.http.middleware import Authenticate, Compress, Observe, Shortcut
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

OF_LEDGERS = (
    "epsilond.ledgers.mathematics.moves",
    "epsilond.ledgers.mathematics.what_if",
    "epsilond.ledgers.mathematics.opening",
    "epsilond.ledgers.book.answers",
)
"""Modules that workers need for ledgers; the modules of the ledgers' mathematics are imported by them."""


def create_app(
    *,
    calibrators: tuple[Calibrator, ...] = CALIBRATORS,
    theorems: tuple[Theorem, ...] = THEOREMS,
    settings: Settings | None = None,
    theorem_home: str = "epsilond.accountants.theorems",
    kinds: tuple[SimulationKind, ...] = KINDS,
    figures: str = "epsilond.witness.figures",
) -> FastAPI:
    """Make the application with all its routes and parts. Workers start when its lifespan begins.

    Args:
        calibrators: calibrators to serve.
        theorems: theorems to serve.
        settings: settings of the service; None reads the environment.
        theorem_home: name of the module with the list `THEOREMS`. Workers import a theorem from it, because theorems
            contain functions, which cannot be pickled.
        kinds: kinds of simulation to run.
        figures: module with the function `draw`, which draws the results of simulations.

    Raises:
        ValueError: an EPSILOND_ variable, or the file of API keys, cannot be read.
        MissingExtra: an identity provider is named, and the packages that check its tokens are not installed.
    """
    chosen = settings or Settings.from_environment()
    metrics = Metrics()
    budgets = Budgets(chosen, metrics)
    health = Health()
    keyring = Keyring.of(chosen.api_keys_file, budgets)
    tokens = Tokens.of(chosen, budgets)
    pool = Pool(chosen, metrics, modules_of(calibrators, theorem_home, kinds), charge=budgets.charge)
    compute = Compute(chosen, metrics, pool)
    readings = Readings(calibrators, theorems, theorem_home)
    simulators = SimulationRunner(chosen, metrics, pool, kinds)
    jobs = Jobs(chosen, metrics, health, QuestionRunner(chosen, compute, pool), simulators, readings)
    ledgers = Ledgers(chosen, metrics, pool, jobs, keyring.organisations if keyring else dict)
    health.register("ledgers", ledgers.trouble)
    health.register("workers", lambda: None if pool.ready else "No worker is warm yet.")
    lag = LoopLag(metrics)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as until_stopped:
            if keyring is not None:
                await until_stopped.enter_async_context(keyring.following())
            await until_stopped.enter_async_context(pool.running())
            await until_stopped.enter_async_context(compute.running())
            await until_stopped.enter_async_context(simulators.running())
            await until_stopped.enter_async_context(jobs.running())
            await until_stopped.enter_async_context(ledgers.running())
            background = await until_stopped.enter_async_context(anyio.create_task_group())
            background.start_soon(docs.prepare, app)
            await until_stopped.enter_async_context(lag.running())
            yield

    app = FastAPI(
        title="epsilond",
        version=VERSION,
        description=DESCRIPTION,
        lifespan=lifespan,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    SETTINGS.put(app, chosen)
    METRICS.put(app, metrics)
    POOL.put(app, pool)
    COMPUTE.put(app, compute)
    JOBS.put(app, jobs)
    SIMULATIONS.put(app, simulators)
    BUDGETS.put(app, budgets)
    KEYRING.put(app, keyring)
    HEALTH.put(app, health)
    LEDGERS_OF.put(app, ledgers)
    SIGNATURES.put(app, ledgers.signatures)
    _put_bounded(app, chosen, metrics)
    app.router.route_class = BytesRoute
    _add_layers(app, chosen, metrics, budgets, keyring, tokens)
    for foreseen in TABLE:
        app.add_exception_handler(foreseen, answer_problem)
    routes.add(app, calibrators, theorems, theorem_home)
    if kinds:
        simulations.add(app, kinds)
        job_figures.add(app, figures)
    app.openapi = partial(document, app)  # type: ignore[method-assign]
    return app


def modules_of(
    calibrators: tuple[Calibrator, ...], theorem_home: str, kinds: tuple[SimulationKind, ...]
) -> tuple[str, ...]:
    """Return the modules that workers import before they get work: mathematics, simulations, and readers of bodies.

    Args:
        calibrators: calibrators of the service.
        theorem_home: module with the list of theorems.
        kinds: kinds of simulation.
    """
    modules = {theorem_home, Readings.__module__, "scipy.optimize"}
    modules |= {calibrator.home for calibrator in calibrators}
    modules |= {kind.run_block.__module__ for kind in kinds}
    modules |= set(OF_LEDGERS)
    return tuple(sorted(modules))


def _add_layers(
    app: FastAPI, settings: Settings, metrics: Metrics, budgets: Budgets, keyring: Keyring | None, tokens: Tokens | None
) -> None:
    """Add the layers around every request to an application, the innermost first."""
    app.add_middleware(Shortcut)
    app.add_middleware(
        Authenticate, budgets=budgets, keyring=keyring, tokens=tokens, metrics_open=settings.metrics_open
    )
    app.add_middleware(Compress)
    app.add_middleware(Observe, metrics=metrics, hsts_seconds=settings.hsts_seconds)


def _put_bounded(app: FastAPI, settings: Settings, metrics: Metrics) -> None:
    """Put the places of waiting requests into an application."""
    streams = STREAMS.put(app, Places(settings.event_streams, "event streams"))
    waits = JOB_WAITS.put(app, Places(settings.job_waits, "requests that wait for jobs"))
    metrics.event_streams.set_function(lambda: streams.taken)
    metrics.job_waits.set_function(lambda: waits.taken)
