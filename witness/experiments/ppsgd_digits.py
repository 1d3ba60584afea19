"""PPSGD on handwritten digits, with a model for each client: the best personalization at each ε (Figures 1b to 1d).

The paper, of Bietti et al., uses Stack Overflow's tags and EMNIST by writer, which no package ships. scikit-learn's
digits replace them: split in file order, where a writer's digits are adjacent, and sorted by label, where a client has
about two digits. The personalization α weights the shared model against the clients' own, and N is the number of
clients. As in the paper's appendix, the step of the shared part is αN times a client's own step up to αN = 1. For
larger αN, a client's own step is smaller. Each cell keeps the best of a grid of steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain, product

from epsilond.simulators.algorithms.ppsgd.run import PpsgdRun
from epsilond.simulators.problems.personalized_digits import ClientSplit, PersonalizedDigits
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Axis, Cell, Finding, Place, Preset, format_scientific
from epsilond.witness.experiments.ppsgd_synthetic import (
    LESS_CLAIM,
    OWN_CLAIM,
    OWN_NAMES,
    noise_name,
    personalization_fields,
    personalization_name,
)
from epsilond.witness.findings import MeasuredPoint, best_unshared, judge_order, judge_pairs
from epsilond.witness.risks.request import RiskSimulation

TIMES_CLIENTS = (0.0, 0.1, 1.0, 10.0, math.inf)
"""Personalization α, times the number of clients."""
EPSILONS = (None, 64.0, 16.0, 4.0)
SPLITS: dict[str, ClientSplit] = {"consecutive": "consecutive", "by label": "by-label"}
CLIENTS = 89
DELTA = 1e-4
CLIPPING_NORM = 0.5
STEPS = (0.5, 2.0, 8.0, 32.0, 128.0)
"""Step sizes; each cell keeps the best of them, as the paper does. Up to 2,048 larger ones bring the training loss of
models of one's own towards 0, and lower the accuracy."""
ROUNDS, BATCH_SIZE = 100, 10
MEASURE, QUANTITY = "test_accuracy", "held-out accuracy"


def build_simulation(
    times: float, epsilon: float | None, split: ClientSplit, step: float, repetitions: int, seed: int
) -> RiskSimulation:
    """Return the simulation of PPSGD on the digits with one personalization, ε, split of the data and step size.

    PPSGD trains a model that all clients share, and a model for each client. The personalization α is the weight of the
    shared model. The noise is calibrated to (ε, `DELTA`).

    Args:
        times: α times the number of clients; infinite if all is shared.
        epsilon: ε of a client's whole data; None for a run without noise.
        split: how the digits are assigned to the clients.
        step: step size.
        repetitions: number of independent runs, at least 2.
        seed: seed of all randomness.
    """
    # The simulation calibrates the noise if it is None.
    noise_std: float | None = None
    delta: float | None = DELTA
    if epsilon is None:
        noise_std, delta = 0.0, None
    run = PpsgdRun(
        rounds=ROUNDS,
        batch_size=BATCH_SIZE,
        clipping_norm=CLIPPING_NORM,
        noise_std=noise_std,
        **personalization_fields(times, CLIENTS, step),
    )
    return RiskSimulation(
        run=run,
        problem=PersonalizedDigits(clients=CLIENTS, split=split),
        epsilon=epsilon,
        delta=delta,
        repetitions=repetitions,
        seed=seed,
        points=1,
        alternatives=(),
    )


def cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
    """Return the simulations of PPSGD on digits: one for each split of the records, ε, personalization and step size.

    PPSGD trains a model that all clients share, and a model for each client. A split is the way in which records are
    divided among clients. Personalization is the weight of the shared model.

    Args:
        repetitions: number of independent runs of each simulation, at least 2.
        seed: seed of all randomness.

    Returns:
        The simulations with their split, ε, personalization and step size.
    """
    grid = []
    for split_name, epsilon, times, step in product(SPLITS, EPSILONS, TIMES_CLIENTS, STEPS):
        place: Place = {
            "personalization": personalization_name(times),
            "epsilon": noise_name(epsilon),
            "split": split_name,
            "step": step,
        }
        simulation = build_simulation(times, epsilon, SPLITS[split_name], step, repetitions, seed)
        grid.append(Cell(place=place, simulation=simulation))
    return tuple(grid)


