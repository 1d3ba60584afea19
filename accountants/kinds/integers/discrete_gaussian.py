"""The discrete Gaussian mechanism: exactly in one dimension, and enclosed in several."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.formula import formula
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.kinds.declared.approximate import AT_EPSILON
from epsilond.accountants.kinds.kind import Concentration, MechanismKind
from epsilond.accountants.numerics.outward import round_up
from epsilond.accountants.profiles.concentrated import concentrated_pair
from epsilond.accountants.profiles.integers.allowed_shifts import (
    Parts,
    ShiftBounds,
    concentrated_shift,
    spread_shift,
)
from epsilond.accountants.profiles.integers.discrete_gaussian import discrete_gaussian_pairs
from epsilond.accountants.quantities import delta_outputs
from epsilond.accountants.rule import Case, Effort, Refusal, Rule
from epsilond.accountants.specs import DiscreteGaussian
from epsilond.accountants.structure import ANY_INTEGERS
from epsilond.accountants.theorem import Outputs, Source, Status, Theorem

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair


def bounds_of(spec: DiscreteGaussian) -> ShiftBounds:
    """Return the bounds on the difference of the integer vectors of two neighbours, from the ℓ2 sensitivity.

    Args:
        spec: the mechanism.

    Returns:
        Bounds on the squared ℓ2 norm and the ℓ1 norm, in grid steps.
    """
    return ShiftBounds.of(spec.l2_sensitivity, spec.dimension)


def exact_rho(spec: DiscreteGaussian) -> Fraction:
    """Return the ρ of zero-concentrated privacy as a rational number: Δ²/2σ².

    Δ² is the largest squared ℓ2 norm of an integer vector within the sensitivity, and σ is the scale of the noise.

    Args:
        spec: the mechanism.

    Returns:
        ρ without rounding.
    """
    return Fraction(bounds_of(spec).square) / (2 * Fraction(spec.scale) ** 2)


def concentration(spec: DiscreteGaussian) -> float:
    """Return ρ of zero-concentrated privacy, rounded up."""
    return round_up(exact_rho(spec))


def shifted_pair(scale: float, parts: Parts, effort: Effort, *, attained: bool) -> Pair:
    """Return a pair of distributions: discrete Gaussian noise, and the noise shifted by an integer vector.

    The noise is on several coordinates. They are independent, so the pair is the composition of the pairs of single
    coordinates.

    Args:
        scale: scale σ of the noise, about its standard deviation, in grid steps.
        parts: sizes of the coordinates of the shift, each with the number of coordinates of this size.
        effort: limit on the work of the composition over coordinates.
        attained: whether the pair is for lower bounds on δ. Otherwise it is a dominating pair, for upper bounds.

    Returns:
        The pair of all coordinates; two equal distributions without a shift.
    """
    pairs = []
    for size, count in parts:
        bounds = discrete_gaussian_pairs(scale, size)
        pairs.append((bounds.attained if attained else bounds.upper, count))
    if not pairs:
        pairs = [(discrete_gaussian_pairs(scale, 0).upper, 1)]
    return composed_pair(pairs, effort)


@formula(given="The mechanism, and the ε' at which δ is bounded.")
def bounds_on_delta(*, noise: DiscreteGaussian, at_epsilon: Annotated[float, AT_EPSILON]) -> Outputs:
    """Compute ρ of zero-concentrated privacy, and bounds on δ at ε' if one coordinate has the largest shift.

    A shift is the difference of the integers of two neighbours. In one dimension these are the bounds on δ of the
    mechanism.

    Args:
        noise: the mechanism, with the scale of its noise and its ℓ2 sensitivity.
        at_epsilon: ε' at which δ is bounded, in nats.

    Returns:
        `shift` in grid steps, `zcdp_rho`, and both bounds with their decimal logarithms.
    """
    bounds = bounds_of(noise)
    pairs = discrete_gaussian_pairs(noise.scale, bounds.largest)
    upper = pairs.upper.log_delta_bounds(at_epsilon).upper
    lower = pairs.attained.log_delta_bounds(at_epsilon).lower
    return {
        "shift": bounds.largest,
        "zcdp_rho": concentration(noise),
        **delta_outputs(upper, "delta_of_one_coordinate"),
        **delta_outputs(lower, "lower_delta_of_one_coordinate"),
    }


_EXAMPLE = {"scale": 3.0, "l2_sensitivity": 2.0, "dimension": 1}
EXACT = Theorem(
    id="epsilond.discrete-gaussian",
    title="The discrete Gaussian mechanism, exactly",
    statement=(
        "In one dimension the shift by the largest integer k ≤ Δ₂ is worst at every ε: losses (k/σ²)(k/2 − y). "
        "In d dimensions with Δ₂² < 4 the worst shift has min(d, ⌊Δ₂²⌋) coordinates of 1"
    ),
    source=Source("epsilond", "docs/integer-noise.md, One coordinate"),
    status=Status.PROVED,
    conditions=(ANY_INTEGERS,),
    formula=bounds_on_delta,
    examples=({**_EXAMPLE, "at_epsilon": 1.0}, {**_EXAMPLE, "scale": 0.5, "at_epsilon": 0.0}),
)
CONCENTRATED = Theorem(
    id="canonne-kamath-steinke-2020.4",
    title="The discrete Gaussian mechanism in several dimensions",
    statement=(
        "Noise of scale σ on each of several integers of ℓ2 sensitivity Δ is Δ²/(2σ²)-zCDP. The lower bounds are those "
        "of two admitted shifts, with few large and with many small coordinates"
    ),
    source=Source("canonne2020discrete", "Theorem 4, on each coordinate"),
    status=Status.PROVED,
    conditions=(ANY_INTEGERS,),
)


def exact(spec: DiscreteGaussian, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of the discrete Gaussian mechanism by the shift that is worst in every coordinate.

    A shift is the difference of the integer vectors of two neighbours.

    Args:
        spec: the mechanism, with its scale and ℓ2 sensitivity.
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.

    Returns:
        The guarantee, which neighbours attain. If no allowed shift is worst in every coordinate, it is a refusal, which
        says why the theorem does not apply.
    """
    worst_shift = bounds_of(spec).worst
    if worst_shift is None:
        return Refusal(EXACT, "no integer shift within the ℓ2 bound is larger than all others in every coordinate")
    upper = shifted_pair(spec.scale, worst_shift, case.effort, attained=False)
    attained = shifted_pair(spec.scale, worst_shift, case.effort, attained=True)
    size, coordinates = worst_shift[0] if worst_shift else (0, 0)
    step = EXACT.because(scale=spec.scale, shift=size, coordinates=coordinates)
    return Guarantee(setting=case.setting, curve=Curve(upper, (attained,)), derivation=step, declared=(ANY_INTEGERS,))


