"""Attacks on trained models, over noise: canaries in one run, real records with flipped labels, and whole clients.

The lower bounds are below the certified ε of the same training. The difference depends on the observer and on the
canaries' gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR
from functools import partial
from itertools import product
from typing import Literal, NamedTuple

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
    """Return the parameters of a training with canaries: inserted records or clients that an attacker has to detect.

    The worst canaries are records with a gradient along one coordinate, as long as the clipping norm. Each has its own
    coordinate. `FLIPPED` takes digits with wrong labels instead, and `CLIENTS` whole clients with such an update. The
    step sizes and the numbers of canaries are choices of this experiment.

    Args:
        canaries: kind of canaries: `WORST`, `FLIPPED` or `CLIENTS`.
        noise: noise multiplier, in units of the clipping norm.

    Returns:
        The problem, the algorithm's parameters, and the kind and number of canaries.
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

    unit: Literal["client", "record"] = "record"
    local_steps = 1
    if canaries == CLIENTS:
        unit = "client"
        local_steps = 5
    return CanaryTraining(
        problem=SYNTHETIC,
        unit=unit,
        rounds=ROUNDS,
        sampling_rate=RATE,
        clipping_norm=1.0,
        noise_multiplier=noise,
        step_size=0.5,
        local_steps=local_steps,
        canary="gradient",
        canaries=500,
    )


def cells(repetitions: int, seed: int, *, noises: Sequence[float], references: int) -> tuple[Cell, ...]:
    """Return the simulations of membership inference on trained models: one for each noise and kind of canaries.

    A canary is a record or client that is inserted into the training data to be detected.

    Args:
        repetitions: number of attacked trainings of each simulation, in units of `RUNS_PER_REPETITION`.
        seed: seed of all randomness.
        noises: noise multipliers, in units of the clipping norm.
        references: number of further trainings that the attacker learns from, for the canaries with flipped labels.

    Returns:
        One simulation for each combination of the values, with its position on the grid.
    """
    table = []
    for kind, noise in product((WORST, FLIPPED, CLIENTS), noises):
        simulation = MembershipSimulation(
            training=training(kind, noise),
            runs=RUNS_PER_REPETITION * repetitions,
            references=references if kind == FLIPPED else 0,
            delta=DELTA,
            seed=seed,
        )
        table.append(Cell(place={"noise_multiplier": noise, "canaries": kind}, simulation=simulation))
    return tuple(table)


def judge(answers: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge two claims: that no attack contradicts a certificate, and that attacks on all models prove more.

    An attack guesses which planted records ("canaries") were in the training data. Its success proves a lower bound on
    ε.

    Args:
        answers: results of the experiment's trainings, with the lower bound on ε of each attack.

    Returns:
        For each claim a verdict, such as confirmed or refuted, and the measured numbers in words.
    """
    return (_judge_certificates(answers), _judge_observers(answers))


class _AttackBound(NamedTuple):
    """The lower bound on ε that one attack proves on one training, and the certified upper bound on ε.

    Attributes:
        cell: result of the training with its attacks.
        attack: name of the attack.
        lower: lower bound on ε, with 95 % confidence.
        certified: certified upper bound on ε.
    """

    cell: CellAnswer
    attack: str
    lower: float
    certified: float


def _judge_certificates(answers: Sequence[CellAnswer]) -> Finding:
    """Judge the claim that no attack proves a larger ε than is certified.

    An attack guesses which planted records ("canaries") were in the training data. Its success proves a lower bound on
    ε. A lower bound above the certified upper bound would contradict the certificate.

    Args:
        answers: results of the experiment, with the certified ε and the lower bound on ε of each attack.

    Returns:
        The claim with its verdict. One contradicting bound refutes the claim, because it is about every training.
    """
    bounds: list[_AttackBound] = []
    for cell in answers:
        if cell.attacks is None or cell.epsilon is None:
            continue
        certified = cell.epsilon.upper
        bounds += [_AttackBound(cell, attack, lower, certified) for attack, lower in cell.attacks.items()]
    contradicting = sum(bound.lower > bound.certified for bound in bounds)
    tally = Tally(
        holds=len(bounds) - contradicting,
        fails=contradicting,
        of=len(bounds),
        universal=True,
        noun=("bound", "bounds"),
    )

    # The words name the bound that comes nearest to the certified ε.
    nearest = max(bounds, key=lambda bound: bound.lower / bound.certified)
    place = nearest.cell.place
    words = (
        f"{contradicting} of {len(bounds)} bounds by attacks lie above the certified end. The nearest is"
        f" {nearest.lower / nearest.certified:.0%} of it: {nearest.attack}, {place['canaries']}, noise multiplier"
        f" {place['noise_multiplier']:g}, ε ≥ {format_bound(nearest.lower, ROUND_FLOOR)} where"
        f" {format_bound(nearest.certified, ROUND_CEILING)} is certified."
    )
    return tally.finding("No attack proves more than is certified.", words)


def _judge_observers(answers: Sequence[CellAnswer]) -> Finding:
    """Judge the claim that an attacker who sees every model proves more than the best attack on the last model.

    Each attack guesses which planted records were in the training data, and proves a lower bound on ε by its success.

    Args:
        answers: results of the experiment, one for each training, with the lower bound on ε of each attack. Results
            without attacks are ignored.

    Returns:
        The claim with its verdict, and the number of trainings in which the bound is larger or smaller.
    """
    pairs = []
    for cell in answers:
        if cell.attacks is None:
            continue
        on_every_model = cell.attacks["every-model"]
        on_last_model = [lower for attack, lower in cell.attacks.items() if attack != "every-model"]
        pairs.append((on_every_model, max(on_last_model)))
    larger = sum(every_model > last_model for every_model, last_model in pairs)
    smaller = sum(every_model < last_model for every_model, last_model in pairs)

    words = (
        f"The bound is larger in {larger} of {len(pairs)} trainings, and smaller in {smaller}. Attacks on the last "
        "model may use likelihood ratios with additional reference models; the attack on every model does not. Bounds "
        "that hold with 95 % confidence are compared as they are."
    )
    tally = Tally(
        holds=larger,
        fails=smaller,
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
