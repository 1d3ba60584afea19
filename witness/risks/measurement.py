"""Excess risk: repeated runs of an algorithm on a problem with known constants, compared with its bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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
from epsilond.witness.joins import find_join
from epsilond.witness.kind import SimulationKind, SimulationPlan
from epsilond.witness.pointers import point_into
from epsilond.witness.risks.answer import RiskAnswer
from epsilond.witness.risks.report import BlockOfRun, Measurement, make_answer
from epsilond.witness.risks.rounds import Spacing, measured_rounds

PRIVATE = "private"
"""Name of the private run among the runs."""
OPERATIONS_A_SECOND, CALLS_A_SECOND = 1e8, 2e5
"""Floating-point operations and calls of numpy in one second on one core, for the plan."""
BLOCK_SECONDS = 1.0
"""Target time of one block, in seconds."""
BLOCK_BYTES = 256e6
"""Most memory of one block in bytes, unless one repetition needs more."""
BLOCK_REPETITIONS = 1e6
"""Most repetitions of one block, so that their number is finite for a run without work."""

KIND = Quantity(description="name of the kind of simulation")
RUN = Quantity(
    description="algorithm that is run, with its parameters. If they have no noise, it is calibrated to "
    "epsilon and delta"
)
PROBLEM = Quantity(description="clients, their data, the loss and the domain")
REPETITIONS = Quantity(description="number of independent repetitions, each with its own randomness", ge=2, le=1000)
SEED = Quantity(description="seed of all randomness: the same seed gives the same answer", ge=0, le=2**53 - 1)
POINTS = Quantity(description="largest number of rounds at which the run is measured", ge=1, le=200)
SPACING = Quantity(description="whether the measured rounds have equal differences or equal ratios")
CONFIDENCE = Quantity(description="confidence level of the interval at each round by itself", ge=0.5, le=1.0 - 1e-9)
RETURN_MODEL = Quantity(
    description="true: the answer has the weights of the model that the first repetition of every run put out, "
    "at most 20000 numbers for one run"
)
MOST_WEIGHTS = 20_000
"""Most numbers of a returned model."""
ALTERNATIVES = Quantity(
    description="names of runs with which the run is compared. Absent: all that are offered for the algorithm"
)


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
        """Check that the run fits the problem, the alternatives exist, and the noise is either given or calibrated.

        Raises:
            InvalidInput: a check fails, or the target (ε, δ) is not valid.
        """
        algorithm = algorithm_of(self.run)
        if not isinstance(self.problem, algorithm.problems):
            kinds = ", ".join(_kind_name(kind) for kind in algorithm.problems)
            raise InvalidInput.at("/problem/kind", f"is not a problem that {algorithm.name} runs on", allowed=kinds)
        self._check_alternatives(algorithm)
        self._check_noise_or_target(find_join(algorithm.name).noise)
        if self.epsilon is not None:
            Target.of(self.epsilon, self.delta, self.log10_delta)

    def _check_noise_or_target(self, noise_names: tuple[str, ...]) -> None:
        """Check that the request gives either the noise of the run or a target (ε, δ) to calibrate it to, but not both.

        Args:
            noise_names: fields of the run that state its noise; empty for an algorithm without noise.

        Raises:
            InvalidInput: both are given, or neither for an algorithm with noise, or a target without its ε.
        """
        given_noise = [name for name in noise_names if getattr(self.run, name) is not None]
        given_target = [name for name in ("epsilon", "delta", "log10_delta") if getattr(self, name) is not None]
        if given_noise and given_target:
            message = "cannot be given together: noise is either given or calibrated"
            faults = [Fault(f"/run/{name}", f"and {given_target[0]} {message}") for name in given_noise]
            faults += [Fault(f"/{name}", f"and {given_noise[0]} {message}") for name in given_target]
            raise InvalidInput(*faults)
        if noise_names and not given_noise and not given_target:
            message = "is needed, 0 for none, unless epsilon and delta are given"
            raise InvalidInput.at(f"/run/{noise_names[0]}", message)
        if given_target and self.epsilon is None:
            raise InvalidInput.at("/epsilon", f"is needed beside {given_target[0]}")

    def _check_alternatives(self, algorithm: SimulatedAlgorithm) -> None:
        """Check that the algorithm has the runs to compare with, and that none is listed twice."""
        names = self.alternatives or ()
        allowed = ", ".join(algorithm.alternative_names) or None
        faults = []
        for index, name in enumerate(names):
            is_repeated = name in names[:index]
            if is_repeated or name not in algorithm.alternative_names:
                faults.append(Fault(f"/alternatives/{index}", f"is not a run beside {algorithm.name}", allowed))
        if faults:
            raise InvalidInput(*faults)

    @property
    def target(self) -> Target | None:
        """The target of the calibration, or None if noise is given."""
        return None if self.epsilon is None else Target.of(self.epsilon, self.delta, self.log10_delta)


@dataclass(frozen=True, kw_only=True)
class ResolvedRuns:
    """The runs of a risk simulation with their noise, and how they are measured: the input of its blocks.

    Blocks may run in other processes. A process builds the problem when it first needs it. The same request gives the
    same problem in every process.

    Attributes:
        problem: request of the problem.
        runs: every run with its noise, by name; the private one first.
        calibration: the calibration's answer, or None if noise was given.
        repetitions: repetitions of each run.
        block: repetitions in one block.
        seed: seed of all repetitions.
        points: most rounds to measure at.
        spacing: spacing of the measured rounds.
        return_model: whether the first repetition's model is returned.
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
    """Estimate the cost of a risk simulation before it runs: the number of blocks, their time and their memory.

    A block is a number of repetitions of the private run and of the runs that are compared with it. The time is
    estimated from the algorithm's operations and calls of numpy; the time of the calibration is added.

    Raises:
        InvalidInput: the problem or the runs are not possible.
    """
    problem = build(request.problem, request.run)
    costs = _costs(request, problem)
    block = _block_size(request, costs)
    blocks = math.ceil(request.repetitions / block)
    run_seconds = sum(
        blocks * work.calls / CALLS_A_SECOND + request.repetitions * work.operations / OPERATIONS_A_SECOND
        for work in costs
    )
    target = request.target
    calibration_seconds = 0.0 if target is None else find_join(request.run.algorithm).allowance.of(target)
    return SimulationPlan(
        blocks=blocks,
        seconds=calibration_seconds + run_seconds,
        bytes=math.ceil(block * max(work.bytes for work in costs)),
    )


