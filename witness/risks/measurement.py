"""Excess risk: repeated runs of an algorithm on a problem with known constants, compared with its bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.json_types import JsonObject
from epsilond.calibrators.answer import Calibration
from epsilond.simulators.algorithms.algorithm import SimulatedAlgorithm, Work
from epsilond.simulators.algorithms.kinds import Run, algorithm_of
from epsilond.simulators.federations.weighted_data import build_for
from epsilond.simulators.problems.personalized_problem import PersonalizedConstants
from epsilond.simulators.problems.problem import SimulatedProblem
from epsilond.simulators.seeds import generators
from epsilond.witness.joins import find_join
from epsilond.witness.kind import SimulationKind, SimulationPlan
from epsilond.witness.pointers import point_into
from epsilond.witness.risks.answer import RiskAnswer
from epsilond.witness.risks.blocks import BlockOfRun, Measurement
from epsilond.witness.risks.report import make_answer
from epsilond.witness.risks.request import RiskSimulation
from epsilond.witness.risks.rounds import Spacing, measured_rounds

PRIVATE = "private"
"""Name of the private run among the runs."""
OPERATIONS_A_SECOND, CALLS_A_SECOND = 1e8, 2e5
"""Rough numbers of floating-point operations and of numpy calls per second on one core, for estimates of time."""
BLOCK_SECONDS = 1.0
"""Target time of one block, in seconds."""
BLOCK_BYTES = 256e6
"""Most memory of one block in bytes, unless one repetition needs more."""
BLOCK_REPETITIONS = 1e6
"""Most repetitions of one block, so that their number is finite for a run without work."""

MOST_WEIGHTS = 20_000
"""Most numbers of a returned model."""


@dataclass(frozen=True, kw_only=True)
class ResolvedRuns:
    """The runs of a risk simulation with their noise, and how they are measured: the input of its blocks.

    Blocks may run in several processes. Each builds the problem itself; the same request gives the same problem.

    Attributes:
        problem: request of the problem.
        runs: every run with its noise, by name; the private one first.
        calibration: the calibration's answer, or None if noise was given.
        repetitions: repetitions of each run.
        block: number of repetitions in one block.
        seed: seed of all repetitions.
        points: largest number of rounds after which the risk is measured.
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

    A block is a number of repetitions that one worker runs at once. Each repetition simulates the private run and the
    runs that are compared with it. A call of numpy takes some time for a block of any size, so the time of calls grows
    with the number of blocks. The time of array operations grows with the number of repetitions.

    Args:
        request: the algorithm, the problem, and how often to run it.

    Returns:
        The number of blocks, the estimated seconds on one core with the calibration, and the bytes of one block.

    Raises:
        InvalidInput: the problem or the runs are not possible.
    """
    problem = build(request.problem, request.run)
    costs = _costs(request, problem)
    block_size = _block_size(request, costs)
    block_count = math.ceil(request.repetitions / block_size)

    run_seconds = 0.0
    for work in costs:
        call_seconds = block_count * work.calls / CALLS_A_SECOND
        operation_seconds = request.repetitions * work.operations / OPERATIONS_A_SECOND
        run_seconds += call_seconds + operation_seconds

    calibration_seconds = 0.0
    if request.target is not None:
        calibration_seconds = find_join(request.run.algorithm).allowance.of(request.target)

    most_bytes = max(work.bytes for work in costs)
    return SimulationPlan(
        blocks=block_count,
        seconds=calibration_seconds + run_seconds,
        bytes=math.ceil(block_size * most_bytes),
    )


def prepare(request: RiskSimulation) -> ResolvedRuns:
    """Calibrate the noise of a requested run for its target (ε, δ), and derive the runs to compare with.

    A run that gives its noise is kept as it is. The compared runs have the parameters of the private run, including a
    calibrated noise and step.

    Args:
        request: the algorithm, the problem, and the target or the noise.

    Returns:
        The runs with their noise, and the division of the repetitions into blocks.

    Raises:
        InvalidInput: the problem or the runs are not possible.
        NoCertificate: no noise is proved to meet the target.
    """
    problem = build(request.problem, request.run)
    costs = _costs(request, problem)

    private_run = request.run
    calibration = None
    if request.target is not None:
        calibrate = find_join(private_run.algorithm).calibrate
        with point_into(request):  # errors of the calibrator point to fields of this request
            private_run, calibration = calibrate(problem, private_run, request.target)

    comparison_runs = _comparison_runs(request, private_run)
    return ResolvedRuns(
        problem=request.problem,
        runs={PRIVATE: private_run, **comparison_runs},
        calibration=calibration,
        repetitions=request.repetitions,
        block=_block_size(request, costs),
        seed=request.seed,
        points=request.points,
        spacing=request.spacing,
        return_model=request.return_model,
    )


def run_block(resolved: ResolvedRuns, index: int) -> Mapping[str, BlockOfRun]:
    """Simulate the repetitions of one block, for the private run and every run that is compared with it.

    Repetition r has the same seed in every run and in any division into blocks. The answer therefore does not depend on
    the number of workers.

    Args:
        resolved: the runs with their noise, and the sizes of the blocks.
        index: number of the block, from 0.

    Returns:
        Excess risk, diagnostics and scores of each run, by the run's name. The first block also has the model of its
        first repetition, if the request asks for it.
    """
    problem = build(resolved.problem, resolved.runs[PRIVATE])
    first = index * resolved.block
    last = min(first + resolved.block, resolved.repetitions)
    repetitions = range(first, last)
    is_model_returned = resolved.return_model and index == 0

    results = {}
    for name, run in resolved.runs.items():
        algorithm = algorithm_of(run)
        rounds = rounds_to_measure(resolved, run)
        # Generators have the same seeds in every run, so runs that draw their data first have the same data.
        curves = algorithm.simulate(problem, run, generators(resolved.seed, repetitions), rounds)
        model = None
        if is_model_returned and curves.models is not None:
            model = curves.models[0]
        results[name] = (curves.excess, dict(curves.diagnostics), dict(curves.scores), model)
    return results


def assemble(request: RiskSimulation, resolved: ResolvedRuns, blocks: Sequence[Mapping[str, BlockOfRun]]) -> RiskAnswer:
    """Collect the blocks of each run, and compare the private run with its theorems' bounds on the excess risk.

    The excess risk is the risk of the model minus the least possible risk.

    Args:
        request: the request, with the confidence level of the bands.
        resolved: the problem, and the runs with their noise, as `prepare` returned them.
        blocks: results of all blocks, in order.

    Returns:
        The answer: measured excess risk of every run by rounds, the guarantee, and the comparison with each bound.

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
    """Return the rounds after which the excess risk of a run is measured.

    Args:
        resolved: the problem, with the largest number and the spacing of the measured rounds.
        run: the run.

    Returns:
        Numbers of rounds in ascending order, at most `resolved.points` of them. The last one is the length of the run.
    """
    problem = build(resolved.problem, run)
    last_round = algorithm_of(run).rounds(problem, run)
    return measured_rounds(last_round, resolved.points, resolved.spacing)


