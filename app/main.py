"""The application: settings, lists and lifespan put together. `create_app()` is the only way to make one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import scipy.optimize  # noqa: F401  closed forms run in the event loop, where their first search must not import it
from anyio import to_thread
from fastapi import FastAPI

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems import THEOREMS
from epsilond.app import routes
from epsilond.app.callers.authenticate import Authenticate
from epsilond.app.callers.budgets import Budgets
from epsilond.app.callers.keyring import Keyring
from epsilond.app.callers.oidc import Tokens
from epsilond.app.callers.seen import Seen
from epsilond.app.health import Health
from epsilond.app.http.body import BytesRoute
from epsilond.app.http.encodings import Compress
from epsilond.app.http.handlers import answer_problem
from epsilond.app.http.lag import LoopLag
from epsilond.app.http.observe import Observe
from epsilond.app.http.problems import TABLE
from epsilond.app.jobs.manager import Jobs
from epsilond.app.jobs.places import Places
from epsilond.app.jobs.questions import QuestionRunner
from epsilond.app.jobs.simulations import SimulationRunner
from epsilond.app.ledgers.service import Ledgers
from epsilond.app.metrics import Metrics
from epsilond.app.openapi import document
from epsilond.app.questions.compute import Compute
from epsilond.app.questions.readings import Readings
from epsilond.app.questions.recent import Recent
from epsilond.app.routes import docs, simulations
from epsilond.app.settings import Settings
from epsilond.app.workers.pool import Pool
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.calibration import Calibrator
from epsilond.witness.kinds import KINDS
from epsilond.witness.simulation import Kind

DESCRIPTION = (
    "Privacy accounting and calibration for federated learning, with certified answers: every privacy figure is a"
    " two-sided enclosure, and a calibrated parameter is certified on its upper end."
)

OF_LEDGERS = (
    "epsilond.app.ledgers.computing",
    "epsilond.accountants.ledger.moves",
    "epsilond.accountants.ledger.what_if",
    "epsilond.accountants.ledger.opening",
    "epsilond.ledgers.book.answers",
)
"""What workers need of ledgers, beside their mathematics, which these import."""


def create_app(
    *,
    calibrators: tuple[Calibrator, ...] = CALIBRATORS,
    theorems: tuple[Theorem, ...] = THEOREMS,
    settings: Settings | None = None,
    theorem_home: str = "epsilond.accountants.theorems",
    kinds: tuple[Kind, ...] = KINDS,
    figures: str = "epsilond.witness.figures",
) -> FastAPI:
    """The service over its lists, the project's own unless others are given.

    A theorem holds functions and cannot be sent to a worker; workers find it by its id in `theorem_home`.THEOREMS. The
    functions of kinds of simulation are sent by name. `figures` is the module whose `draw` draws their results.

    Raises:
        ValueError: an EPSILOND_ variable, or the file of API keys, cannot be read.
        MissingExtra: an identity provider is named, and the packages that check its tokens are not installed.
    """
    chosen = settings or Settings.from_environment()
    metrics = Metrics()
    budgets, health = Budgets(chosen, metrics), Health()
    keyring, tokens = Keyring.of(chosen.api_keys_file, budgets), Tokens.of(chosen, budgets)
    pool = Pool(chosen, metrics, _modules(calibrators, theorem_home, kinds), charge=budgets.charge)
    compute = Compute(chosen, metrics, pool)
    reading = Readings(calibrators, theorems, theorem_home)
    simulators = SimulationRunner(chosen, metrics, pool, kinds)
    jobs = Jobs(chosen, metrics, health, QuestionRunner(chosen, compute, pool), simulators, reading)
    ledgers = Ledgers(chosen, metrics, pool, jobs)
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
            await docs.prepare(app)  # workers start meanwhile
            await to_thread.run_sync(reading.prepare)
            await until_stopped.enter_async_context(lag.running())
            yield

    app = FastAPI(
        title="epsilond",
        version=ENGINE_VERSION,
        description=DESCRIPTION,
        lifespan=lifespan,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.settings, app.state.metrics, app.state.pool, app.state.compute = chosen, metrics, pool, compute
    app.state.jobs, app.state.simulations, app.state.reading = jobs, simulators, reading
    app.state.recent = Recent()
    app.state.budgets, app.state.keyring, app.state.health, app.state.seen = budgets, keyring, health, Seen()
    app.state.lag, app.state.ledgers, app.state.signatures = lag, ledgers, ledgers.signatures
    app.state.streams = streams = Places(chosen.event_streams, "event streams")
    app.state.job_waits = job_waits = Places(chosen.job_waits, "requests that wait for jobs")
    metrics.event_streams.set_function(lambda: streams.taken)
    metrics.job_waits.set_function(lambda: job_waits.taken)
    app.router.route_class = BytesRoute
    app.add_middleware(Authenticate, budgets=budgets, keyring=keyring, tokens=tokens, metrics_open=chosen.metrics_open)
    app.add_middleware(Compress)
    app.add_middleware(Observe, metrics=metrics, hsts_seconds=chosen.hsts_seconds)
    for foreseen in TABLE:
        app.add_exception_handler(foreseen, answer_problem)
    routes.add(app, calibrators, theorems)
    if kinds:
        simulations.add(app, kinds, figures)
    app.openapi = partial(document, app)  # type: ignore[method-assign]
    return app


def _modules(calibrators: tuple[Calibrator, ...], theorem_home: str, kinds: tuple[Kind, ...]) -> tuple[str, ...]:
    """What every worker has imported before there is work: the mathematics, simulations, and how bodies are read."""
    mathematics = {theorem_home, *(calibrator.home for calibrator in calibrators)}
    readings = {Readings.__module__} | ({"epsilond.app.questions.prepared"} if calibrators is CALIBRATORS else set())
    simulated = {kind.run_block.__module__ for kind in kinds}
    return tuple(sorted({*mathematics, *simulated, *OF_LEDGERS} | readings))
