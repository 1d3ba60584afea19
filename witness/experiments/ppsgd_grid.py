"""The grids of Appendix A of Bietti et al. on their synthetic set, reduced in size: steps, personalization and noise.

`STEPS`, `TIMES_PARTICIPANTS` and `NOISE_MULTIPLIERS` are the appendix' lists for the synthetic set. As in the authors'
program, all clients take part, and noise of σC/N is added to the mean. The preset runs all steps, two larger ones, and
all personalizations at three noise multipliers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING
from itertools import product

from epsilond.accountants.structure import sensitivity_factor
from epsilond.accountants.theorems.papers.bietti.noise import figures_at
from epsilond.simulators.algorithms.ppsgd.run import PpsgdRun
from epsilond.simulators.problems.personalized_problems import PersonalizedLeastSquares
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Axis, Cell, Finding, Place, Preset
from epsilond.witness.experiments.ppsgd_synthetic import (
    BATCH_SIZE,
    CLIPPING_NORM,
    OPTIMUM_STD,
    ROUNDS,
    SPREAD_STD,
    TARGET_NOISE_STD,
    personalization_fields,
    personalization_name,
)
from epsilond.witness.findings import MeasuredPoint, format_bound, judge_order
from epsilond.witness.risks.answer import Measured
from epsilond.witness.risks.request import RiskSimulation

STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.2, 1.5, 1.8)
TIMES_PARTICIPANTS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, math.inf)
NOISE_MULTIPLIERS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
EXTENDED_STEPS = (*STEPS, 2.1, 2.5)
"""Steps of the preset. The appendix' largest step is the best one at little noise, so that two larger ones follow."""
NOISES = (0.0, 10.0, 100.0)
"""Noise multipliers of the preset."""
CLIENTS, DIMENSION = 100, 20
DELTA = 1e-4
"""δ of the appendix."""


def cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
    """Return the simulations of PPSGD over the grids of Bietti et al.: step size, personalization and noise.

    PPSGD trains a model that all clients share, and a model for each client. Personalization is the weight of the
    shared model. All simulations solve the same least-squares problem, in which every client has an optimum of its own.

    Args:
        repetitions: number of independent runs of each simulation, at least 2.
        seed: seed of all randomness.

    Returns:
        The simulations with their noise multiplier, personalization and step size.
    """
    # The root mean square norm of a vector is √dimension times the standard deviation of a coordinate.
    problem = PersonalizedLeastSquares(
        clients=CLIENTS,
        dimension=DIMENSION,
        optimum_norm=OPTIMUM_STD * math.sqrt(DIMENSION),
        optimum_spread=SPREAD_STD * math.sqrt(DIMENSION),
        target_noise_std=TARGET_NOISE_STD,
        features="gaussian",
    )
    grid = []
    for noise, times, step in product(NOISES, TIMES_PARTICIPANTS, EXTENDED_STEPS):
        place: Place = {
            "step_size": step,
            "personalization": personalization_name(times),
            "noise_multiplier": noise,
        }
        # Without a target (ε, δ) the run keeps its given noise.
        simulation = RiskSimulation(
            run=_run(times, step, noise),
            problem=problem,
            repetitions=repetitions,
            seed=seed,
            points=1,
            alternatives=(),
        )
        grid.append(Cell(place=place, simulation=simulation))
    return tuple(grid)


def _run(times_clients: float, step: float, noise: float) -> PpsgdRun:
    """Return the parameters of PPSGD for one personalization, step size and noise.

    PPSGD trains a model that N clients share, and a model for each client. Noise with the standard deviation σC/N is
    added to the mean of the clients' messages, each of which has at most the norm C.

    Args:
        times_clients: personalization α, the weight of the shared model, times N; infinite if all is shared.
        step: step size.
        noise: noise multiplier σ, in units of the clipping norm C.
    """
    noise_std_of_mean = noise * CLIPPING_NORM / CLIENTS
    return PpsgdRun(
        rounds=ROUNDS,
        batch_size=BATCH_SIZE,
        clipping_norm=CLIPPING_NORM,
        noise_std=noise_std_of_mean,
        **personalization_fields(times_clients, CLIENTS, step),
    )


