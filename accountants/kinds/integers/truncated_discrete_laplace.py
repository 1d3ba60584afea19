"""The truncated discrete Laplace mechanism: exact for bounds on the ℓ1 and ℓ∞ distance, and a bound that uses ℓ2.

The worst integer shift of ℓ1 norm at most Δ₁ with coordinates at most Δ∞ has q coordinates K and one remainder r, at
every ε; outputs are independent over coordinates, so the mechanism is the composition of one-coordinate pairs. Proofs:
docs/shifted-noise.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.least import least_of
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import formula
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.kinds.kind import MechanismKind
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.concentrated import concentrated_pair, log_escape_of
from epsilond.accountants.profiles.geometric import GeometricProfile, geometric_pair
from epsilond.accountants.quantities import Epsilon, Rounds, delta_outputs
from epsilond.accountants.rule import Case, Effort, Refusal, Rule
from epsilond.accountants.specs import TruncatedDiscreteLaplace
from epsilond.accountants.structure import ANY_INTEGERS
from epsilond.accountants.theorem import Outputs, Source, Status, Theorem

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair


class Shift(NamedTuple):
    """A difference of two neighbours' integer vectors: several coordinates of one size, and one remainder.

    Attributes:
        coordinates: number of coordinates that differ by `size`.
        size: difference of each of them, in grid steps.
        remainder: difference of one more coordinate, in grid steps.
    """

    coordinates: int
    size: int
    remainder: int

    @property
    def parts(self) -> tuple[tuple[int, int], ...]:
        """Sizes of the coordinates that differ, each with the number of coordinates."""
        parts = ((self.size, self.coordinates), (self.remainder, 1))
        return tuple((size, count) for size, count in parts if size > 0 and count > 0)

    @property
    def square(self) -> int:
        """The squared ℓ2 norm."""
        return sum(count * size * size for size, count in self.parts)

    @property
    def total(self) -> int:
        """The ℓ1 norm."""
        return sum(count * size for size, count in self.parts)


def largest_shift(*, dimension: int, l1: int, linf: int, square: int | None = None) -> Shift:
    """Return the shift with as many coordinates of the largest size as the norms allow, and a remainder.

    A shift is the difference of two neighbours' integers. Without a bound on the ℓ2 norm, this shift majorises every
    shift within the norms, and so reveals most. With such a bound it is only one of the allowed shifts.

    Args:
        dimension: number of coordinates, at least 1.
        l1: bound on the ℓ1 norm, in grid steps.
        linf: bound on the ℓ∞ norm, in grid steps.
        square: bound on the squared ℓ2 norm; None without a bound.

    Returns:
        The sizes of its coordinates, in grid steps, with their numbers.
    """
    size = min(linf, l1)
    if square is not None:
        size = min(size, math.isqrt(square))
    if size == 0:
        return Shift(0, 0, 0)

    count = min(dimension, l1 // size)
    if square is not None:
        count = min(count, square // size**2)

    # One further coordinate takes what is left of the norms.
    remainder = min(size, l1 - count * size) if count < dimension else 0
    if square is not None:
        remainder = min(remainder, math.isqrt(square - count * size**2))
    return Shift(count, size, remainder)


def worst_shift(spec: TruncatedDiscreteLaplace) -> Shift:
    """Return the difference of two neighbours' integers that reveals most within the ℓ1 and ℓ∞ sensitivities.

    A bound on the ℓ2 norm is used only as far as it implies smaller ℓ1 and ℓ∞ bounds.

    Args:
        spec: the noise, and the sensitivities in grid steps.

    Returns:
        The shift; all its sizes are 0 if the sensitivities are below 1.
    """
    l1, linf = math.floor(spec.l1_sensitivity), math.floor(spec.linf_sensitivity)
    square = squared_bound(spec)
    if square is not None:
        # By Cauchy and Schwarz ℓ1 ≤ √d ℓ2 for d coordinates, and ℓ∞ ≤ ℓ2.
        l1 = min(l1, math.isqrt(spec.dimension * square))
        linf = min(linf, math.isqrt(square))
    return largest_shift(dimension=spec.dimension, l1=l1, linf=linf)


def squared_bound(spec: TruncatedDiscreteLaplace) -> int | None:
    """Return the largest squared ℓ2 norm of an integer shift that the ℓ2 sensitivity allows.

    Args:
        spec: the noise, and the sensitivities in grid steps.

    Returns:
        The exact bound in squared grid steps; None if no ℓ2 sensitivity is stated.
    """
    if spec.l2_sensitivity is None:
        return None
    return math.floor(Fraction(spec.l2_sensitivity) ** 2)


def allowed_shifts(spec: TruncatedDiscreteLaplace, square: int) -> tuple[Shift, ...]:
    """Return one or two shifts within the bounds on all three norms, for lower bounds on δ.

    A shift is the difference of the integers on two neighbours. The first has the largest possible coordinates. It
    tends to maximise the probability of an output that the neighbour cannot give. The second has the largest ℓ1 norm
    among shifts with coordinates of size 1, 2, 4, … and the largest size. It has the largest finite loss of these.

    Args:
        spec: the noise, and the sensitivities in grid steps.
        square: bound on the squared ℓ2 norm.

    Returns:
        The shifts, each once.
    """
    l1, linf = math.floor(spec.l1_sensitivity), math.floor(spec.linf_sensitivity)
    powers_of_two = {min(linf, 2**power) for power in range(max(linf, 1).bit_length())}
    sizes = powers_of_two | {linf}
    shifts = {size: largest_shift(dimension=spec.dimension, l1=l1, linf=size, square=square) for size in sorted(sizes)}
    longest = max(shifts.values(), key=lambda shift: (shift.total, shift.square))
    return tuple(dict.fromkeys((shifts[linf], longest)))


def shifted_pair(spec: TruncatedDiscreteLaplace, shift: Shift, effort: Effort) -> Pair:
    """Return a pair of distributions: the noise, and the noise shifted by an integer vector.

    The coordinates are independent, so the pair is the composition of the pairs of single coordinates.

    Args:
        spec: the noise, with its decay rate and its largest value.
        shift: integer shift, as the sizes of its coordinates with their numbers.
        effort: limit on the work of the composition over coordinates.

    Returns:
        The pair of all coordinates.
    """
    parts = [(geometric_pair(spec.decay_rate, size, spec.noise_levels), count) for size, count in shift.parts]
    return composed_pair(parts, effort)


def log_survival_and_escape(spec: TruncatedDiscreteLaplace, shift: Shift, rounds: int = 1) -> tuple[float, float]:
    """Return log S and a bound on log(1 − S), where S is the probability that the neighbour can give all outputs.

    An output that the neighbour cannot give is an escape. It reveals the data set with certainty.

    Args:
        spec: the noise, with its decay rate and its largest value.
        shift: integer difference of the neighbours.
        rounds: number of independent rounds, at least 1.

    Returns:
        The natural logarithm of S, and an upper bound on that of 1 − S, which is −∞ if no output is an escape.
    """
    # The rounds and the coordinates are independent, so their probabilities multiply.
    log_survivals, log_escapes = [], []
    for size, coordinates in shift.parts:
        profile = GeometricProfile(spec.decay_rate, size, spec.noise_levels)
        count = coordinates * rounds
        log_survivals.append(count * profile.log_survival)
        log_escapes.append(math.log(count) + profile.log_infinite_mass)
    log_survival = math.fsum(log_survivals)
    return log_survival, log_escape_of(log_survival, log_escapes)


def escape(inputs: TruncatedDiscreteLaplace) -> Outputs:
    """Compute the shift that reveals most, and the probability 1 − S of an output that the neighbour cannot give.

    A shift is the difference of the integers of two neighbours.

    Args:
        inputs: the noise, and the sensitivities in grid steps.

    Returns:
        `shifted_coordinates`, `shift`, `remainder`: the shift has this many coordinates of size `shift`, and one of
        size `remainder`, in grid steps.
        `epsilon`: the ε from which on δ is constant, equal to 1 − S.
        Further this δ with its decimal logarithm, and log10 S.
    """
    shift = worst_shift(inputs)
    log_survival, log_escape = log_survival_and_escape(inputs, shift)
    return {
        "shifted_coordinates": shift.coordinates,
        "shift": shift.size,
        "remainder": shift.remainder,
        "epsilon": inputs.decay_rate * shift.total,
        **delta_outputs(log_escape),
        "log10_one_minus_delta": log_survival / math.log(10.0),
    }


@formula(given="The noise, the sensitivities, the number of rounds, and the ε at which δ is computed.")
def by_distance(*, noise: TruncatedDiscreteLaplace, epsilon: Epsilon, rounds: Rounds = 1) -> Outputs:
    """Compute a bound on δ at ε of all rounds, by zero-concentrated differential privacy.

    An output escapes if the neighbour cannot give it. Its loss is infinite. All other outputs satisfy ρ-zCDP, with
    ρ = R α²Δ₂²/2 for R rounds, decay rate α and ℓ2 sensitivity Δ₂.

    Args:
        noise: the noise and the sensitivities, of which the ℓ2 sensitivity is required.
        epsilon: ε at which δ is computed, in nats.
        rounds: number of rounds.

    Returns:
        `zcdp_rho` (ρ), the probability of an escape, and the bound on δ, each of all rounds.

    Raises:
        InvalidInput: there is no ℓ2 sensitivity, or ρ is out of range.
    """
    square = squared_bound(noise)
    if square is None:
        raise InvalidInput.at("/l2_sensitivity", "is required by this bound")
    shift = worst_shift(noise)
    if shift.total == 0:
        return {"zcdp_rho": 0.0, **delta_outputs(-math.inf, "escape"), **delta_outputs(-math.inf)}

    # Rounded up: the last factor exceeds the roundings of the square and of the products, at most one unit each.
    rho = 0.5 * noise.decay_rate**2 * min(square, shift.square) * rounds * (1 + 8 * UNIT_ROUNDOFF)
    if not 0.0 < rho <= LARGEST_RHO:
        raise InvalidInput.at("/rounds", "make a zCDP ρ that no bound is computed for", allowed=f"ρ ≤ {LARGEST_RHO:g}")
    log_survival, log_escape = log_survival_and_escape(noise, shift, rounds)
    pair = concentrated_pair(rho, log_survival, log_escape)
    log_delta = min(pair.log_delta_bounds(epsilon).upper, 0.0)
    return {"zcdp_rho": rho, **delta_outputs(log_escape, "escape"), **delta_outputs(log_delta)}


LARGEST_RHO = 1e9
"""Largest ρ of zCDP [nat] at which the bound is computed."""
_EXAMPLE = {"noise_levels": 113, "decay_rate": 0.0625, "dimension": 30, "l1_sensitivity": 30.0, "linf_sensitivity": 1.0}
EXACT = Theorem(
    id="epsilond.truncated-discrete-laplace",
    title="The truncated discrete Laplace mechanism, exactly",
    statement=(
        "Among integer shifts of ℓ1 norm ≤ Δ₁ and coordinates ≤ Δ∞ the one with q = min(d, Δ₁ div K) coordinates K = "
        "min(Δ₁, Δ∞) and a remainder r is worst at every ε. From αΔ₁ on, δ = 1 − (1 − esc K)^q (1 − esc r)"
    ),
    source=Source("epsilond", "docs/shifted-noise.md, One axis is worst, and Outputs that escape"),
    status=Status.PROVED,
    conditions=(ANY_INTEGERS,),
    inputs=TruncatedDiscreteLaplace,
    formula=escape,
    examples=(_EXAMPLE,),
)
BY_L2 = Theorem(
    id="epsilond.truncated-discrete-laplace-l2",
    title="The truncated discrete Laplace mechanism, with a bound on the ℓ2 distance",
    statement=(
        "Given that both neighbours could have given the output, a coordinate shifted by k is αk-differentially "
        "private. All coordinates together are then α²Δ₂²/2-zCDP: δ ≤ 1 − S + S δ_zCDP(ε). Over rounds ρ adds and S "
        "multiplies"
    ),
    source=Source("epsilond", "docs/shifted-noise.md; Bun and Steinke 2016, Proposition 1.4 and Lemma 1.7"),
    status=Status.PROVED,
    conditions=(ANY_INTEGERS,),
    formula=by_distance,
    examples=({**_EXAMPLE, "l2_sensitivity": 3.0, "epsilon": 2.0, "rounds": 10},),
)


def exact(spec: TruncatedDiscreteLaplace, case: Case) -> Guarantee:
    """Return the guarantee of truncated discrete Laplace noise by the worst shift within the ℓ1 and ℓ∞ bounds.

    A shift is the difference of two neighbours' integers. If the ℓ2 bound allows the worst shift, neighbours attain it,
    and the guarantee is exact. Otherwise the lower bounds are those of `allowed_shifts`.

    Args:
        spec: specification of the mechanism, with the noise and the sensitivities in grid steps.
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.

    Returns:
        The guarantee, with the condition on the integers.
    """
    worst = worst_shift(spec)
    square = squared_bound(spec)
    pair = shifted_pair(spec, worst, case.effort)
    attained: tuple[Pair, ...] = (pair,)
    if square is not None and square < worst.square:
        # The ℓ2 bound excludes the worst shift.
        attained = tuple(shifted_pair(spec, shift, case.effort) for shift in allowed_shifts(spec, square))
    step = EXACT.because(coordinates=worst.coordinates, shift=worst.size, remainder=worst.remainder)
    return Guarantee(setting=case.setting, curve=Curve(pair, attained), derivation=step, declared=(ANY_INTEGERS,))


def by_l2(spec: TruncatedDiscreteLaplace, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of truncated discrete Laplace noise by the least of two upper bounds.

    The first bound is that of `exact`, for the worst difference of two neighbours by the ℓ1 and ℓ∞ sensitivities. The
    second one uses the ℓ2 sensitivity Δ₂. If the outputs that only one neighbour can give are left out, noise of decay
    rate α satisfies α²Δ₂²/2-zero-concentrated privacy (zCDP). Their probability is added as an infinite loss.

    Args:
        spec: the noise, and the sensitivities in grid steps.
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.

    Returns:
        The guarantee; a refusal if no ℓ2 sensitivity is stated, or if the worst difference of `exact` is within it.
    """
    worst, square = worst_shift(spec), squared_bound(spec)
    if square is None or square >= worst.square:
        return Refusal(BY_L2, "there is no bound on the ℓ2 distance, or the others imply it")
    by_worst_shift = exact(spec, case)
    # Rounded up: the last factor exceeds the roundings of the square and of the products, at most one unit each.
    rho = 0.5 * spec.decay_rate**2 * square * (1 + 4 * UNIT_ROUNDOFF)
    log_survival, log_escape = log_survival_and_escape(spec, worst)
    by_concentration = concentrated_pair(rho, log_survival, log_escape)
    # The differences for which `exact` has lower bounds are within all three sensitivities, so these remain valid.
    upper = least_of([by_worst_shift.curve.upper, by_concentration])
    return Guarantee(
        setting=case.setting,
        curve=Curve(upper, by_worst_shift.curve.witnesses),
        derivation=BY_L2.because(by_worst_shift.derivation, zcdp_rho=rho),
        declared=by_worst_shift.declared,
    )


