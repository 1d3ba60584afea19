"""Attacks on trained models, over noise: canaries in one run, real records with flipped labels, and whole clients.

The lower bounds are below the certified ε of the same training. The difference depends on the observer and on the
canaries' gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR
from functools import partial
from typing import NamedTuple

from epsilond.simulators.memberships.training import CanaryTraining
from epsilond.simulators.problems.data_sets import DataSetProblem
from epsilond.simulators.problems.kinds import LogisticProblem
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Axis, Cell, Finding, Preset, format_scientific
from epsilond.witness.findings import format_bound
from epsilond.witness.memberships.request import MembershipSimulation
from epsilond.witness.tally import Tally

NOISES = (0.75, 1.0, 2.0, 4.0, 8.0)
DELTA = 1e-5
RUNS_PER_REPETITION, REFERENCES = 1, 16
DIGITS = DataSetProblem(data_set="digits", clients=10)
SYNTHETIC = LogisticProblem(clients=20, samples_per_client=10, dimension=500)
ROUNDS, RATE = 40, 0.25
WORST, FLIPPED, CLIENTS = "worst gradients", "flipped labels", "whole clients"


def training(canaries: str, noise: float) -> CanaryTraining:
    """Return the settings of a training with canaries: inserted records or clients that an attacker has to detect.

    The worst canaries are records with a gradient along one coordinate, as long as the clipping norm. Each has its own
    coordinate. `FLIPPED` takes digits with wrong labels instead, and `CLIENTS` whole clients with such an update. The
    step sizes and the numbers of canaries are choices of this experiment.

    Args:
        canaries: kind of canaries: `WORST`, `FLIPPED` or `CLIENTS`.
        noise: noise multiplier, in units of the clipping norm.

    Returns:
        The settings, from which the training and its canaries follow.
    """
    if canaries == FLIPPED:
        return CanaryTraining(
            problem=DIGITS,
            unit="record",
            rounds=ROUNDS,
            sampling_rate=RATE,
            clipping_norm=0.5,
            noise_multiplier=noise,
            step_size=8.0,
            canary="flipped-labels",
            canaries=300,
        )
    is_client = canaries == CLIENTS
    return CanaryTraining(
        problem=SYNTHETIC,
        unit="client" if is_client else "record",
        rounds=ROUNDS,
        sampling_rate=RATE,
        clipping_norm=1.0,
        noise_multiplier=noise,
        step_size=0.5,
        local_steps=5 if is_client else 1,
        canary="gradient",
        canaries=500,
    )


def cells(repetitions: int, seed: int, *, noises: Sequence[float], references: int) -> tuple[Cell, ...]:
    """Return the simulations of the experiment: one for each noise and kind of canaries.

    A canary is a record or client that is inserted into the training data to be detected.

    Args:
        repetitions: number of attacked trainings of each cell, times `RUNS_PER_REPETITION`.
        seed: seed of all randomness.
        noises: noise multipliers, in units of the clipping norm.
        references: number of further trainings, known to the attacker, in the cells with flipped labels.

    Returns:
        One table cell for each place of the grid, with its simulation.
    """
    return tuple(
        Cell(
            place={"noise_multiplier": noise, "canaries": kind},
            simulation=MembershipSimulation(
                training=training(kind, noise),
                runs=RUNS_PER_REPETITION * repetitions,
                references=references if kind == FLIPPED else 0,
                delta=DELTA,
                seed=seed,
            ),
        )
        for kind in (WORST, FLIPPED, CLIENTS)
        for noise in noises
    )


def judge(answers: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge whether an attack contradicts a certificate, and whether attacks on all models prove more.

    Args:
        answers: cells of the experiment, with the lower bound on ε of each attack.
    """
    return (_judge_certificates(answers), _judge_observers(answers))


class _AttackBound(NamedTuple):
    """Lower bound on ε that an attack proves in a cell, and the certified upper bound on ε."""

    cell: CellAnswer
    attack: str
    lower: float
    certified: float


