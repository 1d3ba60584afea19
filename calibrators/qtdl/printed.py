"""Theorem 1 of Das et al. as printed, with the true figures at its parameters, and the bits of other encodings."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.account import account
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.truncated_laplace import bits_per_coordinate, extra_bits, variance
from epsilond.accountants.specs import Repeated, TruncatedDiscreteLaplace
from epsilond.accountants.target import Target
from epsilond.accountants.theorems.mechanisms.binomial import (
    BINOMIAL,
    EPSILON_AT_MOST_ONE,
    BinomialInputs,
    binomial_bits,
    least_trials,
)
from epsilond.accountants.theorems.papers.das.truncated_noise import THEOREM_1, true_delta
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Caution, Communication, CommunicationBeside, Ends, PrintedReading, TrueFigures
from epsilond.calibrators.cautions import failing_conditions, noise_below
from epsilond.calibrators.envelope import TheoremAtInputs, claims, condition_answers, make_reading, true_figures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from epsilond.calibrators.qtdl.problem import GridProblem


def noise_of_theorem_1(problem: GridProblem, epsilon: float) -> tuple[TheoremAtInputs, dict[str, float]]:
    """Evaluate Theorem 1 of Das et al. for one message: the truncated discrete Laplace noise that it prescribes.

    Args:
        problem: the request, with the grid and the sensitivities.
        epsilon: ε of one message, above 0.

    Returns:
        The theorem at its inputs, and the parameters of the noise by name. There are none if the theorem's number m of
        noise levels is not defined at these inputs.
    """
    movement = problem.movement
    theorem_1 = TheoremAtInputs.of(
        THEOREM_1, problem, epsilon=epsilon, l1_sensitivity=movement.l1, linf_sensitivity=movement.linf
    )
    try:
        outputs = theorem_1.outputs
    except InvalidInput:
        return theorem_1, {}

    # The theorem's lengths are in grid steps, and the standard deviation is in units of the update.
    grid = problem.quantization_levels
    rate = outputs["decay_rate"]
    levels = outputs["noise_levels"]
    noise = {
        "noise_levels": levels,
        "decay_rate": rate,
        "noise_std": math.sqrt(variance(rate, levels)) / grid,
        "bits_per_coordinate": bits_per_coordinate(grid, levels),
    }
    return theorem_1, noise


def printed_readings(problem: GridProblem) -> tuple[PrintedReading, ...]:
    """Evaluate Theorem 1 of Das et al. for one message: its noise, the ε and δ that it claims, and the true ones.

    The theorem claims the requested ε with δ = 2^(−d), for d coordinates. If it defines no noise, only its claim and
    its conditions are returned.

    Args:
        problem: the request, with its target, the grid and the dimension. Empty `readings` exclude the theorem.

    Returns:
        One evaluated theorem; none if the request excludes it.
    """
    if problem.readings == ():
        return ()

    theorem_1, noise = noise_of_theorem_1(problem, problem.target.epsilon)
    log_delta = -problem.dimension * math.log(2.0)
    claim = Target(problem.target.epsilon, log_delta)
    if not noise:
        return (_reading_without_noise(theorem_1, claim),)

    bits = extra_bits(problem.quantization_levels, int(noise["noise_levels"]))
    parameters = noise | {"extra_bits_per_coordinate": bits}
    reading = make_reading(theorem_1, claims=claims(claim), parameters=parameters, true=figures_at(theorem_1, claim))
    return (reading,)


def _reading_without_noise(theorem_1: TheoremAtInputs, claim: Target) -> PrintedReading:
    """Describe Theorem 1 of Das et al. at inputs for which its formulas give no noise.

    Args:
        theorem_1: the theorem, evaluated at the inputs.
        claim: the (ε, δ) that the theorem would guarantee.

    Returns:
        The claimed (ε, δ) and the conditions of the theorem that can be checked, without parameters of a noise.
    """
    conditions = (condition.at(theorem_1.inputs) for condition in THEOREM_1.conditions if condition.checked)
    return PrintedReading(
        theorem=THEOREM_1.id,
        reading="statement",
        status=THEOREM_1.status,
        parameters={},
        claims=claims(claim),
        conditions=condition_answers(conditions),
    )


def figures_at(theorem_1: TheoremAtInputs, claim: Target, *, rounds: int = 1) -> TrueFigures:
    """Return the true ε and δ at the noise of Theorem 1 of Das et al.

    An output escapes if it is impossible on the neighbouring data set. The probability of an escape in any round is a
    lower bound on δ at every ε. If it exceeds the claimed δ, the true ε at the claimed δ is infinite. In a single round
    this probability is equal to δ at the theorem's own ε.

    Args:
        theorem_1: Theorem 1 at its inputs.
        claim: the claimed (ε, δ).
        rounds: number of rounds.

    Returns:
        Enclosures of ε and δ. If δ is above one half, log10(1 − δ) is among them.
    """
    inputs = theorem_1.inputs
    levels = theorem_1.outputs["noise_levels"]
    truth = true_delta(inputs, levels, rounds)
    if truth.log_delta > claim.log_delta:
        figures = _escape_figures(truth.log_delta, rounds)
    else:
        message = TruncatedDiscreteLaplace(
            noise_levels=levels,
            decay_rate=inputs.decay_rate,
            dimension=inputs.dimension,
            l1_sensitivity=inputs.l1_sensitivity,
            linf_sensitivity=inputs.linf_sensitivity,
        )
        run = Repeated(times=rounds, mechanism=message)
        figures = true_figures(account(run, relation="replace-one").guarantee, claim)

    is_above_half = truth.log_one_minus_delta < math.log(0.5)
    if not is_above_half:
        return figures
    # Values of δ near 1 are only distinguishable by 1 − δ.
    return replace(figures, log10_one_minus_delta=truth.log_one_minus_delta / math.log(10.0))


def _escape_figures(log_escape: float, rounds: int) -> TrueFigures:
    """Return the true ε and δ of a noise with escapes more probable than the claimed δ; the true ε is infinite.

    An escape is a message that is impossible on the neighbouring data set. For one round its probability is δ at the
    claimed ε. For several rounds it is only a lower bound on δ, and the upper bound is then 1.

    Args:
        log_escape: natural log of the probability of an escape in any round, rounded to one of the doubles next to it.
        rounds: number of rounds.

    Returns:
        Enclosures of ε, δ and log₁₀ δ.
    """
    # The neighbouring doubles enclose the rounded logarithm.
    lower = math.nextafter(log_escape, -math.inf)
    upper = math.nextafter(log_escape, 0.0) if rounds == 1 else 0.0
    log_delta = Interval(lower, upper)
    unbounded = Ends(math.inf, math.inf)
    return TrueFigures(epsilon=unbounded, delta=Ends.delta(log_delta), log10_delta=Ends.log10(log_delta))


def binomial_trials(problem: GridProblem) -> int | None:
    """Return the least number of coin flips with which Binomial noise meets the target for one message.

    The theorem of the mechanism requires ε ≤ 1 and a bound on the ℓ2 distance of updates.

    Args:
        problem: the request, with its target, the grid, the dimension and the sensitivities.

    Returns:
        The number of flips. None if one of these conditions fails, if there are several rounds, or if δ is below every
        double.
    """
    movement = problem.movement
    delta = problem.target.delta
    if problem.rounds > 1 or movement.l2 is None or delta is None:
        return None
    inputs = BinomialInputs(
        epsilon=problem.target.epsilon,
        delta=delta,
        dimension=problem.dimension,
        quantization_levels=problem.quantization_levels,
        l1_sensitivity=movement.l1,
        l2_sensitivity=movement.l2,
        linf_sensitivity=movement.linf,
    )
    if EPSILON_AT_MOST_ONE.at(inputs).holds != Verdict.YES:
        return None
    return least_trials(inputs)


def communication(
    problem: GridProblem, noise_levels: int, printed: tuple[PrintedReading, ...], trials: int | None = None
) -> Communication:
    """Return the size of the messages with the certified noise, and of the same messages in other encodings.

    Args:
        problem: the request, with the coordinates, rounds and clients.
        noise_levels: largest absolute value of the certified noise, in grid steps.
        printed: the evaluated theorem of the paper, if any, which may have a number of levels.
        trials: trials of the Binomial mechanism; None if its theorem does not apply.

    Returns:
        Bits per coordinate, per message and in total. The other encodings are 32-bit floats, the printed noise and
        Binomial noise; those that do not apply are None.
    """
    grid = problem.quantization_levels
    bits = bits_per_coordinate(grid, noise_levels)
    numbers = problem.dimension * problem.rounds * problem.reporting  # coordinates that are sent in total

    printed_bits = None
    for reading in printed:
        if "noise_levels" in reading.parameters:
            printed_bits = bits_per_coordinate(grid, int(reading.parameters["noise_levels"]))
    binomial_bits_of_coordinate = None if trials is None else binomial_bits(grid, trials)

    return Communication(
        bits_per_coordinate=float(bits),
        extra_bits_per_coordinate=float(extra_bits(grid, noise_levels)),
        bits_per_round_per_client=bits * problem.dimension,
        total_bits=bits * numbers,
        beside=CommunicationBeside(
            float32_total_bits=32 * numbers,
            printed_bits_per_coordinate=printed_bits,
            printed_total_bits=None if printed_bits is None else printed_bits * numbers,
            binomial_bits_per_coordinate=binomial_bits_of_coordinate,
            binomial_total_bits=None if binomial_bits_of_coordinate is None else binomial_bits_of_coordinate * numbers,
        ),
    )


def printed_cautions(readings: tuple[PrintedReading, ...], noise_std: float) -> Iterator[Caution]:
    """Warn that Theorem 1 of Das et al. is false, that its noise is too small, or that some of its conditions fail.

    Args:
        readings: evaluated printed theorems.
        noise_std: the certified standard deviation, in units of the update.

    Yields:
        The warnings that apply.
    """
    for reading in readings:
        if reading.theorem == THEOREM_1.id:
            yield Caution(
                code="printed-theorem-refuted",
                message="the printed theorem das.1 is false. At its noise δ is next to 1, as the field as_printed "
                "shows. Do not run with this noise",
            )
        if "noise_std" in reading.parameters:
            yield from noise_below(reading, noise_std=noise_std)
    yield from failing_conditions(readings)


def binomial_cautions(problem: GridProblem) -> Iterator[Caution]:
    """Warn that the certified noise is not compared with Binomial noise, if the theorem of the latter does not apply.

    Args:
        problem: the request, with its rounds and its target.

    Yields:
        One warning if there are several rounds or if ε > 1; otherwise nothing.
    """
    if problem.rounds > 1:
        yield Caution(
            code="binomial-one-round",
            message=f"the theorem {BINOMIAL.id} is about one round, so the Binomial mechanism is not compared",
        )
    elif problem.target.epsilon > 1.0:
        yield Caution(
            code="binomial-beyond-its-proof",
            message=f"the theorem {BINOMIAL.id} is proved for ε ≤ 1 only, so nothing is claimed of the Binomial "
            "mechanism here",
        )
