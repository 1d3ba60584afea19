"""The Skellam mechanism: exactly in one dimension, and enclosed in several."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.least import least_of
from epsilond.accountants.formula import formula
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.kinds.declared.approximate import AT_EPSILON
from epsilond.accountants.kinds.kind import Concentration, MechanismKind
from epsilond.accountants.numerics.outward import raise_log_by_units
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.concentrated import concentrated_pair
from epsilond.accountants.profiles.integers.allowed_shifts import (
    Parts,
    ShiftBounds,
    concentrated_shift,
    majorising_shift,
    spread_shift,
)
from epsilond.accountants.profiles.integers.skellam import skellam_pairs
from epsilond.accountants.profiles.integers.skellam_concentration import skellam_concentration
from epsilond.accountants.profiles.integers.skellam_renyi import SkellamVectorRenyi
from epsilond.accountants.profiles.integers.skellam_table import log_unlisted
from epsilond.accountants.quantities import delta_outputs
from epsilond.accountants.rule import Case, Effort, Refusal, Rule
from epsilond.accountants.specs import Skellam
from epsilond.accountants.structure import ANY_INTEGERS
from epsilond.accountants.theorem import Outputs, Source, Status, Theorem

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair


def bounds_of(spec: Skellam) -> ShiftBounds:
    """Return the bounds on the difference of the integer vectors of two neighbours, from both sensitivities.

    Args:
        spec: the mechanism.

    Returns:
        Bounds on the squared ℓ2 norm and the ℓ1 norm, in grid steps.
    """
    return ShiftBounds.of(spec.l2_sensitivity, spec.dimension, spec.l1_sensitivity)


def shifted_pair(variance: float, parts: Parts, effort: Effort, *, attained: bool) -> Pair:
    """Return a pair of distributions: Skellam noise, and the noise shifted by an integer vector.

    The coordinates are independent, so the pair is the composition of the pairs of single coordinates.

    Args:
        variance: variance of the noise of a coordinate, in squared grid steps.
        parts: sizes of the coordinates of the shift, each with the number of coordinates of this size.
        effort: limit on the work of the composition over coordinates.
        attained: whether the pair is for lower bounds on δ. Otherwise it is a dominating pair, for upper bounds.

    Returns:
        The pair of all coordinates; two equal distributions without a shift.
    """
    pairs = []
    for size, count in parts:
        bounds = skellam_pairs(variance, size)
        pairs.append((bounds.attained if attained else bounds.upper, count))
    if not pairs:
        pairs = [(skellam_pairs(variance, 0).upper, 1)]
    return composed_pair(pairs, effort)


@formula(given="The mechanism, and the ε' at which δ is bounded.")
def bounds_on_delta(*, noise: Skellam, at_epsilon: Annotated[float, AT_EPSILON]) -> Outputs:
    """Compute bounds on δ at ε' of Skellam noise if one coordinate has the largest shift.

    A shift is the difference of the integers of two neighbours. In one dimension these are the bounds on δ of the
    mechanism.

    Args:
        noise: the mechanism, with the variance of its noise and its sensitivities.
        at_epsilon: ε' at which δ is bounded, in nats.

    Returns:
        `shift` in grid steps, and both bounds with their decimal logarithms.
    """
    shift = bounds_of(noise).largest
    pairs = skellam_pairs(noise.variance, shift)
    upper = pairs.upper.log_delta_bounds(at_epsilon).upper
    lower = pairs.attained.log_delta_bounds(at_epsilon).lower
    return {
        "shift": shift,
        **delta_outputs(upper, "delta_of_one_coordinate"),
        **delta_outputs(lower, "lower_delta_of_one_coordinate"),
    }


_EXAMPLE = {"variance": 9.0, "l1_sensitivity": 2.0, "l2_sensitivity": 2.0, "dimension": 1}
EXACT = Theorem(
    id="epsilond.skellam",
    title="The Skellam mechanism, exactly",
    statement=(
        "In one dimension the shift by the largest integer within both sensitivities is worst at every ε. In d "
        "dimensions with coordinates of at most 1, the worst shift has as many coordinates of 1 as they allow"
    ),
    source=Source("epsilond", "docs/integer-noise.md, One coordinate"),
    status=Status.PROVED,
    conditions=(ANY_INTEGERS,),
    formula=bounds_on_delta,
    examples=({**_EXAMPLE, "at_epsilon": 1.0}, {**_EXAMPLE, "variance": 0.5, "at_epsilon": 0.0}),
)
ENCLOSED = Theorem(
    id="epsilond.skellam-in-several-dimensions",
    title="The Skellam mechanism in several dimensions",
    statement=(
        "Let K be the largest coordinate within the sensitivities. Δ₁ div K coordinates of K and a remainder are at "
        "least as bad as every admitted shift. Given that no output is beyond the table, the noise is also "
        "c Δ₂²-zCDP, with c from sums over the table. The lower bounds are those of two admitted shifts"
    ),
    source=Source("epsilond", "docs/integer-noise.md, Several coordinates"),
    status=Status.PROVED,
    conditions=(ANY_INTEGERS,),
)


def exact(spec: Skellam, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of the Skellam mechanism by the shift that is worst in every coordinate.

    A shift is the difference of the integer vectors of two neighbours.

    Args:
        spec: the mechanism, with its variance and sensitivities.
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.

    Returns:
        The guarantee, which neighbours attain. If no allowed shift is worst in every coordinate, it is a refusal, which
        says why the theorem does not apply.
    """
    worst_shift = bounds_of(spec).worst
    if worst_shift is None:
        return Refusal(EXACT, "no integer shift within the sensitivities is larger than all others in every coordinate")
    upper = shifted_pair(spec.variance, worst_shift, case.effort, attained=False)
    attained = shifted_pair(spec.variance, worst_shift, case.effort, attained=True)
    size, coordinates = worst_shift[0] if worst_shift else (0, 0)
    step = EXACT.because(variance=spec.variance, shift=size, coordinates=coordinates)
    return Guarantee(setting=case.setting, curve=Curve(upper, (attained,)), derivation=step, declared=(ANY_INTEGERS,))


