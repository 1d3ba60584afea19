"""The application: settings, lists and lifespan put together. `create_app()` is the only way to make one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems import THEOREMS
from epsilond.app import routes
from epsilond.app.answers.compute import Compute
from epsilond.app.http.authenticate import Authenticate
from epsilond.app.http.body import StrictRoute
from epsilond.app.http.handlers import answer_problem
from epsilond.app.http.keys import Keys
from epsilond.app.http.observe import Observe
from epsilond.app.http.problems import TABLE
from epsilond.app.jobs.manager import SimulationManager
from epsilond.app.jobs.streams import Streams
from epsilond.app.metrics import Metrics
from epsilond.app.openapi import document
from epsilond.app.routes import simulations
from epsilond.app.settings import Settings
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.calibration import Calibrator
from epsilond.witness.kinds import KINDS
from epsilond.witness.simulation import Kind

DESCRIPTION = (
    "Privacy accounting and calibration for federated learning, with certified answers: every privacy figure is a"
    " two-sided enclosure, and a calibrated parameter is certified on its upper end."
)


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
    """
    chosen = settings or Settings.from_environment()
    metrics = Metrics()
    modules = tuple(sorted({theorem_home, *(calibrator.home for calibrator in calibrators)}))
    compute = Compute(chosen, metrics, modules)
    jobs = SimulationManager(chosen, metrics, kinds)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as until_stopped:
            await until_stopped.enter_async_context(compute.running())
            if kinds:
                await until_stopped.enter_async_context(jobs.running())
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
    app.state.settings, app.state.metrics, app.state.compute, app.state.jobs = chosen, metrics, compute, jobs
    app.state.streams = Streams(chosen.event_streams, metrics)
    app.router.route_class = StrictRoute
    keys = Keys.of(chosen.api_keys_file)
    if keys is not None:
        app.add_middleware(Authenticate, keys=keys, metrics_open=chosen.metrics_open)
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=6)
    app.add_middleware(Observe, metrics=metrics, hsts_seconds=chosen.hsts_seconds)
    for foreseen in TABLE:
        app.add_exception_handler(foreseen, answer_problem)
    routes.add(app, calibrators, theorems, theorem_home)
    if kinds:
        simulations.add(app, kinds, figures)
    app.openapi = partial(document, app)  # type: ignore[method-assign]
    return app
