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

from epsilond.accountants.theorems.mechanisms.binomial import binomial_bits
from epsilond.witness.cells import CellAnswer
from epsilond.witness.experiment import Axis, Cell, Finding, Preset, format_scientific
from epsilond.witness.experiments.das_digits_task import (
    ACCURACY,
    ARMS,
    BINOMIAL,
    CLIPPED,
    DELTA,
    DIGITS,
    EPSILONS,
    LEVELS,
    QTDL,
    QUANTITY,
    ROUNDS,
    SERVER,
    SERVER_CLIPPED,
    TARGETS,
    TUNED,
    digits_problem,
    noisy_cells,
)
from epsilond.witness.findings import comparison_score, judge_pairs, judge_trend, private_score
from epsilond.witness.joins.norm_fedavg import printed_log_delta
from epsilond.witness.risks.answer import Measured
from epsilond.witness.tally import Tally

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


def judge_noise(cells: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge the claims of Das et al. on their noise and on normalised updates, by measured accuracies.

    The experiment has several arms. An arm is a combination of a kind of noise, a kind of update, and the party that
    adds the noise. The theorem of Binomial noise is proved up to ε = 1 in a round. Targets that allow more get the
    noise for ε = 1, which is more than they need. They are left out of the comparison of both noises.

    Args:
        cells: results of the experiment, one for each arm and ε, at its best step size.

    Returns:
        For each claim a verdict, such as confirmed or refuted, and the measured numbers in words.
    """
    by_arm = {arm: _accuracies(cells, arm) for arm in ARMS}
    lines = [by_arm[arm] for arm in ARMS]
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
        judge_trend("Accuracy grows with ε.", lines, quantity=QUANTITY, lower_is_better=False),
        *_judge_printed_noise(cells),
    )


def _limited_epsilons(cells: Sequence[CellAnswer]) -> set[object]:
    """Return the values of ε at which Binomial noise is larger than the target needs.

    Its theorem is proved up to ε = 1 in a round, so that the noise for larger targets has a smaller ε than requested.

    Args:
        cells: results of the experiment's simulations, with their positions on the grid.

    Returns:
        Values of ε for which the certified ε of the Binomial noise is more than 1 % smaller.
    """
    limited: set[object] = set()
    for cell in cells:
        if cell.place["arm"] != BINOMIAL or cell.epsilon is None:
            continue
        requested = cell.place["epsilon"]
        # The number of trials is an integer, so that the certified ε is slightly below the target anyway. The tolerance
        # of 1 % allows for this.
        if cell.epsilon.upper < 0.99 * float(requested):
            limited.add(requested)
    return limited


def _judge_noises(cells: Sequence[CellAnswer], limited: Collection[object]) -> Finding:
    """Judge whether truncated discrete Laplace noise is more accurate than Binomial noise at equal ε.

    The noises are compared by test accuracies with the same kind of updates.

    Args:
        cells: results of the experiment.
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


def _judge_arms(by_arm: Mapping[str, list[Measured]], claim: str, better_arm: str, worse_arm: str) -> Finding:
    """Judge the claim that one method is more accurate than another at the same ε.

    A method, or arm, is a combination of a kind of noise, a kind of update, and the party that adds the noise.

    Args:
        by_arm: accuracies of each method, by ascending ε.
        claim: the claim in words.
        better_arm: name of the method that is claimed to be more accurate.
        worse_arm: name of the method that it is compared with.

    Returns:
        The claim with its verdict, from the confidence bands of the accuracies.
    """
    pairs = list(zip(by_arm[better_arm], by_arm[worse_arm], strict=True))
    return judge_pairs(claim, pairs, names=(better_arm, worse_arm), quantity=QUANTITY, lower_is_better=False)


def _accuracies(cells: Sequence[CellAnswer], arm: str) -> list[Measured]:
    """Return the measured test accuracies of one method, in the order of the results.

    Args:
        cells: results of the experiment, by ascending ε. Those without a measured accuracy are left out.
        arm: name of the method, that is, of a kind of noise and of updates.

    Returns:
        Mean accuracies, from 0 to 1, with their confidence bands.
    """
    read_accuracy = private_score(ACCURACY)
    accuracies = [read_accuracy(cell) for cell in cells if cell.place["arm"] == arm]
    return [accuracy for accuracy in accuracies if accuracy is not None]


def _judge_bits(cells: Sequence[CellAnswer], limited: Collection[object]) -> Finding:
    """Judge whether messages need fewer bits per coordinate with truncated discrete Laplace noise than with Binomial.

    A coordinate is an integer, and the number of its possible values determines the bits.

    Args:
        cells: results of the experiment, with the parameters of both noises at each ε.
        limited: values of ε at which the Binomial theorem prescribes more noise than the target needs.

    Returns:
        One finding, with the bits of both noises at each ε. The claim stays open where the bits are equal.
    """
    # Cells are in ascending order of ε, so each pair belongs to one ε.
    laplace = [_laplace_bits(cell) for cell in cells if cell.place["arm"] == QTDL]
    binomial = [binomial_bits(LEVELS, cell.parameters.trials) for cell in cells if cell.place["arm"] == BINOMIAL]
    pairs = list(zip(laplace, binomial, strict=True))

    comparisons = ", ".join(f"{laplace_bits} against {bits}" for laplace_bits, bits in pairs)
    words = f"Bits of each coordinate, from the least ε to the largest: {comparisons}."
    if limited:
        words += f" At the {len(limited)} larger ε the Binomial theorem asks for more noise than they need."
    tally = Tally(
        holds=sum(laplace_bits < bits for laplace_bits, bits in pairs),
        fails=sum(laplace_bits > bits for laplace_bits, bits in pairs),
        of=len(pairs),
        noun=TARGETS,
        open_where="they need as many",
    )
    return tally.finding("Truncated discrete Laplace noise needs fewer bits than Binomial noise.", words)


def _laplace_bits(cell: CellAnswer) -> int:
    """Return the number of bits of one coordinate of a message with truncated discrete Laplace noise.

    A coordinate has `LEVELS` grid steps in each direction, and the noise adds its own number of levels. The coordinate
    is then an integer from −a to a, where a is their sum.

    Args:
        cell: result of a simulation, with the noise among its parameters.
    """
    largest = LEVELS + cell.parameters.noise_levels
    return int(2 * largest).bit_length()


def _judge_printed_noise(cells: Sequence[CellAnswer]) -> tuple[Finding, ...]:
    """Judge whether the noise that Das et al. prescribe has the δ that they claim, and state its accuracy.

    The noise fails at an ε if a certified lower bound on its δ exceeds the target's δ. One failure refutes the claim.

    Args:
        cells: results of the experiment, ordered by ε.

    Returns:
        One finding; none if no cell has a run with the paper's noise.
    """
    cells_of_arm = [cell for cell in cells if cell.place["arm"] == QTDL]
    cells_with_printed_noise = [cell for cell in cells_of_arm if cell.parameters.printed_noise_levels is not None]
    if not cells_with_printed_noise:
        return ()

    log_deltas = _printed_log_deltas(cells_with_printed_noise)
    tally = Tally(
        holds=0,
        fails=sum(log_delta > math.log(DELTA) for log_delta in log_deltas.values()),
        of=len(cells_with_printed_noise),
        universal=True,
        noun=TARGETS,
        open_where="its lower end of δ is below",
    )

    read_accuracy = comparison_score("as-printed", ACCURACY)
    accuracies = [read_accuracy(cell) for cell in cells_with_printed_noise]
    accuracy_words = ", ".join(f"{accuracy.mean:.3g}" for accuracy in accuracies if accuracy is not None)
    delta_words = ", ".join(
        f"{_format_delta(log_delta)} at ε = {epsilon:g}" for epsilon, log_delta in log_deltas.items()
    )
    words = (
        f"Its δ is at least {delta_words}, where {format_scientific(DELTA)} is the target. It reaches an"
        f" accuracy of {accuracy_words}."
    )
    return (tally.finding("The printed truncated noise is private at the target.", words),)


def _printed_log_deltas(cells: Sequence[CellAnswer]) -> dict[float, float]:
    """Return a lower bound on log δ of the noise that Das et al. prescribe, for each ε.

    The bound is for two updates of a client that are as far apart as possible, over all rounds.

    Args:
        cells: one result for each ε, with the paper's noise among its parameters.

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
        The text, such as 0.0123 or 1 − 2e-05; a sentence fragment if the logarithm is 0.
    """
    missing = -math.expm1(log_delta)  # 1 − δ, exact even if δ is close to 1
    if missing > 1e-3:
        return f"{math.exp(log_delta):.3g}"
    if missing <= 0.0:
        return "1 to all digits of a double"
    rounded_up = Context(prec=1, rounding=ROUND_CEILING).create_decimal(missing)
    return f"1 − {float(rounded_up):.0e}"


def _noise_preset(name: str, title: str, *, epsilons: Sequence[float], repetitions: int) -> Preset:
    """Define the experiment that compares truncated discrete Laplace noise with Binomial noise.

    Args:
        name: name of the experiment.
        title: title of its figure.
        epsilons: values of ε, each for a client's whole data over all rounds.
        repetitions: default number of independent runs of each simulation.

    Returns:
        The experiment as data: its simulations, axes, measured score, and the function that judges its claims.
    """

    def cells(repetitions: int, seed: int) -> tuple[Cell, ...]:
        """Return the simulations at the preset's values of ε, each with its position on the grid."""
        return noisy_cells(repetitions, seed, epsilons=epsilons)

    epsilon_title = f"ε of each client's data at δ = {format_scientific(DELTA)}, all rounds"
    return Preset(
        name=name,
        title=title,
        summary="accuracy with truncated Laplace or Binomial noise, normalised or clipped, of clients or server",
        source="Das et al., Tables 2 to 5",
        stands_in_for=NOISE_STANDS_FOR,
        across=Axis(name="epsilon", title=epsilon_title, scale="log"),
        lines=Axis(name="arm", title="noise certified"),
        tuned=TUNED,
        measure=ACCURACY,
        repetitions=repetitions,
        cells=cells,
        judge=judge_noise,
    )


PRESETS: tuple[Preset, ...] = (
    _noise_preset("das-noise", "Digits by quantised updates with integer noise", epsilons=EPSILONS, repetitions=6),
    _noise_preset(
        "das-noise-short", "Quantised updates at one value of ε: a first look", epsilons=(100.0,), repetitions=2
    ),
)