def build(spec: Any, run: Run) -> SimulatedProblem:
    """Build the learning problem that a run is measured on.

    The constants of the problem, such as the smoothness of its losses, hold by construction.

    Args:
        spec: request of the problem.
        run: the run. Its groups of clients, if any, change the numbers of records and the weights of the problem.

    Returns:
        The problem, with its data and its exact constants.

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
    """Prefix the pointers of faults that are raised within the context.

    A fault names the wrong field by a JSON pointer, such as `/clients`. Within a part of a request, the pointer is
    relative to that part. With the parent `/problem` it becomes `/problem/clients`, which the sender of the request can
    follow.

    Args:
        parent: JSON pointer of the part within the request.

    Yields:
        Nothing; the context only changes errors.

    Raises:
        InvalidInput: the same faults, with pointers into the whole request.
    """
    try:
        yield
    except InvalidInput as error:
        faults = [Fault(parent + fault.pointer, fault.message, fault.allowed) for fault in error.faults]
        raise InvalidInput(*faults) from None


def _costs(request: RiskSimulation, problem: SimulatedProblem) -> tuple[Work, ...]:
    """Return the computing work of one repetition of the requested run, and then of each comparison run.

    The work determines the size of the blocks and the estimated time.

    Args:
        request: the request, with its run.
        problem: the learning problem.

    Returns:
        The numbers of operations, of calls of numpy, and of bytes of each run, the requested one first.

    Raises:
        InvalidInput: the run is not possible on the problem, or the requested model is too large to return.
    """
    algorithm: SimulatedAlgorithm = algorithm_of(request.run)
    if request.return_model:
        _check_model_size(problem)
    comparison_names = _requested_alternatives(request)
    with point_into(request):
        algorithm.rounds(problem, request.run)  # raises if the run is not possible
        return algorithm.costs(problem, request.run, comparison_names)


def _block_size(request: RiskSimulation, costs: Sequence[Work]) -> int:
    """Return the number of repetitions in a block, so that a block takes a limited time and memory.

    The number is the largest that fits into `BLOCK_SECONDS` and `BLOCK_BYTES`, and at least 1. It depends only on the
    request, so that every machine divides the repetitions in the same way.

    Args:
        request: the request, with the number of repetitions.
        costs: work of one repetition of every run.

    Returns:
        A whole number from 1 to the number of repetitions.
    """
    # Calls of numpy take the same time for any number of repetitions in a block. Operations on array entries get the
    # rest of the block's time, or as much time as the calls if that is longer.
    call_seconds = sum(work.calls for work in costs) / CALLS_A_SECOND
    operation_seconds = max(BLOCK_SECONDS - call_seconds, call_seconds)
    operations = max(sum(work.operations for work in costs), 1.0)
    most_in_time = operation_seconds * OPERATIONS_A_SECOND / operations

    # The runs follow one another, so the largest of them determines the memory.
    bytes_of_largest = max(*(work.bytes for work in costs), 1.0)
    most_in_memory = BLOCK_BYTES / bytes_of_largest

    most_repetitions = int(min(most_in_time, most_in_memory, BLOCK_REPETITIONS))
    return max(1, min(request.repetitions, most_repetitions))


def _check_model_size(problem: SimulatedProblem) -> None:
    """Check that the model of a run is small enough to be returned in an answer.

    A personalised problem has one model for each client, and every other problem has one model.

    Args:
        problem: the learning problem.

    Raises:
        InvalidInput: the models have more than `MOST_WEIGHTS` numbers together.
    """
    is_personal = isinstance(problem.constants, PersonalizedConstants)
    models = problem.clients if is_personal else 1
    weights = problem.dimension * models
    if weights > MOST_WEIGHTS:
        raise InvalidInput.at(
            "/return_model", f"would return {weights} numbers of each run", allowed=f"≤ {MOST_WEIGHTS} numbers"
        )


def _requested_alternatives(request: RiskSimulation) -> tuple[str, ...]:
    """Return the names of the requested comparison runs; by default, all that the algorithm has."""
    if request.alternatives is None:
        return algorithm_of(request.run).alternative_names
    return request.alternatives


def _comparison_runs(request: RiskSimulation, run: Run) -> JsonObject:
    """Return the requested runs to compare the private run with, by name and in the algorithm's order.

    A requested run that does not exist at these parameters is left out.

    Args:
        request: the request, which may select alternatives.
        run: the private run; the alternatives have the same parameters.

    Returns:
        Parameters of each comparison run, by its name.
    """
    requested = _requested_alternatives(request)
    alternatives = algorithm_of(run).alternatives(run)
    return {name: alternative for name, alternative in alternatives.items() if name in requested}


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
