"""Excess risk: an algorithm is run on a problem whose constants are known, many times, beside its bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.quantities import DELTA, EPSILON, LOG10_DELTA, Quantity, request
from epsilond.accountants.target import Target
from epsilond.calibrators.answer import Calibration
from epsilond.simulators.algorithms.algorithm import SimulatedAlgorithm, Work
from epsilond.simulators.algorithms.kinds import Run, algorithm_of
from epsilond.simulators.federations.weighted_data import build_for
from epsilond.simulators.problems.personalized_problem import PersonalizedConstants
from epsilond.simulators.problems.problem import SimulatedProblem
from epsilond.simulators.problems.problem_specs import AnyProblem
from epsilond.simulators.seeds import generators
from epsilond.witness.joins import join_of
from epsilond.witness.kind import SimulationKind, SimulationPlan
from epsilond.witness.pointers import inside
from epsilond.witness.risks.answer import RiskAnswer
from epsilond.witness.risks.report import BlockOfRun, Measurement, report
from epsilond.witness.risks.rounds import Spacing, measured_rounds

PRIVATE = "private"
OPERATIONS_A_SECOND, CALLS_A_SECOND = 1e8, 2e5
BLOCK_SECONDS = 1.0
BLOCK_BYTES = 256e6
"""What one block may hold, unless one repetition alone holds more."""

KIND = Quantity(description="which kind of simulation this is")
RUN = Quantity(description="the algorithm and what it is run with; absent noise is calibrated to epsilon and delta")
PROBLEM = Quantity(description="clients, their data, the loss and the domain")
REPETITIONS = Quantity(description="independent repetitions, each with its own randomness", ge=2, le=1000)
SEED = Quantity(description="the same seed gives the same answer", ge=0, le=2**53 - 1)
POINTS = Quantity(description="rounds to measure at, at most", ge=1, le=200)
SPACING = Quantity(description="whether the measured rounds are evenly apart, or by even ratios")
CONFIDENCE = Quantity(description="of the band at each round", ge=0.5, le=1.0 - 1e-9)
RETURN_MODEL = Quantity(
    description="return the weights that the first repetition of every run put out, 20000 numbers of one run at most"
)
MOST_WEIGHTS = 20_000
ALTERNATIVES = Quantity(description="which runs to set beside it, by name; absent: all that the algorithm has")


@request
class RiskSimulation:
    """An algorithm, a problem, and how often to run it.

    Noise is given in the run, or else left to be calibrated to epsilon with one of delta and log10_delta. The run fixes
    the relation, unit and observer of the guarantee, and the guarantee of the result names them.
    """

    kind: Annotated[Literal["risk"], KIND] = "risk"
    run: Annotated[Run, RUN]
    problem: Annotated[AnyProblem, PROBLEM]
    epsilon: Annotated[float | None, EPSILON] = None
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None
    repetitions: Annotated[int, REPETITIONS] = 100
    seed: Annotated[int, SEED] = 0
    points: Annotated[int, POINTS] = 50
    spacing: Annotated[Spacing, SPACING] = "linear"
    confidence: Annotated[float, CONFIDENCE] = 0.95
    alternatives: Annotated[tuple[str, ...] | None, ALTERNATIVES] = None
    return_model: Annotated[bool, RETURN_MODEL] = False

    def check(self) -> None:
        """The problem is one that the algorithm runs on, and noise or a target is given, not both."""
        algorithm = algorithm_of(self.run)
        if not isinstance(self.problem, algorithm.problems):
            kinds = ", ".join(_kind_name(each) for each in algorithm.problems)
            raise InvalidInput.at("/problem/kind", f"is no problem that {algorithm.name} runs on", allowed=kinds)
        noise = join_of(algorithm.name).noise
        self._check_alternatives(algorithm)
        given = [name for name in noise if getattr(self.run, name) is not None]
        targets = [name for name in ("epsilon", "delta", "log10_delta") if getattr(self, name) is not None]
        if given and targets:
            message = "cannot be given together: noise is either given or calibrated"
            faults = [Fault(f"/run/{name}", f"and {targets[0]} {message}") for name in given]
            raise InvalidInput(*faults, *(Fault(f"/{name}", f"and {given[0]} {message}") for name in targets))
        if noise and not given and not targets:
            raise InvalidInput.at(f"/run/{noise[0]}", "is needed, 0 for none, unless epsilon and delta are given")
        if targets and self.epsilon is None:
            raise InvalidInput.at("/epsilon", f"is needed beside {targets[0]}")
        if self.epsilon is not None:
            Target.of(self.epsilon, self.delta, self.log10_delta)

    def _check_alternatives(self, algorithm: SimulatedAlgorithm) -> None:
        faults = [
            Fault(
                f"/alternatives/{place}",
                f"is no run beside {algorithm.name}",
                ", ".join(algorithm.alternative_names) or None,
            )
            for place, name in enumerate(self.alternatives or ())
            if name not in algorithm.alternative_names or name in (self.alternatives or ())[:place]
        ]
        if faults:
            raise InvalidInput(*faults)

    @property
    def target(self) -> Target | None:
        """What the noise is to be calibrated to."""
        return None if self.epsilon is None else Target.of(self.epsilon, self.delta, self.log10_delta)


@dataclass(frozen=True, kw_only=True)
class ResolvedRuns:
    """What blocks read: every run with its noise, in order, the private one first, and the problem's request.

    A process builds the problem when it first needs it; what it builds is the same everywhere.
    """

    problem: object
    runs: JsonObject
    calibration: Calibration | None
    repetitions: int
    block: int
    seed: int
    points: int
    spacing: Spacing
    return_model: bool


def plan(request: RiskSimulation) -> SimulationPlan:
    """Work of the run and of each run beside it, as the algorithm tells it, and the calibration's allowance."""
    costs, block = _sizes(request, build(request.problem, request.run))
    blocks = math.ceil(request.repetitions / block)
    seconds = sum(
        blocks * work.calls / CALLS_A_SECOND + request.repetitions * work.operations / OPERATIONS_A_SECOND
        for work in costs
    )
    target = request.target
    calibrating = 0.0 if target is None else join_of(request.run.algorithm).allowance.of(target)
    largest = max(work.bytes for work in costs)
    return SimulationPlan(blocks=blocks, seconds=calibrating + seconds, bytes=math.ceil(block * largest))


