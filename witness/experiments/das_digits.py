"""Das et al.'s experiments on digits: integer noise on normalised updates, compared with other noise and updates.

The task is softmax regression on ten digits, with one client's whole data protected. The experiment compares
truncated discrete Laplace noise with Binomial noise, normalised updates with clipped updates, and noise of each client
with noise of a trusted server. A client changes the mean of r messages by Δ∞ = 2s/r at most, so the server's noise is
added once to their sum. The experiment without noise is in `das_normalised`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, Context
from typing import Any

from epsilond.accountants.json_types import Fields
from epsilond.accountants.theorems.mechanisms.binomial import binomial_bits
from epsilond.simulators.algorithms.grid_fedavg import GridFedavgRun
from epsilond.simulators.algorithms.norm_fedavg import NormFedavgRun
from epsilond.simulators.problems.data_sets import DataSetProblem, Split
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Axis, Cell, Claimed, Finding, Place, Preset, format_scientific
from epsilond.witness.findings import comparison_score, judge_pairs, judge_trend, private_score
from epsilond.witness.joins.grid_fedavg import binomial_trials
from epsilond.witness.joins.norm_fedavg import printed_log_delta
from epsilond.witness.risks.answer import Measured
from epsilond.witness.risks.request import RiskSimulation
from epsilond.witness.tally import Tally

EPSILONS = (8.0, 16.0, 32.0, 100.0, 300.0)
DELTA = 1e-5
CLIENTS, ROUNDS, LOCAL_STEPS, LEVELS = 50, 16, 2, 16
CLIPPING_NORM = 0.4
"""Approximate norm of a client's update in the first rounds; later updates are shorter."""
LOCAL_STEP = 1.0
STEPS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
"""Largest distances that the server moves in a round, if all unit messages have the same direction."""
ACCURACY, QUANTITY = "test_accuracy", "accuracy"
TARGETS = ("value of ε", "values of ε")
QTDL, BINOMIAL, CLIPPED = "QTDL, normalised", "Binomial, normalised", "QTDL, clipped"
SERVER, SERVER_CLIPPED = "server's noise, normalised", "server's noise, clipped"
ARMS = (QTDL, BINOMIAL, CLIPPED, SERVER, SERVER_CLIPPED)
SHAPE: Fields = {
    "participants": CLIENTS,
    "rounds": ROUNDS,
    "local_steps": LOCAL_STEPS,
    "local_step_size": LOCAL_STEP,
    "quantization_levels": LEVELS,
}
DIMENSION = 640
DIGITS = (
    " The paper trains networks on CIFAR-10 and FMNIST, on batches with momentum. The images need files of their own, "
    "and the theorems need convex losses and full local gradients. Used instead is a softmax model of 640 weights on "
    "1797 of scikit-learn's digits, split among 50 clients, with a fifth of the digits held out."
)
NOISE_STANDS_FOR = (
    "Stand-in for Tables 2 to 5, experiments (i) to (iii): integer noise compared with Binomial noise, and normalised "
    "updates with clipped ones. It tests the claims that integer noise is more accurate than Binomial noise, and that "
    "normalised updates are more accurate than clipped ones. The noise is the clients' or a server's."
    + DIGITS
    + f" The paper does not state the quantiser's levels and the rounds of (ii) and (iii): they are {LEVELS} and "
    f"{ROUNDS} here. All data of a client is protected together. `QTDL` is truncated discrete Laplace noise on "
    "quantised updates, added by every client. A trusted server adds its noise once to the sum of the messages. "
    "Replacing a client moves each coordinate of their mean by Δ∞ = 2s/r grid steps at most. Binomial noise is that of "
    "cpSGD's theorem, composed over rounds. `as-printed` is the noise of the paper's Theorem 1."
)


def digits_problem(split: Split = "iid") -> DataSetProblem:
    """Return softmax regression on the digits, divided among 50 clients, with a fifth of the records held out.

    Args:
        split: how records are assigned to clients: at random (`iid`), or sorted by digit (`by-label`).
    """
    return DataSetProblem(data_set="digits", loss="softmax", clients=CLIENTS, split=split, held_out=0.2, diameter=100.0)