def concentration(spec: Skellam) -> Concentration | None:
    """Return the zero-concentrated privacy of Skellam noise, up to a small probability δ.

    The Rényi divergences are computed from a finite table of the noise. δ bounds the probability of an output beyond
    it. Given an output in the table, the mechanism is ρ-zCDP with:

        ρ = c Δ₂²,

    where c is the constant of `skellam_concentration`, and Δ₂ the largest ℓ2 norm of a difference of two integer inputs
    within the sensitivities.

    Args:
        spec: the mechanism, with its variance and sensitivities.

    Returns:
        ρ and δ; None if the computation of c takes too much work.

    Source: docs/integer-noise.md.
    """
    bounds = bounds_of(spec)
    if bounds.largest == 0:
        return Concentration(rho=Fraction(0))
    constant = skellam_concentration(spec.variance, bounds.largest)
    if constant is None:
        return None
    # At most as many coordinates differ as the ℓ1 norm, because each differs by at least 1.
    coordinates = min(bounds.total, bounds.dimension)
    _, log_escape = log_unlisted(spec.variance, bounds.largest, coordinates)
    # Rounded up: 4 units cover the error of the logarithm, and the next double that of the exponential.
    delta = math.nextafter(math.exp(raise_log_by_units(log_escape, 4.0)), math.inf)
    return Concentration(rho=Fraction(constant) * Fraction(bounds.square), delta=Fraction(delta))


def enclosure(spec: Skellam, case: Case) -> Guarantee:
    """Return the guarantee of the Skellam mechanism by the least of two upper bounds, and two lower bounds.

    A shift is the difference of the integer vectors of two neighbours. One upper bound uses a shift that majorises all
    allowed ones. The other uses zero-concentrated privacy, unless that takes too much work. The lower bounds are those
    of two allowed shifts.

    Args:
        spec: the mechanism, with its variance and sensitivities.
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.

    Returns:
        The guarantee, with the least of the upper bounds.
    """
    bounds = bounds_of(spec)
    uppers = [shifted_pair(spec.variance, majorising_shift(bounds), case.effort, attained=False)]
    inputs: dict[str, float] = {"variance": spec.variance}

    # The noise is c Δ₂²-zero-concentrated, given that no output is beyond the table of the noise.
    constant = skellam_concentration(spec.variance, bounds.largest)
    if constant is not None:
        # Rounded up: 4 units cover the roundings of the two products, at most one each.
        rho = constant * bounds.square * (1.0 + 4 * UNIT_ROUNDOFF)
        coordinates = min(bounds.total, bounds.dimension)
        divergence = SkellamVectorRenyi(spec.variance, bounds.largest, bounds.square)
        log_listed, log_unlisted_mass = log_unlisted(spec.variance, bounds.largest, coordinates)
        uppers.append(concentrated_pair(rho, log_listed, log_unlisted_mass, summands=((divergence, 1),)))
        inputs["zcdp_rho"] = rho

    # Two extreme shifts for lower bounds: with few large coordinates, and with many small ones.
    shifts = tuple(dict.fromkeys((concentrated_shift(bounds), spread_shift(bounds))))
    witnesses = tuple(shifted_pair(spec.variance, parts, case.effort, attained=True) for parts in shifts)
    return Guarantee(
        setting=case.setting,
        curve=Curve(least_of(uppers), witnesses),
        derivation=ENCLOSED.because(**inputs),
        declared=(ANY_INTEGERS,),
    )


def sentence(fields: Mapping[str, str]) -> str:
    """Describe Skellam noise and its sensitivities in words.

    Args:
        fields: values of the spec's fields as text, by name.

    Returns:
        A noun phrase that describes the mechanism.
    """
    coordinates = "coordinate" if fields["dimension"] == "1" else "coordinates"
    return (
        f"Skellam noise of variance {fields['variance']} on each of {fields['dimension']} integer {coordinates};"
        f" sensitivities in steps of the grid: ℓ1 {fields['l1_sensitivity']}, ℓ2 {fields['l2_sensitivity']}"
    )


THEOREMS: tuple[Theorem, ...] = (EXACT, ENCLOSED)
RULES: tuple[Rule, ...] = (Rule(EXACT, "skellam", exact), Rule(ENCLOSED, "skellam", enclosure))
KIND = MechanismKind(
    sentence=sentence,
    at_noise=lambda noise: Skellam(variance=4.0 * noise * noise, l1_sensitivity=2.0, l2_sensitivity=2.0, dimension=1),
    concentration=concentration,
)