def prepare(request: RiskSimulation) -> ResolvedRuns:
    """The noise calibrated where a target is given, and the runs to set beside it at the same parameters."""
    problem = build(request.problem, request.run)
    _, block = _sizes(request, problem)
    run, calibration = request.run, None
    if request.target is not None:
        with inside(request):
            run, calibration = join_of(run.algorithm).calibrate(problem, run, request.target)
    return ResolvedRuns(
        problem=request.problem,
        runs={PRIVATE: run, **_alternatives(request, run)},
        calibration=calibration,
        repetitions=request.repetitions,
        block=block,
        seed=request.seed,
        points=request.points,
        spacing=request.spacing,
        return_model=request.return_model,
    )


def run_block(resolved: ResolvedRuns, index: int) -> Mapping[str, BlockOfRun]:
    """Excess, diagnostics and scores of every run, for the repetitions of this block; a model of the first."""
    problem, first = build(resolved.problem, resolved.runs[PRIVATE]), index * resolved.block
    numbers = range(first, min(first + resolved.block, resolved.repetitions))
    measured = {}
    for name, run in resolved.runs.items():
        rounds = rounds_of(resolved, run)
        # Runs set beside each other see the same data wherever they draw it first.
        curves = algorithm_of(run).simulate(problem, run, generators(resolved.seed, numbers), rounds)
        model = curves.models[0] if resolved.return_model and index == 0 and curves.models is not None else None
        measured[name] = (curves.excess, dict(curves.diagnostics), dict(curves.scores), model)
    return measured