def noisy_cells(repetitions: int, seed: int, *, epsilons: Sequence[float]) -> tuple[Cell, ...]:
    """Return the simulations of the experiment on noise: one for each arm, ε and step size of the server.

    An arm is a combination of a kind of noise, a kind of update, and the party that adds the noise.

    Args:
        repetitions: independent runs of each cell.
        seed: seed of all randomness.
        epsilons: values of ε.
    """
    return tuple(
        _noisy_cell(arm, epsilon, step, repetitions, seed) for arm in ARMS for epsilon in epsilons for step in STEPS
    )


def _noisy_cell(arm: str, epsilon: float, step: float, repetitions: int, seed: int) -> Cell:
    """Return the simulation of one arm: a kind of noise and of updates, at one ε and one step of the server.

    Binomial noise is prescribed by its own theorem, and its ε is accounted for. All other noise is calibrated to ε.

    Args:
        arm: one of `ARMS`.
        epsilon: ε of each client's data, for all rounds.
        step: largest distance that the server moves in a round.
        repetitions: independent runs.
        seed: seed of all randomness.
    """
    place: Place = {"arm": arm, "epsilon": epsilon, "step": step}
    shared: Fields = {"problem": digits_problem(), "repetitions": repetitions, "seed": seed, "points": 1}
    run = _noisy_run(arm, epsilon, step)
    if arm == BINOMIAL:
        simulation = RiskSimulation(run=run, alternatives=(), **shared)
        return Cell(place=place, simulation=simulation, claimed=Claimed(epsilon=epsilon, delta=DELTA))
    alternatives = ("non-private", "as-printed") if arm == QTDL else ()
    simulation = RiskSimulation(run=run, epsilon=epsilon, delta=DELTA, alternatives=alternatives, **shared)
    return Cell(place=place, simulation=simulation)


def _noisy_run(arm: str, epsilon: float, step: float) -> Any:
    """Return the run of one arm of the experiment: a kind of noise, of updates, and of the party that adds noise.

    Only Binomial noise is set here. Other noise is calibrated later.

    Args:
        arm: name of the arm, one of `ARMS`.
        epsilon: ε of a client's data over all rounds; used for Binomial noise.
        step: distance that the server moves in a round if all messages have the same direction and full length.
    """
    if arm == QTDL:
        return NormFedavgRun(**SHAPE, server_step_size=step)
    if arm == BINOMIAL:
        trials = binomial_trials(DIMENSION, LEVELS, ROUNDS, epsilon, DELTA)
        return GridFedavgRun(**SHAPE, server_step_size=step, trials=trials)
    if arm == SERVER:
        return GridFedavgRun(**SHAPE, server_step_size=step, scaling="normalised", noise_at="server")
    return GridFedavgRun(
        **SHAPE,
        server_step_size=step / CLIPPING_NORM,  # clipped messages have this norm in place of 1
        scaling="clipped",
        clipping_norm=CLIPPING_NORM,
        noise_at="clients" if arm == CLIPPED else "server",
    )


