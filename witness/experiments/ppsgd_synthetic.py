"""PPSGD on the synthetic set of its paper, over personalization and noise: reduced, and in full size.

Linear regression with Gaussian features of decaying variance; the clients' optima are far from the start and close to
each other. A client's own step is `STEP` up to personalization 1/N and smaller beyond, so that the shared step never
exceeds it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from epsilond.simulators.algorithms.ppsgd.run import PpsgdRun
from epsilond.simulators.problems.personalized_problems import PersonalizedLeastSquares
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Axis, Cell, Finding, Preset, format_scientific
from epsilond.witness.findings import MeasuredPoint, best_unshared, judge_order, judge_pairs
from epsilond.witness.risks.measurement import RiskSimulation

OWN_CLAIM = "Under user-level privacy models of one's own are more accurate than one model for all."
OWN_NAMES = ("the best personalization", "one model for all")
LESS_CLAIM = "The stronger the privacy, the more of one's own is best."
TIMES_CLIENTS = (0.0, 0.1, 1.0, 10.0, math.inf)
"""Personalization α, times the number of clients."""
EPSILONS = (None, 8.0, 0.5)
DELTA = 1e-5
CLIPPING_NORM = 10.0
STEP = 0.2
BATCH_SIZE = 10
ROUNDS = 300
OPTIMUM_STD, SPREAD_STD, TARGET_NOISE_STD = 10.0, 0.01, 0.01
"""Per coordinate: of the clients' common optimum, and of each client's own distance from it."""


def cells(repetitions: int, seed: int, *, clients: int, dimension: int) -> tuple[Cell, ...]:
    """One for each personalization and ε."""
    problem = PersonalizedLeastSquares(
        clients=clients,
        dimension=dimension,
        optimum_norm=OPTIMUM_STD * math.sqrt(dimension),
        optimum_spread=SPREAD_STD * math.sqrt(dimension),
        target_noise_std=TARGET_NOISE_STD,
        features="gaussian",
    )
    return tuple(
        Cell(
            place={"personalization": _word(times), "epsilon": _told(epsilon)},
            simulation=RiskSimulation(
                run=_run(times, clients, noisy=epsilon is not None),
                problem=problem,
                epsilon=epsilon,
                delta=None if epsilon is None else DELTA,
                repetitions=repetitions,
                seed=seed,
                points=1,
                alternatives=(),
            ),
        )
        for epsilon in EPSILONS
        for times in TIMES_CLIENTS
    )


def _run(times: float, clients: int, *, noisy: bool) -> PpsgdRun:
    unbounded = math.isinf(times)
    return PpsgdRun(
        rounds=ROUNDS,
        batch_size=BATCH_SIZE,
        clipping_norm=CLIPPING_NORM,
        personalization="unbounded" if unbounded else times / clients,
        step_size=None if unbounded else STEP * clients / max(times, 1.0),
        shared_step_size=STEP if unbounded else None,
        noise_std=None if noisy else 0.0,
    )


def _word(times: float) -> str:
    return "all shared" if math.isinf(times) else "all own" if times == 0.0 else f"{times:g}"


def judge(answered: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Whether one's own models pay under privacy, and whether less ε asks for more of them."""
    places = [_word(times) for times in TIMES_CLIENTS]
    stages = []
    for epsilon in EPSILONS:
        of = {
            cell.place["personalization"]: cell.final_excess
            for cell in answered
            if cell.place["epsilon"] == _told(epsilon)
        }
        stages.append(
            MeasuredPoint(_told(epsilon), {place: found for place in places if (found := of[place]) is not None})
        )
    pairs = [best_unshared(stage, places[-1], lower_is_better=True) for stage in stages[1:]]
    return (
        judge_pairs(OWN_CLAIM, pairs, names=OWN_NAMES, quantity="excess risk"),
        judge_order(LESS_CLAIM, {"αN": stages}, quantity="excess risk"),
    )


def _told(epsilon: float | None) -> str:
    return "no noise" if epsilon is None else f"ε = {epsilon:g}"


ACROSS = Axis(name="personalization", title="personalization α, times the number of clients")
LINES = Axis(name="epsilon", title=f"δ = {format_scientific(DELTA)}")
SOURCE = "Bietti et al., Figure 1a"
STANDS_IN = (
    "Stands for Figure 1a, on its own synthetic linear regression: {size}. In the paper the last 5 coordinates differ"
    " between users; here all do. The paper has noise multipliers from its grid and the best step of it at each; here"
    " are one step and the least noise that is certified for ε, of a user's whole data, so that ε can be compared. The"
    " excess is that of the loss with its ½, half of what the paper's Section 6 defines (erratum E-B10). The grid"
    " itself, at the printed noises: `ppsgd-synthetic-grid`."
)

PRESET = Preset(
    name="ppsgd-synthetic",
    title="PPSGD on its synthetic set, over personalization and noise (reduced)",
    summary="100 clients and 20 coordinates: which personalization is best depends on the noise",
    source=SOURCE,
    across=ACROSS,
    lines=LINES,
    repetitions=20,
    cells=partial(cells, clients=100, dimension=20),
    judge=judge,
    stands_in_for=STANDS_IN.format(size="the paper has 1000 users and 100 coordinates, here are 100 and 20"),
)

FULL_PRESET = Preset(
    name="ppsgd-synthetic-full",
    title="PPSGD on its synthetic set, over personalization and noise",
    summary="the same in the paper's size, 1000 clients and 100 coordinates: minutes",
    source=SOURCE,
    across=ACROSS,
    lines=LINES,
    repetitions=5,
    cells=partial(cells, clients=1000, dimension=100),
    judge=judge,
    stands_in_for=STANDS_IN.format(size="1000 users and 100 coordinates, as in the paper"),
)