def prepare(request: RiskSimulation) -> ResolvedRuns:
    """Calibrate the noise of a requested run for its target (ε, δ), and derive the runs to compare with.

    The compared runs have the parameters of the private run, including a calibrated noise and step.

    Raises:
        InvalidInput: the problem or the runs are not possible.
        NoCertificate: the calibrator certifies no noise for the target.
    """
    problem = build(request.problem, request.run)
    block = _block_size(request, _costs(request, problem))
    run, calibration = request.run, None
    if request.target is not None:
        with point_into(request):  # errors of the calibrator point to fields of this request
            run, calibration = find_join(run.algorithm).calibrate(problem, run, request.target)
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
    """Run the repetitions of one block, for every run.

    Args:
        resolved: the runs with their noise, and the sizes of the blocks.
        index: number of the block, from 0.

    Returns:
        Excess risk, diagnostics and scores of each run, by the run's name. The first block also has the model of its
        first repetition, if the request asks for it.
    """
    problem = build(resolved.problem, resolved.runs[PRIVATE])
    first = index * resolved.block
    repetitions = range(first, min(first + resolved.block, resolved.repetitions))
    is_model_returned = resolved.return_model and index == 0
    results = {}
    for name, run in resolved.runs.items():
        rounds = rounds_to_measure(resolved, run)
        # The runs see the same data if they draw it first, because their generators have the same seeds.
        curves = algorithm_of(run).simulate(problem, run, generators(resolved.seed, repetitions), rounds)
        model = None
        if is_model_returned and curves.models is not None:
            model = curves.models[0]
        results[name] = (curves.excess, dict(curves.diagnostics), dict(curves.scores), model)
    return results


def assemble(request: RiskSimulation, resolved: ResolvedRuns, blocks: Sequence[Mapping[str, BlockOfRun]]) -> RiskAnswer:
    """Collect the blocks of each run, and compare the private run with its theorems' bounds on the excess risk.

    Args:
        request: the request, with the confidence level of the bands and the spec of the problem.
        resolved: the runs with their noise, as `prepare` returned them.
        blocks: results of all blocks, in order.

    Raises:
        InvalidInput: a theorem has no bound at these parameters. The error points to fields of this request.
    """
    measurements = []
    for name, run in resolved.runs.items():
        blocks_of_run = [block[name] for block in blocks]
        rounds = rounds_to_measure(resolved, run)
        measurements.append(Measurement(name=name, run=run, rounds=rounds, blocks=blocks_of_run))
    private_run = resolved.runs[PRIVATE]
    problem = build(resolved.problem, private_run)
    with point_into(request):  # errors of the theorems point to fields of this request
        bounds = find_join(private_run.algorithm).bounds(problem, private_run)
    return make_answer(request, problem, resolved.calibration, measurements, bounds)