def judge(answers: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge the claim of Bietti et al. that the best personalization shares less as the noise grows.

    Personalization is the weight of the model that all clients share. Each one is taken with its best step size.

    Args:
        answers: results of the experiment's simulations, one for each noise, personalization and step size.

    Returns:
        A single finding: the claim with its verdict.
    """
    stages = []
    for noise in NOISES:
        cells_of_noise = [cell for cell in answers if cell.place["noise_multiplier"] == noise]
        stages.append(_best_of_each(noise, cells_of_noise))
    claim = "The more noise, the less is shared at the best personalization and step."
    return (judge_order(claim, {"αN": stages}, quantity="excess"),)


def _best_of_each(noise: float, cells: Sequence[CellAnswer]) -> MeasuredPoint:
    """Return the smallest mean excess risk over the step sizes for each personalization, as the paper does.

    Personalization is the weight of the model that all clients share.

    Args:
        noise: noise multiplier of the answers.
        cells: answers at this noise, one for each personalization and step size. Those of diverged runs are ignored.

    Returns:
        The mean excess risks with their confidence bands, by the name of the personalization.
    """
    best: dict[str, Measured] = {}
    for cell in cells:
        excess = cell.final_excess
        if excess is None or math.isnan(excess.mean):
            continue
        personalization = str(cell.place["personalization"])
        best_so_far = best.get(personalization)
        if best_so_far is None or excess.mean < best_so_far.mean:
            best[personalization] = excess
    names = [personalization_name(times) for times in TIMES_PARTICIPANTS]
    return MeasuredPoint(_noise_name(noise), {name: best[name] for name in names})


def _noise_name(noise: float) -> str:
    """Describe a noise multiplier σ and the ε of all rounds at `DELTA`, rounded up, such as `σ = 10 (ε ≤ 23.4)`.

    Every round releases a sum with Gaussian noise. For T rounds and the sensitivity Δ in units of the clipping norm,
    all rounds together are μ-Gaussian differentially private, with μ = Δ√T/σ.

    Args:
        noise: noise multiplier σ; 0 for no noise.
    """
    if noise == 0.0:
        return "no noise"
    mu = sensitivity_factor("replace-one") * math.sqrt(ROUNDS) / noise
    figures = figures_at(mu, epsilon=None, log_delta=math.log(DELTA))
    epsilon_words = format_bound(figures["epsilon"], ROUND_CEILING)
    return f"σ = {noise:g} (ε ≤ {epsilon_words})"


PRESET = Preset(
    name="ppsgd-synthetic-grid",
    title="PPSGD on its synthetic set: the appendix' grids of steps and personalization (reduced)",
    summary=f"{len(EXTENDED_STEPS)} steps and {len(TIMES_PARTICIPANTS)} personalizations at three noises: the best of "
    "them at each noise",
    source="Bietti et al., Figure 1a and Appendix A",
    across=Axis(name="step_size", title="step of a client's own part, or of the shared one", scale="log"),
    lines=Axis(name="personalization", title="personalization α, times the number of clients"),
    panels=Axis(name="noise_multiplier", title="noise multiplier"),
    repetitions=5,
    cells=cells,
    judge=judge,
    stands_in_for="Stand-in for the search behind Figure 1a. It tests the claim that the more noise there is, the less "
    "is shared at the best personalization. It runs the steps and personalizations of Appendix A at three of "
    "its ten noises, at one clipping norm, and two larger steps. It uses the paper's synthetic linear regression at a "
    "smaller size, so that the grid takes minutes. The paper has 1000 users and 100 coordinates, of which a few differ "
    "between users. "
    "Here are 100 and 20, of which all differ. The excess is that of the loss with its ½ (erratum E-B10). Noise is "
    "as in the authors' program, σC/N on the mean of all users in each of 300 rounds. The ε of a user's whole data "
    "below is certified for that noise at δ = 1e-4, if one user's data are replaced.",
)
