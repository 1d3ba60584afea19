"""PPSGD on the synthetic set of its paper, over personalization and noise: reduced, and in full size.

The task is linear regression with Gaussian features of decaying variance. The clients' optima are far from the start
and close to each other. A client's own step is `STEP` up to personalization 1/N and smaller for larger α, so that the
shared step never exceeds it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import product

from epsilond.accountants.json_types import Fields
from epsilond.simulators.algorithms.ppsgd.run import PpsgdRun
from epsilond.simulators.problems.personalized_problems import PersonalizedLeastSquares
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Axis, Cell, Finding, Preset, format_scientific
from epsilond.witness.findings import MeasuredPoint, best_unshared, judge_order, judge_pairs
from epsilond.witness.risks.request import RiskSimulation

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
"""Standard deviations per coordinate: of the clients' common optimum, of each client's distance from it, and of the
noise of targets."""


def cells(repetitions: int, seed: int, *, clients: int, dimension: int) -> tuple[Cell, ...]:
    """Return the simulations of PPSGD on synthetic data of Bietti et al.: one for each personalization and ε.

    PPSGD trains a model that all clients share, and a model for each client. Personalization is the weight of the
    shared model. All simulations solve the same least-squares problem, in which every client has an optimum of its own.
    Some have no noise.

    Args:
        repetitions: number of independent runs of each simulation, at least 2.
        seed: seed of all randomness.
        clients: number of clients, at least 1.
        dimension: number of coordinates of a model, at least 1.

    Returns:
        The simulations with their personalization and ε.
    """
    # The root mean square norm of a vector is √dimension times the standard deviation of a coordinate.
    problem = PersonalizedLeastSquares(
        clients=clients,
        dimension=dimension,
        optimum_norm=OPTIMUM_STD * math.sqrt(dimension),
        optimum_spread=SPREAD_STD * math.sqrt(dimension),
        target_noise_std=TARGET_NOISE_STD,
        features="gaussian",
    )
    grid = []
    for epsilon, times in product(EPSILONS, TIMES_CLIENTS):
        has_noise = epsilon is not None
        simulation = RiskSimulation(
            run=_run(times, clients, has_noise=has_noise),
            problem=problem,
            epsilon=epsilon,
            delta=DELTA if has_noise else None,
            repetitions=repetitions,
            seed=seed,
            points=1,
            alternatives=(),
        )
        place = {"personalization": personalization_name(times), "epsilon": noise_name(epsilon)}
        grid.append(Cell(place=place, simulation=simulation))
    return tuple(grid)


def _run(times_clients: float, clients: int, *, has_noise: bool) -> PpsgdRun:
    """Return the parameters of PPSGD for one personalization.

    PPSGD trains a model that all clients share, and a model for each client. The personalization α is the weight of the
    shared model.

    Args:
        times_clients: α times the number of clients; infinite if all is shared.
        clients: number of clients.
        has_noise: True to leave the noise open, so that the simulation calibrates it; False for a run without noise.
    """
    return PpsgdRun(
        rounds=ROUNDS,
        batch_size=BATCH_SIZE,
        clipping_norm=CLIPPING_NORM,
        noise_std=None if has_noise else 0.0,
        **personalization_fields(times_clients, clients, STEP),
    )


def personalization_fields(times: float, clients: int, step: float) -> Fields:
    """Return the fields of a PPSGD run that state its personalization and the step size for it.

    The personalization α is the weight of the model that all clients share. The step of the shared model never exceeds
    `step`.

    Args:
        times: personalization α times the number of clients; infinite if all is shared.
        clients: number N of clients.
        step: step size of a client's own part for αN ≤ 1, and of the shared part for larger αN.

    Returns:
        The personalization and a step size, by the names of the run's fields. The step size is that of the shared model
        if all is shared, and otherwise that of a client.
    """
    if math.isinf(times):
        return {"personalization": "unbounded", "shared_step_size": step}
    own_step = step * clients / max(times, 1.0)
    return {"personalization": times / clients, "step_size": own_step}


def personalization_name(times: float) -> str:
    """Return a value of the personalization as text, for the axis of a figure.

    The personalization α is the weight of the model that all clients share.

    Args:
        times: α times the number N of clients; infinite if all is shared.

    Returns:
        "all shared" for one model, "all own" without a shared model, or the value αN.
    """
    if math.isinf(times):
        return "all shared"
    if times == 0.0:
        return "all own"
    return f"{times:g}"


def judge(answers: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge the claims of Bietti et al. that personal models help under privacy, and help more if ε is smaller.

    Runs without noise are left out of the first claim.

    Args:
        answers: results for each ε and personalization, that is, weight of the model that all clients share.

    Returns:
        One finding for each of the two claims: a verdict, such as confirmed, and the measured numbers in words.
    """
    stages = [_stage(noise_name(epsilon), answers) for epsilon in EPSILONS]
    _without_noise, *private_stages = stages
    all_shared = personalization_name(math.inf)
    pairs = [best_unshared(stage, all_shared, lower_is_better=True) for stage in private_stages]
    return (
        judge_pairs(OWN_CLAIM, pairs, names=OWN_NAMES, quantity="excess risk"),
        judge_order(LESS_CLAIM, {"αN": stages}, quantity="excess risk"),
    )


def _stage(noise: str, answers: Sequence[CellAnswer]) -> MeasuredPoint:
    """Return the measured excess risk of each personalization at one privacy level.

    Personalization is the weight of the model that all clients share.

    Args:
        noise: name of the privacy level, as in the results.
        answers: all results of the experiment. Those without a measured risk are left out.

    Returns:
        Mean excess risks with their confidence bands, by the name of the personalization.
    """
    cells_of_level = [cell for cell in answers if cell.place["epsilon"] == noise]
    excess_by_name = {str(cell.place["personalization"]): cell.final_excess for cell in cells_of_level}
    measured = {}
    for name in map(personalization_name, TIMES_CLIENTS):
        excess = excess_by_name[name]
        if excess is not None:
            measured[name] = excess
    return MeasuredPoint(noise, measured)


def noise_name(epsilon: float | None) -> str:
    """Return a privacy level in words, for an axis: ε, or "no noise" for None."""
    return "no noise" if epsilon is None else f"ε = {epsilon:g}"


ACROSS = Axis(name="personalization", title="personalization α, times the number of clients")
LINES = Axis(name="epsilon", title=f"δ = {format_scientific(DELTA)}")
SOURCE = "Bietti et al., Figure 1a"
STANDS_IN = (
    "Stand-in for Figure 1a, on the paper's synthetic linear regression: {size}. It tests the claims that personal "
    "models help under privacy, and help more under stronger privacy. In the paper the last 5 coordinates differ "
    "between users; here all do. The paper has noise multipliers from its grid and the best step of it at each. Here "
    "there is one step, and the smallest noise that is certified for the ε of a user's whole data, so that ε can be "
    "compared. The excess is that of the loss with its ½, half of what the paper's Section 6 defines (erratum "
    "E-B10). The grid itself, at the printed noises: `ppsgd-synthetic-grid`."
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