def rounds_to_measure(resolved: ResolvedRuns, run: Run) -> tuple[int, ...]:
    """Return the rounds after which the excess risk of a run is measured, in ascending order, up to the last."""
    last = algorithm_of(run).rounds(build(resolved.problem, run), run)
    return measured_rounds(last, resolved.points, resolved.spacing)


def build(spec: Any, run: Run) -> SimulatedProblem:
    """Build the learning problem that a run is measured on.

    Args:
        spec: spec of the problem in the request.
        run: the run. Its groups of clients, if any, change the numbers of records and the weights of the problem.

    Raises:
        InvalidInput: the problem cannot be built (pointers below /problem), or not with these groups (below /run).
    """
    with _point_below("/problem"):
        spec.build()
    with _point_below("/run"):
        problem: SimulatedProblem = build_for(spec, run)
    return problem


@contextmanager
def _point_below(parent: str) -> Iterator[None]:
    """Prefix the pointers of faults that are raised within the context with a JSON pointer, `parent`.

    Raises:
        InvalidInput: the faults, with pointers into the request.
    """
    try:
        yield
    except InvalidInput as error:
        faults = [Fault(parent + fault.pointer, fault.message, fault.allowed) for fault in error.faults]
        raise InvalidInput(*faults) from None


def _costs(request: RiskSimulation, problem: SimulatedProblem) -> tuple[Work, ...]:
    """Return the computing work of one repetition of the requested run, and then of each comparison run.

    Args:
        request: the request, with its run.
        problem: the learning problem.

    Raises:
        InvalidInput: the run is not possible on the problem, or the requested model is too large to return.
    """
    algorithm: SimulatedAlgorithm = algorithm_of(request.run)
    if request.return_model:
        _check_model(problem)
    with point_into(request):
        algorithm.rounds(problem, request.run)  # raises if the run is not possible
        return algorithm.costs(problem, request.run, _requested_alternatives(request))


def _block_size(request: RiskSimulation, costs: Sequence[Work]) -> int:
    """Return the number of repetitions in a block, so that a block takes a limited time and memory.

    The number is the largest that fits into `BLOCK_SECONDS` and `BLOCK_BYTES`, and at least 1. It depends only on the
    request, so that every machine divides the repetitions in the same way.

    Args:
        request: the request, with the number of repetitions.
        costs: work of one repetition of every run.
    """
    call_seconds = sum(work.calls for work in costs) / CALLS_A_SECOND
    # Calls of numpy take the same time for any number of repetitions in a block. Operations on array entries, which
    # grow with this number, get the rest of the block's time, or as much time as the calls if that is longer.
    operation_seconds = max(BLOCK_SECONDS - call_seconds, call_seconds)
    most_in_time = operation_seconds * OPERATIONS_A_SECOND / max(sum(work.operations for work in costs), 1.0)
    most_in_memory = BLOCK_BYTES / max(*(work.bytes for work in costs), 1.0)
    return max(1, min(request.repetitions, int(min(most_in_time, most_in_memory, BLOCK_REPETITIONS))))


def _check_model(problem: SimulatedProblem) -> None:
    """Raise `InvalidInput` if the model of a run has too many numbers to return."""
    is_personal = isinstance(problem.constants, PersonalizedConstants)
    weights = problem.dimension * (problem.clients if is_personal else 1)
    if weights > MOST_WEIGHTS:
        raise InvalidInput.at(
            "/return_model", f"would return {weights} numbers of each run", allowed=f"≤ {MOST_WEIGHTS} numbers"
        )


def _requested_alternatives(request: RiskSimulation) -> tuple[str, ...]:
    """Return the names of the requested alternatives; by default, all that the algorithm has."""
    return algorithm_of(request.run).alternative_names if request.alternatives is None else request.alternatives


def _alternatives(request: RiskSimulation, run: Run) -> JsonObject:
    """Return the requested runs to compare the private run with, by name and in the algorithm's order.

    A requested run that does not exist at these parameters is left out.

    Args:
        request: the request, which may select alternatives.
        run: the private run; the alternatives have the same parameters.
    """
    requested = _requested_alternatives(request)
    alternatives = algorithm_of(run).alternatives(run)
    return {name: alternative for name, alternative in alternatives.items() if name in requested}


def _kind_name(problem: type) -> str:
    """Return the name of a kind of problem."""
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
