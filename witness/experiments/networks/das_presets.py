"""Tables 2 to 6 of Das et al. with their curves, Figures 1 to 5, on CIFAR-10 and Fashion-MNIST.

The arms are in `das_tables`, the settings of the runs in `das_arms`, and the noise in `das_noise`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Final

from epsilond.simulators.files.folders import DataName
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Axis, Cell, Finding, Preset
from epsilond.witness.experiments.networks.das_arms import LAST_ERROR, TEST_ERROR
from epsilond.witness.experiments.networks.das_tables import (
    FEDAVG,
    NORMALISED,
    PRIVATE_NORMALISED,
    TABLE_2,
    TABLE_3,
    TABLE_4,
    TABLE_5,
    TABLE_6,
    PrintedArm,
)
from epsilond.witness.findings import judge_pairs, judge_printed_noise, private_score
from epsilond.witness.risks.answer import Measured
from epsilond.witness.trials.trials import TrialSimulation

TRIALS: Final = 3
"""Runs of which the paper shows the mean."""


def _cell(printed: PrintedArm, place: Mapping[str, str], repetitions: int, seed: int) -> Cell:
    """Return the simulation of one algorithm with its noise, and the test error and ε that the paper prints for it.

    Args:
        printed: the algorithm with its noise, and the paper's values.
        place: values of the experiment's parameters by name, such as `{"arm": "FedAvg"}`.
        repetitions: number of independent trainings.
        seed: seed of all randomness.

    Returns:
        The simulation with its parameters, and the printed values if there are any.
    """
    published = None
    if printed.error is not None:
        published = {"private": printed.error}
    return Cell(
        place=place,
        simulation=TrialSimulation(arm=printed.arm, repetitions=repetitions, seed=seed),
        claimed=printed.claimed,
        published=published,
    )


def _cells_of(
    arms: Mapping[str, PrintedArm], place: Mapping[str, str], repetitions: int, seed: int
) -> tuple[Cell, ...]:
    """Return the simulations of several algorithms with their noise, one for each.

    Args:
        arms: the algorithms with their noise, by name.
        place: values of the other parameters of the experiment, by name; may be empty.
        repetitions: number of independent trainings of each algorithm.
        seed: seed of all randomness.

    Returns:
        The simulations in the order of `arms`.
    """
    return tuple(_cell(arm, {**place, "arm": name}, repetitions, seed) for name, arm in arms.items())


def plain_cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
    """Return the simulations for Table 6 of Das et al.: the algorithms without noise on both data sets.

    Args:
        repetitions: number of independent trainings for each data set and algorithm.
        seed: seed of all randomness.

    Returns:
        One simulation for each data set and algorithm.
    """
    by_data_set = [_cells_of(arms, {"images": images}, repetitions, seed) for images, arms in TABLE_6.items()]
    return tuple(itertools.chain.from_iterable(by_data_set))


def last_errors(answers: Sequence[CellAnswer], **place: str) -> dict[str, Measured]:
    """Return the test error of each algorithm with its noise, averaged over the last five rounds.

    Args:
        answers: results of the experiment.
        **place: values of parameters, such as `images="CIFAR-10"`. Results with other values are ignored.

    Returns:
        Mean errors with their confidence bands, by the name of the algorithm with its noise. Results without an error
        are left out.
    """
    read_error = private_score(LAST_ERROR)
    errors = {}
    for cell in answers:
        error = read_error(cell)
        is_selected = place.items() <= cell.place.items()
        if error is not None and is_selected:
            errors[str(cell.place["arm"])] = error
    return errors


def _judge_lower_error(
    answers: Sequence[CellAnswer], claim: str, *, better_prefix: str, other_prefix: str, names: tuple[str, str]
) -> Finding:
    """Judge whether every method of one kind has a lower test error than every method of another kind.

    A method is an algorithm with its noise. Its kind follows from the beginning of its name. Methods with certified
    noise are left out, because the paper has none.

    Args:
        answers: results of the experiment.
        claim: the paper's claim.
        better_prefix: beginning of the names of the methods that are said to be better.
        other_prefix: beginning of the names of the other methods.
        names: names of both kinds.

    Returns:
        The claim with its verdict, from the confidence bands of the errors of all pairs of methods.
    """
    better_errors = []
    other_errors = []
    for name, error in last_errors(answers).items():
        if name.endswith("certified"):
            continue
        if name.startswith(better_prefix):
            better_errors.append(error)
        if name.startswith(other_prefix):
            other_errors.append(error)
    pairs = list(itertools.product(better_errors, other_errors))
    return judge_pairs(claim, pairs, names=names, quantity="test error in the last five rounds")


def judge_noise(answers: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge the two claims of experiment (i) of Das et al. about their truncated discrete Laplace noise.

    It is said to be more accurate than Binomial noise, and to be private at the target of a round.

    Args:
        answers: results of the experiment, with test errors and the certified ε of the noise.

    Returns:
        One finding for each claim: a verdict, such as confirmed, and the measured numbers in words.
    """
    return (
        _judge_lower_error(
            answers,
            "Truncated discrete Laplace noise gives a lower test error than Binomial noise.",
            better_prefix="QTDL",
            other_prefix="Binomial",
            names=("the paper's noise", "Binomial noise"),
        ),
        judge_printed_noise(answers, "The printed noise of a message is private at ε = 10 with a small δ."),
    )