def judge(answers: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge the claims of Bietti et al. that personal models help under privacy, and help more if ε is smaller.

    Runs without noise are left out of the first claim.

    Args:
        answers: results for each split of the records among clients, ε, and weight of the shared model.

    Returns:
        One finding for each of the two claims: a verdict, such as confirmed, and the measured numbers in words.
    """
    lines = {split: _points_by_noise(answers, split) for split in SPLITS}
    all_shared = PERSONALIZATIONS[-1]

    all_points = chain.from_iterable(lines.values())
    private_points = [point for point in all_points if point.name != noise_name(None)]
    pairs = [best_unshared(point, all_shared, lower_is_better=False) for point in private_points]
    return (
        judge_pairs(OWN_CLAIM, pairs, names=OWN_NAMES, quantity=QUANTITY, lower_is_better=False),
        judge_order(LESS_CLAIM, lines, quantity=QUANTITY, lower_is_better=False),
    )


def _points_by_noise(answers: Sequence[CellAnswer], split: str) -> list[MeasuredPoint]:
    """Return the mean test accuracies of all personalizations at each ε, for one split of the records among clients.

    Personalization is the weight of the model that all clients share.

    Args:
        answers: results of the experiment.
        split: name of the split.

    Returns:
        One entry for each ε, in the order of `EPSILONS`, with the accuracies by the name of the personalization.
    """
    scores = {}
    for cell in answers:
        if cell.scores is not None and cell.place["split"] == split:
            scores[cell.place["epsilon"], cell.place["personalization"]] = cell.scores[MEASURE]

    points = []
    for noise in map(noise_name, EPSILONS):
        by_personalization = {name: scores[noise, name] for name in PERSONALIZATIONS}
        points.append(MeasuredPoint(noise, by_personalization))
    return points


PERSONALIZATIONS = tuple(personalization_name(times) for times in TIMES_CLIENTS)
STANDS_IN = (
    "Stand-in for Figures 1b to 1d, on Stack Overflow's tags (500 users) and EMNIST by writer (1000). It tests the "
    "claims that personal models help under privacy, and help more under stronger privacy. Here 89 clients have 20 "
    "of scikit-learn's 1797 digits each, of which 6 are held out. In file order a writer's digits are consecutive (no "
    "names are given), and clients have similar data. Sorted by label, a client has about two digits. Softmax "
    "regression of w + θ_i on the pixels replaces the paper's models. The paper draws a fixed number of users in each "
    "round and reports the ε of an accountant for another sampling (erratum E-B8). The true ε of such draws, served "
    "as theorem epsilond.coalition-participation, is many times larger. Here all clients take part in every round, "
    "and noise is the smallest that is certified. The protected unit is a client with all its data, against all other "
    "clients."
)
ACROSS = Axis(name="personalization", title="personalization α, times the number of clients")
LINES = Axis(name="epsilon", title=f"δ = {format_scientific(DELTA)}")
SOURCE = "Bietti et al., Figures 1b to 1d"

PRESET = Preset(
    name="ppsgd-digits",
    title="PPSGD on handwritten digits: accuracy of clients' own models, over personalization and noise",
    summary="89 clients with 14 digits each: the smaller ε, the more of one's own",
    source=SOURCE,
    across=ACROSS,
    lines=LINES,
    panels=Axis(name="split", title="digits dealt"),
    tuned=Axis(name="step", title="step size", scale="log"),
    measure=MEASURE,
    stands_in_for=STANDS_IN,
    repetitions=5,
    cells=cells,
    judge=judge,
)