def _judge_certificates(answers: Sequence[CellAnswer]) -> Finding:
    """Judge the claim that no attack proves a larger ε than is certified.

    An attack guesses which planted records ("canaries") were in the training data. Its success proves a lower bound on
    ε. A lower bound above the certified upper bound would contradict the certificate.

    Args:
        answers: table cells of the experiment, with the certified ε and the lower bound on ε of each attack.

    Returns:
        The verdict. One contradicting bound refutes the claim, because it is about every training.
    """
    bounds = [
        _AttackBound(cell, attack, lower, cell.epsilon.upper)
        for cell in answers
        if cell.attacks is not None and cell.epsilon is not None
        for attack, lower in cell.attacks.items()
    ]
    contradicting = sum(bound.lower > bound.certified for bound in bounds)
    # Name the bound that comes nearest to its certified end.
    nearest = max(bounds, key=lambda bound: bound.lower / bound.certified)
    place = nearest.cell.place
    words = (
        f"{contradicting} of {len(bounds)} bounds by attacks lie above the certified end. The nearest is"
        f" {nearest.lower / nearest.certified:.0%} of it: {nearest.attack}, {place['canaries']}, noise multiplier"
        f" {place['noise_multiplier']:g}, ε ≥ {format_bound(nearest.lower, ROUND_FLOOR)} where"
        f" {format_bound(nearest.certified, ROUND_CEILING)} is certified."
    )
    tally = Tally(
        holds=len(bounds) - contradicting,
        fails=contradicting,
        of=len(bounds),
        universal=True,
        noun=("bound", "bounds"),
    )
    return tally.finding("No attack proves more than is certified.", words)


def _judge_observers(answers: Sequence[CellAnswer]) -> Finding:
    """Judge the claim that an attacker who sees every model proves more than the best attack on the last model.

    Each attack guesses which planted records were in the training data, and proves a lower bound on ε by its success.

    Args:
        answers: table cells of the experiment, one for each training, with the lower bound on ε of each attack. Cells
            without attacks are ignored.

    Returns:
        The verdict, with the number of trainings in which the bound is larger or smaller.
    """
    pairs = []
    for cell in answers:
        if cell.attacks is not None:
            on_last = [lower for attack, lower in cell.attacks.items() if attack != "every-model"]
            pairs.append((cell.attacks["every-model"], max(on_last)))
    more = sum(every_model > last_model for every_model, last_model in pairs)
    less = sum(every_model < last_model for every_model, last_model in pairs)
    words = (
        f"The bound is larger in {more} of {len(pairs)} trainings, and smaller in {less}. Attacks on the last model "
        "may use likelihood ratios with additional reference models; the attack on every model does not. Bounds "
        "that hold with 95 % confidence are compared as they are."
    )
    tally = Tally(
        holds=more,
        fails=less,
        of=len(pairs),
        noun=("training", "trainings"),
        open_where="both prove as much",
    )
    return tally.finding("The attack on every model proves more than the best attack on the last one.", words)


STANDS_IN = (
    "Stand-in for audits of networks that are trained on images; it corresponds to no single table. It tests the "
    "claim that no attack proves more than is certified. Here DP-SGD and DP-FedAvg train logistic regression on "
    "synthetic records and on scikit-learn's digits. Canaries have the worst gradients that clipping admits, are "
    "records with flipped labels, or are whole clients. Each bound holds with 95 % confidence separately. The "
    "certified ε is for an observer of every model."
)
ACROSS = Axis(name="noise_multiplier", title="noise multiplier", scale="log")
LINES = Axis(name="canaries", title="canaries")
PRESET = Preset(
    name="membership",
    title=f"Membership inference in few runs: proved and certified ε at δ = {format_scientific(DELTA)}",
    summary="one-run audits of DP-SGD and DP-FedAvg: worst gradients, digits with flipped labels, whole clients",
    source="Steinke, Nasr and Jagielski 2023; Carlini et al. 2022",
    across=ACROSS,
    panels=LINES,
    stands_in_for=STANDS_IN,
    repetitions=8,
    cells=partial(cells, noises=NOISES, references=REFERENCES),
    judge=judge,
)
SHORT_PRESET = Preset(
    name="membership-short",
    title=f"Membership inference at one noise: proved and certified ε at δ = {format_scientific(DELTA)}",
    summary="the same with one noise and few references: a first look",
    source="Steinke, Nasr and Jagielski 2023; Carlini et al. 2022",
    across=ACROSS,
    panels=LINES,
    stands_in_for=STANDS_IN,
    repetitions=2,
    cells=partial(cells, noises=(2.0,), references=4),
    judge=judge,
)