def judge_clipping(answers: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge the two claims of experiments (ii) and (iii) of Das et al. about normalised updates and their noise.

    Normalised updates are said to be more accurate than clipped ones. A normalised update is divided by its norm, and a
    clipped one is shortened if it is too long. The noise is said to be private at the target of all rounds.

    Args:
        answers: results of the experiment, with test errors and the certified ε of the noise.

    Returns:
        One finding for each claim: a verdict, such as confirmed, and the measured numbers in words.
    """
    return (
        _judge_lower_error(
            answers,
            "At the same privacy normalised updates give a lower test error than clipped ones.",
            better_prefix=PRIVATE_NORMALISED,
            other_prefix="clipping",
            names=("normalised", "clipped"),
        ),
        judge_printed_noise(answers, "The printed noise of all rounds is private at ε = 0.1 and δ = 1e-9."),
    )


def judge_plain(answers: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge the claim of experiment (iv) of Das et al., that normalising updates costs no accuracy, on each data set.

    NormFedAvg divides each client's update by its norm. The runs are without noise.

    Args:
        answers: results of the experiment.

    Returns:
        One finding for each data set. The claim also holds where the confidence bands overlap.
    """
    findings = []
    for images in TABLE_6:
        errors = last_errors(answers, images=images)
        finding = judge_pairs(
            f"On {images} NormFedAvg has a test error similar to that of FedAvg, or a lower one.",
            [(errors[NORMALISED], errors[FEDAVG])],
            names=(NORMALISED, FEDAVG),
            quantity="test error in the last five rounds",
            no_worse=True,
        )
        findings.append(finding)
    return tuple(findings)


ACROSS: Final = Axis(name="rounds", title="rounds", scale="linear")
LINES: Final = Axis(name="arm", title="updates and noise")
CHOICES: Final = (
    " The number of rounds, the momentum and the range of the pixels are choices, because the text does not state them."
)


def _table_preset(
    number: int,
    figure: int,
    *,
    title: str,
    summary: str,
    arms: Mapping[str, PrintedArm],
    images: DataName,
    setting: str,
) -> Preset:
    """Describe the experiment that reproduces one table of Das et al. on one data set.

    Args:
        number: number of the table.
        figure: number of the figure with the curves of the table's algorithms.
        title: title of the experiment.
        summary: the measured quantity and the setting, in words.
        arms: the algorithms with their noise, by name.
        images: the data set.
        setting: end of the sentence about the reproduced table and figure.

    Returns:
        The experiment with its simulations, axes, measured score, and the function that judges its claims.
    """

    def cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
        """Return the simulations of the table's arms."""
        return _cells_of(arms, {}, repetitions, seed)

    # Tables 2 and 4 compare kinds of noise, and Tables 3 and 5 normalised with clipped updates.
    judge = judge_noise if number in {2, 4} else judge_clipping
    return Preset(
        name=f"das-table-{number}",
        title=title,
        summary=summary,
        source=f"Das et al., Table {number} and Figure {figure}",
        stands_in_for=f"Reproduces Table {number} and the curves of Figure {figure} {setting}.{CHOICES}",
        across=ACROSS,
        lines=LINES,
        curve=True,
        measure=TEST_ERROR,
        repetitions=TRIALS,
        cells=cells,
        data=(images,),
        judge=judge,
    )


PRESETS: Final = (
    _table_preset(
        2,
        1,
        title="Truncated Laplace and Binomial noise on CIFAR-10",
        summary="test error over rounds of a network with Binomial, the paper's, or certified noise at ε = 10 a round",
        arms=TABLE_2,
        images="cifar-10",
        setting="on CIFAR-10, with a certified noise next to the paper's",
    ),
    _table_preset(
        3,
        2,
        title="Normalised and clipped updates on Fashion-MNIST, with the clients' noise",
        summary="test error over rounds of a network with the paper's noise for ε = 0.1 in all rounds",
        arms=TABLE_3,
        images="fashion-mnist",
        setting="on Fashion-MNIST",
    ),
    _table_preset(
        4,
        3,
        title="Truncated Laplace and Binomial noise on Fashion-MNIST",
        summary="test error over rounds of a network with Binomial, the paper's, or certified noise at ε = 10 a round",
        arms=TABLE_4,
        images="fashion-mnist",
        setting="on Fashion-MNIST, with a certified noise next to the paper's",
    ),
    _table_preset(
        5,
        4,
        title="Normalised and clipped updates on CIFAR-10, with the server's noise",
        summary="test error over rounds of a network with the paper's noise for ε = 0.1 in all rounds",
        arms=TABLE_5,
        images="cifar-10",
        setting="on CIFAR-10",
    ),
    Preset(
        name="das-table-6",
        title="NormFedAvg and FedAvg on Fashion-MNIST and CIFAR-10",
        summary="test error over rounds of a network without noise",
        source="Das et al., Table 6 and Figure 5",
        stands_in_for=f"Reproduces Table 6 and the curves of Figure 5 on both data sets.{CHOICES}",
        across=ACROSS,
        lines=Axis(name="arm", title="algorithm"),
        panels=Axis(name="images", title="images"),
        curve=True,
        measure=TEST_ERROR,
        repetitions=TRIALS,
        cells=plain_cells,
        data=("fashion-mnist", "cifar-10"),
        judge=judge_plain,
    ),
)