def assemble(request: RiskSimulation, resolved: ResolvedRuns, blocks: Sequence[Mapping[str, BlockOfRun]]) -> RiskAnswer:
    """The answer: bounds are computed here, beside the measurements."""
    measurements = [
        Measurement(name=name, run=run, rounds=rounds_of(resolved, run), blocks=[block[name] for block in blocks])
        for name, run in resolved.runs.items()
    ]
    run = resolved.runs[PRIVATE]
    problem = build(resolved.problem, run)
    with inside(request):
        bounds = join_of(run.algorithm).bounds(problem, run)
    return report(request, problem, resolved.calibration, measurements, bounds)


def rounds_of(resolved: ResolvedRuns, run: Run) -> tuple[int, ...]:
    """After which rounds this run is measured."""
    last = algorithm_of(run).rounds(build(resolved.problem, run), run)
    return measured_rounds(last, resolved.points, resolved.spacing)


def build(spec: Any, run: Run) -> SimulatedProblem:
    """The problem as the run's clients see it, with faults pointed to where they stand in the request."""
    try:
        spec.build()
    except InvalidInput as error:
        raise InvalidInput(*(Fault("/problem" + it.pointer, it.message, it.allowed) for it in error.faults)) from None
    try:
        built: SimulatedProblem = build_for(spec, run)
    except InvalidInput as error:
        raise InvalidInput(*(Fault("/run" + it.pointer, it.message, it.allowed) for it in error.faults)) from None
    return built


def _sizes(request: RiskSimulation, problem: SimulatedProblem) -> tuple[tuple[Work, ...], int]:
    """Work of one repetition of every run, and repetitions side by side: from the request alone.

    As many side by side as fit the time and memory of a block.
    """
    algorithm: SimulatedAlgorithm = algorithm_of(request.run)
    if request.return_model:
        _check_model(problem)
    with inside(request):
        algorithm.rounds(problem, request.run)
        costs = algorithm.costs(problem, request.run, _wanted(request))
    shared = sum(work.calls for work in costs) / CALLS_A_SECOND
    seconds = max(BLOCK_SECONDS - shared, shared)
    in_time = seconds * OPERATIONS_A_SECOND / max(sum(work.operations for work in costs), 1.0)
    in_memory = BLOCK_BYTES / max(*(work.bytes for work in costs), 1.0)
    return costs, max(1, min(request.repetitions, int(min(in_time, in_memory, 1e6))))


def _check_model(problem: SimulatedProblem) -> None:
    personal = isinstance(problem.constants, PersonalizedConstants)
    weights = problem.dimension * (problem.clients if personal else 1)
    if weights > MOST_WEIGHTS:
        raise InvalidInput.at(
            "/return_model", f"would return {weights} numbers of each run", allowed=f"≤ {MOST_WEIGHTS} numbers"
        )


def _wanted(request: RiskSimulation) -> tuple[str, ...]:
    """Names of the runs to set beside it."""
    return algorithm_of(request.run).alternative_names if request.alternatives is None else request.alternatives


def _alternatives(request: RiskSimulation, run: Run) -> JsonObject:
    """The runs to set beside it, in the algorithm's order; of some names there may be none."""
    found = algorithm_of(run).alternatives(run)
    return {name: other for name, other in found.items() if name in _wanted(request)}


def _kind_name(problem: type) -> str:
    return str(getattr(problem, "kind", problem.__name__))


EXAMPLE = {
    "kind": "risk",
    "run": {"algorithm": "mb-sgd", "rounds": 40, "batch_size": 20, "step_size": 0.5},
    "problem": {"kind": "mean-estimation", "clients": 10, "samples_per_client": 100, "dimension": 5},
    "epsilon": 2.0,
    "delta": 1e-5,
    "repetitions": 20,
}

RISK = SimulationKind(
    request=RiskSimulation,
    plan=plan,
    prepare=prepare,
    run_block=run_block,
    assemble=assemble,
    answer=RiskAnswer,
    size="repetitions",
    example=EXAMPLE,
)