def judge_noise(cells: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge the claims of Das et al. on their noise and on normalised updates, by the accuracies of all arms.

    The theorem of Binomial noise is proved up to ε = 1 in a round. For larger ε the noise for ε = 1 is used, which is
    more than required. Such ε are left out of the comparison of both noises.

    Args:
        cells: answers of the experiment, one for each arm, ε and step size.
    """
    by_arm = {arm: _accuracies(cells, arm) for arm in ARMS}
    limited = _limited_epsilons(cells)
    return (
        _judge_noises(cells, limited),
        _judge_bits(cells, limited),
        _judge_arms(
            by_arm, "Normalised updates are more accurate than clipped ones, with the clients' noise.", QTDL, CLIPPED
        ),
        _judge_arms(
            by_arm,
            "Normalised updates are more accurate than clipped ones, with the server's noise.",
            SERVER,
            SERVER_CLIPPED,
        ),
        judge_trend("Accuracy grows with ε.", [by_arm[arm] for arm in ARMS], quantity=QUANTITY, lower_is_better=False),
        *_judge_printed_noise(cells),
    )


def _limited_epsilons(cells: Sequence[CellAnswer]) -> set[object]:
    """Return the values of ε at which Binomial noise is larger than the target needs.

    Its theorem is proved up to ε = 1 in a round, so that the noise for larger targets has a smaller ε than requested.

    Args:
        cells: cells of the experiment.
    """
    limited: set[object] = set()
    for cell in cells:
        epsilon = cell.place["epsilon"]
        if cell.place["arm"] == BINOMIAL and cell.epsilon is not None and cell.epsilon.upper < 0.99 * float(epsilon):
            limited.add(epsilon)
    return limited


def _judge_noises(cells: Sequence[CellAnswer], limited: Collection[object]) -> Finding:
    """Judge whether truncated discrete Laplace noise is more accurate than Binomial noise at equal ε.

    Args:
        cells: cells of the experiment.
        limited: values of ε at which the Binomial theorem prescribes more noise than the target needs. They are left
            out.

    Returns:
        One finding, in which the number of omitted ε is stated.
    """
    comparable = [cell for cell in cells if cell.place["epsilon"] not in limited]
    by_arm = {arm: _accuracies(comparable, arm) for arm in (QTDL, BINOMIAL)}
    claim = "Truncated discrete Laplace noise is more accurate than Binomial noise."
    finding = _judge_arms(by_arm, claim, QTDL, BINOMIAL)
    if not limited:
        return finding
    limit_words = (
        f" {len(limited)} larger ε are left out: the Binomial theorem, proved up to ε = 1 a round, asks for more"
        " noise there than they need."
    )
    return replace(finding, words=finding.words + limit_words)


def _judge_arms(by_arm: Mapping[str, list[Measured]], claim: str, first: str, second: str) -> Finding:
    """Judge the claim that one arm is more accurate than another at the same ε.

    Args:
        by_arm: accuracies of each arm, by ascending ε.
        claim: the claim in words.
        first: name of the arm that is said to be more accurate.
        second: name of the other arm.
    """
    pairs = list(zip(by_arm[first], by_arm[second], strict=True))
    return judge_pairs(claim, pairs, names=(first, second), quantity=QUANTITY, lower_is_better=False)


def _accuracies(cells: Sequence[CellAnswer], arm: str) -> list[Measured]:
    """Return the test accuracies of an algorithm with its noise (an arm), by ascending ε.

    Simulations without a measurement are left out.

    Args:
        cells: simulations of the experiment.
        arm: name of the arm.

    Returns:
        Mean accuracies with their bands.
    """
    read = private_score(ACCURACY)
    measurements = [read(cell) for cell in cells if cell.place["arm"] == arm]
    return [measured for measured in measurements if measured is not None]


def _judge_bits(cells: Sequence[CellAnswer], limited: Collection[object]) -> Finding:
    """Judge whether truncated discrete Laplace noise needs fewer bits per coordinate of a message than Binomial noise.

    Args:
        cells: table cells of the experiment, with the parameters of both noises at each ε.
        limited: values of ε at which the Binomial theorem prescribes more noise than the target needs.

    Returns:
        One finding, with the bits of both noises at each ε. The claim stays open where the bits are equal.
    """
    laplace = [_laplace_bits(cell) for cell in cells if cell.place["arm"] == QTDL]
    binomial = [binomial_bits(LEVELS, cell.parameters.trials) for cell in cells if cell.place["arm"] == BINOMIAL]
    pairs = list(zip(laplace, binomial, strict=True))
    comparisons = ", ".join(f"{first} against {second}" for first, second in pairs)
    words = f"Bits of each coordinate, from the least ε to the largest: {comparisons}."
    if limited:
        words += f" At the {len(limited)} larger ε the Binomial theorem asks for more noise than they need."
    tally = Tally(
        holds=sum(first < second for first, second in pairs),
        fails=sum(first > second for first, second in pairs),
        of=len(pairs),
        noun=TARGETS,
        open_where="they need as many",
    )
    return tally.finding("Truncated discrete Laplace noise needs fewer bits than Binomial noise.", words)


def _laplace_bits(cell: CellAnswer) -> int:
    """Return the bits of one coordinate of a message with truncated discrete Laplace noise.

    A coordinate has `LEVELS` grid steps in each direction, and the noise adds its own number of levels.
    """
    return int(2 * (LEVELS + cell.parameters.noise_levels)).bit_length()


def _judge_printed_noise(cells: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge whether the noise that Das et al. prescribe has the δ that they claim, and state its accuracy.

    The noise fails at an ε if a certified lower bound on its δ exceeds the target's δ. One failure refutes the claim.

    Args:
        cells: table cells of the experiment, ordered by ε.

    Returns:
        One finding; none if no cell has a run with the paper's noise.
    """
    printed = [cell for cell in cells if cell.place["arm"] == QTDL and cell.parameters.printed_noise_levels is not None]
    if not printed:
        return ()
    log_deltas = _printed_log_deltas(printed)
    delta_words = ", ".join(
        f"{_format_delta(log_delta)} at ε = {epsilon:g}" for epsilon, log_delta in log_deltas.items()
    )
    accuracies = [comparison_score("as-printed", ACCURACY)(cell) for cell in printed]
    accuracy_words = ", ".join(f"{accuracy.mean:.3g}" for accuracy in accuracies if accuracy is not None)
    tally = Tally(
        holds=0,
        fails=sum(log_delta > math.log(DELTA) for log_delta in log_deltas.values()),
        of=len(printed),
        universal=True,
        noun=TARGETS,
        open_where="its lower end of δ is below",
    )
    words = (
        f"Its δ is at least {delta_words}, where {format_scientific(DELTA)} is the target. It reaches an"
        f" accuracy of {accuracy_words}."
    )
    return (tally.finding("The printed truncated noise is private at the target.", words),)


def _printed_log_deltas(cells: Sequence[CellAnswer]) -> dict[float, float]:
    """Return a lower bound on log δ of the noise that Das et al. prescribe, for each ε.

    Args:
        cells: one cell for each ε, with the paper's noise among its parameters.

    Returns:
        Bounds on the natural logarithm of δ, at most 0, by ε.
    """
    problem = digits_problem().build()
    log_deltas = {}
    for cell in cells:
        epsilon = float(cell.place["epsilon"])
        log_deltas[epsilon] = min(0.0, printed_log_delta(problem, cell.parameters, epsilon))
    return log_deltas


def _format_delta(log_delta: float) -> str:
    """Format δ with three digits. A δ within 0.001 of 1 is written as 1 − x, with x rounded up to one digit.

    Args:
        log_delta: natural logarithm of δ, at most 0.

    Returns:
        The text, such as 0.0123 or 1 − 2e-05.
    """
    missing = -math.expm1(log_delta)
    if missing > 1e-3:
        return f"{math.exp(log_delta):.3g}"
    if missing <= 0.0:
        return "1 to all digits of a double"
    return f"1 − {float(Context(prec=1, rounding=ROUND_CEILING).create_decimal(missing)):.0e}"


TUNED = Axis(name="step", title="step size", scale="log")


def _noise_preset(name: str, title: str, *, epsilons: Sequence[float], repetitions: int) -> Preset:
    """Return the experiment on noise: truncated discrete Laplace or Binomial, by clients or a trusted server.

    Args:
        name: name of the experiment.
        title: title of its figure.
        epsilons: values of ε, each for a client's whole data over all rounds.
        repetitions: default number of independent runs of each cell.

    Returns:
        The experiment as data: its simulations, axes, measured score, and the function that judges its claims.
    """
    return Preset(
        name=name,
        title=title,
        summary="accuracy with truncated Laplace or Binomial noise, normalised or clipped, of clients or server",
        source="Das et al., Tables 2 to 5",
        stands_in_for=NOISE_STANDS_FOR,
        across=Axis(
            name="epsilon", title=f"ε of each client's data at δ = {format_scientific(DELTA)}, all rounds", scale="log"
        ),
        lines=Axis(name="arm", title="noise certified"),
        tuned=TUNED,
        measure=ACCURACY,
        repetitions=repetitions,
        cells=lambda count, seed: noisy_cells(count, seed, epsilons=epsilons),
        judge=judge_noise,
    )


PRESETS: tuple[Preset, ...] = (
    _noise_preset("das-noise", "Digits by quantised updates with integer noise", epsilons=EPSILONS, repetitions=6),
    _noise_preset(
        "das-noise-short", "Quantised updates at one value of ε: a first look", epsilons=(100.0,), repetitions=2
    ),
)