def sentence(fields: Mapping[str, str]) -> str:
    """Describe truncated discrete Laplace noise and its sensitivities in words.

    Args:
        fields: values of the spec's fields as text, by name. A sensitivity without a value is left out.

    Returns:
        A noun phrase that describes the mechanism.
    """
    names_by_norm = {"ℓ1": "l1_sensitivity", "ℓ∞": "linf_sensitivity", "ℓ2": "l2_sensitivity"}
    sensitivities = [f"{norm} {fields[name]}" for norm, name in names_by_norm.items() if name in fields]
    coordinates = "coordinate" if fields["dimension"] == "1" else "coordinates"
    return (
        f"truncated discrete Laplace noise of decay rate {fields['decay_rate']},"
        f" at most {fields['noise_levels']} steps either way, on each of {fields['dimension']} {coordinates};"
        f" sensitivities in steps of the grid: {', '.join(sensitivities)}"
    )


def at_noise(noise: float) -> TruncatedDiscreteLaplace:
    """Return an example with noise of a given scale, on three coordinates.

    Args:
        noise: reciprocal of the decay rate, in grid steps.

    Returns:
        The example.
    """
    return TruncatedDiscreteLaplace(
        noise_levels=300, decay_rate=1.0 / noise, dimension=3, l1_sensitivity=5.0, linf_sensitivity=2.0
    )


THEOREMS: tuple[Theorem, ...] = (EXACT, BY_L2)
RULES: tuple[Rule, ...] = (
    Rule(BY_L2, "truncated_discrete_laplace", by_l2),
    Rule(EXACT, "truncated_discrete_laplace", exact),
)
KIND = MechanismKind(sentence=sentence, at_noise=at_noise)
