"""PPSGD on handwritten digits, a model for each client: which personalization is best at which ε (Figures 1b to 1d).

The paper has Stack Overflow's tags and EMNIST by writer, which no package ships. The digits of scikit-learn stand in
for them: cut in file order, where a writer's digits stand together, and sorted by label, where clients hold two digits
or so. As in the appendix the shared part's step is αN times a client's own up to αN = 1, and a client's own is smaller
beyond; of a grid of steps each cell keeps the best.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from epsilond.simulators.algorithms.ppsgd.run import PpsgdRun
from epsilond.simulators.problems.personalized_digits import ClientSplit, PersonalizedDigits
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Axis, Cell, Finding, Preset, format_scientific
from epsilond.witness.experiments.ppsgd_synthetic import LESS_CLAIM, OWN_CLAIM, OWN_NAMES
from epsilond.witness.findings import MeasuredPoint, best_unshared, judge_order, judge_pairs
from epsilond.witness.risks.measurement import RiskSimulation

TIMES_CLIENTS = (0.0, 0.1, 1.0, 10.0, math.inf)
"""Personalization α, times the number of clients."""
EPSILONS = (None, 64.0, 16.0, 4.0)
SPLITS: dict[str, ClientSplit] = {"consecutive": "consecutive", "by label": "by-label"}
CLIENTS = 89
DELTA = 1e-4
CLIPPING_NORM = 0.5
STEPS = (2.0, 8.0)
"""Of which each cell keeps the best, as the paper does."""
ROUNDS, BATCH_SIZE = 100, 10
MEASURE, WHAT = "test_accuracy", "held-out accuracy"


def word(times: float) -> str:
    """α N as a place on the axis."""
    return "all shared" if math.isinf(times) else "all own" if times == 0.0 else f"{times:g}"


def told(epsilon: float | None) -> str:
    """ε as a place on the axis."""
    return "no noise" if epsilon is None else f"ε = {epsilon:g}"


def simulation(
    times: float, epsilon: float | None, split: ClientSplit, step: float, repetitions: int, seed: int
) -> RiskSimulation:
    """One cell's."""
    unbounded = math.isinf(times)
    return RiskSimulation(
        run=PpsgdRun(
            rounds=ROUNDS,
            batch_size=BATCH_SIZE,
            clipping_norm=CLIPPING_NORM,
            personalization="unbounded" if unbounded else times / CLIENTS,
            step_size=None if unbounded else step * CLIENTS / max(times, 1.0),
            shared_step_size=step if unbounded else None,
            noise_std=0.0 if epsilon is None else None,
        ),
        problem=PersonalizedDigits(clients=CLIENTS, split=split),
        epsilon=epsilon,
        delta=None if epsilon is None else DELTA,
        repetitions=repetitions,
        seed=seed,
        points=1,
        alternatives=(),
    )


def cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
    """One for each split, ε and personalization."""
    return tuple(
        Cell(
            place={"personalization": word(times), "epsilon": told(epsilon), "split": name, "step": step},
            simulation=simulation(times, epsilon, split, step, repetitions, seed),
        )
        for name, split in SPLITS.items()
        for epsilon in EPSILONS
        for times in TIMES_CLIENTS
        for step in STEPS
    )


def judge(answered: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Whether one's own models pay, and whether less ε asks for more of them."""
    scores = {
        (cell.place["split"], cell.place["epsilon"], cell.place["personalization"]): cell.scores[MEASURE]
        for cell in answered
        if cell.scores is not None
    }
    lines = {
        split: [
            MeasuredPoint(told(epsilon), {place: scores[split, told(epsilon), place] for place in PLACES})
            for epsilon in EPSILONS
        ]
        for split in SPLITS
    }
    private = [stage for stages in lines.values() for stage in stages if stage.name != told(None)]
    pairs = [best_unshared(stage, PLACES[-1], lower_is_better=False) for stage in private]
    return (
        judge_pairs(OWN_CLAIM, pairs, names=OWN_NAMES, quantity=WHAT, lower_is_better=False),
        judge_order(LESS_CLAIM, lines, quantity=WHAT, lower_is_better=False),
    )


PLACES = tuple(word(times) for times in TIMES_CLIENTS)
STANDS_IN = (
    "Stands for Figures 1b to 1d, on Stack Overflow's tags (500 users) and EMNIST by writer (1000). No package ships"
    " either set: here 89 clients have 20 of scikit-learn's 1797 digits each, of which 6 are held out. Cut in file"
    " order, where a writer's digits stand together (no names are given), clients have much in common; sorted by label,"
    " a client has two digits or so. Softmax regression of w + θ_i on the pixels stands for the paper's models. The"
    " paper draws a fixed number of users in each round and reports the ε of an accountant for another sampling"
    " (erratum E-B8); what is true of such draws is served as theorem epsilond.coalition-participation, many times"
    " more. Here all clients take part in every round, and noise is the least that is certified. Protected is a"
    " client's whole data, against all other clients."
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