def concentration_bound(spec: DiscreteGaussian, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of the discrete Gaussian mechanism by zero-concentrated privacy.

    A mechanism is ρ-zero-concentrated if its Rényi divergence of each order a is at most ρ a. Here ρ is Δ²/2σ², with
    ℓ2 sensitivity Δ and scale σ. A shift is the difference of two neighbours' integers. The lower bounds are those of
    two shifts that the sensitivity allows.

    Args:
        spec: the mechanism, with its scale and ℓ2 sensitivity.
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.

    Returns:
        The guarantee; a refusal if ρ exceeds `LARGEST_RHO`.
    """
    rho = concentration(spec)
    if rho > LARGEST_RHO:
        return Refusal(CONCENTRATED, f"ρ = {rho:g} is more than {LARGEST_RHO:g}")
    bounds = bounds_of(spec)
    # A shift with few large coordinates, and one with many small ones. They may be equal.
    shifts = tuple(dict.fromkeys((concentrated_shift(bounds), spread_shift(bounds))))
    witnesses = tuple(shifted_pair(spec.scale, parts, case.effort, attained=True) for parts in shifts)
    return Guarantee(
        setting=case.setting,
        curve=Curve(concentrated_pair(rho), witnesses),
        derivation=CONCENTRATED.because(zcdp_rho=rho),
        declared=(ANY_INTEGERS,),
    )


LARGEST_RHO = 1e9
"""Largest ρ of zCDP [nat] at which the bound is computed."""


def sentence(fields: Mapping[str, str]) -> str:
    """Describe discrete Gaussian noise and its sensitivity in words.

    Args:
        fields: values of the spec's fields as text, by name.

    Returns:
        A noun phrase that describes the mechanism.
    """
    coordinates = "coordinate" if fields["dimension"] == "1" else "coordinates"
    return (
        f"discrete Gaussian noise of scale {fields['scale']} on each of {fields['dimension']} integer {coordinates}"
        f" of ℓ2 sensitivity {fields['l2_sensitivity']} in steps of the grid"
    )


THEOREMS: tuple[Theorem, ...] = (EXACT, CONCENTRATED)
RULES: tuple[Rule, ...] = (
    Rule(EXACT, "discrete_gaussian", exact),
    Rule(CONCENTRATED, "discrete_gaussian", concentration_bound),
)
KIND = MechanismKind(
    sentence=sentence,
    at_noise=lambda noise: DiscreteGaussian(scale=2.0 * noise, l2_sensitivity=2.0, dimension=1),
    concentration=lambda spec: Concentration(rho=exact_rho(spec)),
)
