"""Theorem 1 of Das et al. as printed, beside the true figures at its parameters; and the bits of other encodings."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.account import account
from epsilond.accountants.curve import Interval
from epsilond.accountants.profiles.truncated_law import bits_per_coordinate, extra_bits, variance
from epsilond.accountants.specs import Repeated, TruncatedDiscreteLaplace
from epsilond.accountants.theorems.mechanisms.binomial import (
    BINOMIAL,
    EPSILON_AT_MOST_ONE,
    BinomialInputs,
    binomial_bits,
    least_trials,
)
from epsilond.accountants.theorems.papers.das.truncated_noise import (
    THEOREM_1,
    PrintedInputs,
    printed_levels,
    true_delta,
)
from epsilond.calibrators.answer import (
    Caution,
    Communication,
    CommunicationBeside,
    Ends,
    PrintedReading,
    TrueFigures,
)
from epsilond.calibrators.envelope import claims, condition_answers, true_figures
from epsilond.calibrators.printed import Asked
from epsilond.calibrators.problem import Target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from epsilond.accountants.theorems.papers.das.sensitivity import Movement


def printed_inputs(epsilon: float, dimension: int, movement: Movement) -> PrintedInputs:
    """What the theorem asks for."""
    return PrintedInputs(
        epsilon=epsilon, dimension=dimension, l1_sensitivity=movement.l1, linf_sensitivity=movement.linf
    )


def printed_reading(epsilon: float, dimension: int, levels: int, movement: Movement) -> PrintedReading:
    """One message at ε: the printed m and α, what is claimed, and the true δ and ε there."""
    inputs = printed_inputs(epsilon, dimension, movement)
    claim = Target(epsilon, -dimension * math.log(2.0))
    noise = printed_levels(inputs)
    parameters: dict[str, float] = {}
    true = None
    if noise is not None:
        rate = inputs.decay_rate
        parameters = {
            "noise_levels": noise,
            "decay_rate": rate,
            "noise_std": math.sqrt(variance(rate, noise)) / levels,
            "bits_per_coordinate": bits_per_coordinate(levels, noise),
            "extra_bits_per_coordinate": extra_bits(levels, noise),
        }
        true = figures_at(inputs, noise, claim)
    return PrintedReading(
        theorem=THEOREM_1.id,
        reading="statement",
        status=THEOREM_1.status,
        parameters=parameters,
        claims=claims(claim),
        true=true,
        conditions=condition_answers(condition.at(inputs) for condition in THEOREM_1.conditions),
        evaluations=() if noise is None else (Asked(THEOREM_1, inputs).served,),
    )


def figures_at(inputs: PrintedInputs, noise: int, claim: Target, *, rounds: int = 1) -> TrueFigures:
    """What escapes over the rounds is lost at every ε: if that is more than the claim, no ε at all has the claimed δ.

    In one round at ε it is all of δ; over several it is the lower end.
    """
    truth = true_delta(inputs, noise, rounds)
    if truth.log_delta > claim.log_delta:
        # Decimals were rounded to the nearest double: half a unit either way.
        low, high = (math.nextafter(truth.log_delta, side) for side in (-math.inf, 0.0))
        ends = Interval(low, high if rounds == 1 else 0.0)
        unbounded = Ends(math.inf, math.inf)
        figures = TrueFigures(epsilon=unbounded, delta=Ends.delta(ends), log10_delta=Ends.log10(ends))
    else:
        spec = TruncatedDiscreteLaplace(
            noise_levels=noise,
            decay_rate=inputs.decay_rate,
            dimension=inputs.dimension,
            l1_sensitivity=inputs.l1_sensitivity,
            linf_sensitivity=inputs.linf_sensitivity,
        )
        run = Repeated(times=rounds, mechanism=spec)
        figures = true_figures(account(run, relation="replace-one").guarantee, claim)
    near_one = truth.log_one_minus_delta < math.log(0.5)
    return replace(figures, log10_one_minus_delta=truth.log_one_minus_delta / math.log(10.0) if near_one else None)


def binomial_trials(target: Target, dimension: int, levels: int, movement: Movement) -> int | None:
    """N of the Binomial mechanism for one message; None where its theorem proves nothing."""
    inputs = binomial_inputs(target, dimension, levels, movement)
    if inputs is None or EPSILON_AT_MOST_ONE.at(inputs).holds is not True:
        return None
    return least_trials(inputs)


def binomial_inputs(target: Target, dimension: int, levels: int, movement: Movement) -> BinomialInputs | None:
    """What that theorem asks for; None where something is not known, or δ is no double."""
    if movement.l2 is None or target.delta is None:
        return None
    return BinomialInputs(
        epsilon=target.epsilon,
        delta=target.delta,
        dimension=dimension,
        quantization_levels=levels,
        l1_sensitivity=movement.l1,
        l2_sensitivity=movement.l2,
        linf_sensitivity=movement.linf,
    )


def communication(
    *,
    dimension: int,
    quantization_levels: int,
    noise_levels: int,
    messages: int,
    printed: int | None,
    trials: int | None,
) -> Communication:
    """Bits of the certified noise, and of the same messages otherwise."""
    bits = bits_per_coordinate(quantization_levels, noise_levels)
    numbers = dimension * messages
    printed_bits = None if printed is None else bits_per_coordinate(quantization_levels, printed)
    binomial = None if trials is None else binomial_bits(quantization_levels, trials)
    return Communication(
        bits_per_coordinate=float(bits),
        extra_bits_per_coordinate=float(extra_bits(quantization_levels, noise_levels)),
        bits_per_round_per_client=bits * dimension,
        total_bits=bits * numbers,
        beside=CommunicationBeside(
            float32_total_bits=32 * numbers,
            printed_bits_per_coordinate=printed_bits,
            printed_total_bits=None if printed_bits is None else printed_bits * numbers,
            binomial_bits_per_coordinate=binomial,
            binomial_total_bits=None if binomial is None else binomial * numbers,
        ),
    )


def printed_noise_levels(readings: tuple[PrintedReading, ...]) -> int | None:
    """The printed m, None where it is not defined."""
    return next((int(one.parameters["noise_levels"]) for one in readings if "noise_levels" in one.parameters), None)


def printed_warnings(readings: tuple[PrintedReading, ...], noise_std: float) -> Iterator[Caution]:
    """What is wrong with the printed noise here."""
    for reading in readings:
        if reading.theorem == THEOREM_1.id:
            yield Caution(
                code="printed-theorem-refuted",
                message="das.1 is false: at its noise δ is next to 1, as as_printed shows. Do not run with it",
            )
        if reading.parameters.get("noise_std", math.inf) < noise_std:
            yield Caution(
                code="printed-noise-below-certified",
                message=f"{reading.theorem} prescribes less noise than the target needs",
            )
        failing = [condition.id for condition in reading.conditions if condition.holds is False]
        if failing:
            yield Caution(
                code="printed-condition-fails", message=f"{reading.theorem}: {', '.join(failing)} does not hold here"
            )


def binomial_warnings(target: Target, rounds: int) -> Iterator[Caution]:
    """Why the Binomial mechanism is not compared."""
    if rounds > 1:
        yield Caution(code="binomial-one-round", message=f"{BINOMIAL.id} speaks of one round: it is not compared")
    elif target.epsilon > 1.0:
        yield Caution(
            code="binomial-beyond-its-proof",
            message=f"{BINOMIAL.id} is proved for ε ≤ 1 only: nothing is claimed of the Binomial mechanism here",
        )
