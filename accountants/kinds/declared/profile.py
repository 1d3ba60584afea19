"""A mechanism that is known only by upper bounds on its privacy profile."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Annotated

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.pair import Pair, with_plateau
from epsilond.accountants.curve.plateaus import Plateau
from epsilond.accountants.guarantee import LOG_10, Guarantee
from epsilond.accountants.kinds.kind import MechanismKind
from epsilond.accountants.profiles.declared.points import ProfilePoint, points_pair
from epsilond.accountants.quantities import AnyEpsilon, delta_outputs, request
from epsilond.accountants.rule import Case, Rule
from epsilond.accountants.specs import DeclaredProfile
from epsilond.accountants.specs.declared.profile import POINTS, REVERSE, ProfilePoints
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem

LEAST_PLATEAU = -1000.0
"""log10 δ below which the last point is not kept as a rational number, whose digits would be too many."""


@request
class ProfileInputs:
    """Points of a privacy profile, and the ε at which δ is computed."""

    points: Annotated[ProfilePoints, POINTS]
    reverse: Annotated[ProfilePoints | None, REVERSE] = None
    epsilon: AnyEpsilon

    def check(self) -> None:
        """Check the points, as for the spec `profile`.

        Raises:
            InvalidInput: a list is empty, too long, not in order, or has a number out of range.
        """
        DeclaredProfile(points=self.points, reverse=self.reverse)


def profile_pair(points: ProfilePoints, reverse: ProfilePoints | None) -> Pair:
    """Return a pair of distributions that dominates every mechanism with given upper bounds on its privacy profile.

    The privacy profile is δ as a function of ε. The hockey-stick divergence of the pair is at least the δ of each such
    mechanism at every ε.

    Args:
        points: points (ε, log10 δ) in increasing ε, for the outputs with the protected unit against those without it.
        reverse: points of the other direction; if None, `points` hold in both directions.

    Returns:
        The pair. It also has the bound on δ from the last point on as a fraction, unless this bound is tiny.
    """
    natural_reverse = None if reverse is None else _natural(reverse)
    pair = points_pair(_natural(points), natural_reverse)

    # From the last points on, the bound on δ is constant. A fraction of a tiny bound would have too many digits.
    last_points = [points[-1]]
    if reverse is not None:
        last_points.append(reverse[-1])
    log10_delta = max(log10_delta for _, log10_delta in last_points)
    if log10_delta < LEAST_PLATEAU:
        return pair
    last_epsilon = max(epsilon for epsilon, _ in last_points)
    # The power of ten is computed to 60 digits and raised by more than its error.
    with localcontext(Context(prec=60)):
        delta = Fraction(Decimal(10) ** Decimal(log10_delta)) * (1 + Fraction(1, 10**50))
    return with_plateau(pair, Plateau(last_epsilon, min(delta, Fraction(1))))


def _natural(points: Iterable[tuple[float, float]]) -> list[ProfilePoint]:
    """Return points of a profile with the natural logarithm of δ, rounded up.

    Args:
        points: points (ε, log10 δ).

    Returns:
        Points (ε, ln δ) in the same order.
    """
    natural_points = []
    for epsilon, log10_delta in points:
        # The double of ln 10 and the product have an error of at most half a unit each. Two steps up cover both.
        log_delta = math.nextafter(math.nextafter(log10_delta * LOG_10, 0.0), 0.0)
        natural_points.append(ProfilePoint(epsilon, min(log_delta, 0.0)))
    return natural_points


def delta_between(inputs: ProfileInputs) -> Outputs:
    """Compute an upper bound on δ(ε) of every mechanism with a privacy profile that is known at some points.

    Between two points the bound is a line in e^ε. The larger bound of both directions is returned.

    Args:
        inputs: points of the profile, and ε.

    Returns:
        The bound on δ, rounded up, and its decimal logarithm.
    """
    return delta_outputs(profile_pair(inputs.points, inputs.reverse).upper_log_delta(inputs.epsilon))


AS_DECLARED = Condition(
    "profile-as-declared", "δ of the mechanism is at most the given one at each ε, in the request's relation and unit"
)
POINTS_PAIR = Theorem(
    id="epsilond.profile-points",
    title="The pair of a privacy profile that is known at finitely many points",
    statement=(
        "A profile is convex in γ = e^ε, 1 at γ = 0, and fixed by that of the other direction at 1/γ. So it is at most "
        "the greatest convex function below the points of both directions. This is the profile of a pair with finitely "
        "many losses"
    ),
    source=Source("epsilond", "proof in accountants/profiles/declared/points.py"),
    status=Status.PROVED,
    conditions=(AS_DECLARED,),
    inputs=ProfileInputs,
    formula=delta_between,
    examples=(
        {"points": [[0.0, -0.5], [1.0, -2.0], [3.0, -6.0]], "epsilon": 0.5},
        {"points": [[0.5, -1.0], [2.0, -4.0]], "reverse": [[0.5, -2.0]], "epsilon": 1.0},
    ),
)


def declared_profile(spec: DeclaredProfile, case: Case) -> Guarantee:
    """Return the guarantee of a mechanism of which only upper bounds on its privacy profile are known.

    There is no lower bound on δ, because the mechanism may be better.

    Args:
        spec: the mechanism, with points (ε, log10 δ).
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.

    Returns:
        The guarantee, on the condition that the declared points are true.
    """
    points, reverse = spec.points, spec.reverse
    # Replace-one is symmetric, so both lists of points hold in both directions.
    if case.setting.relation == "replace-one" and reverse is not None:
        points = tuple(sorted({*points, *reverse}))
        reverse = None
    number_of_reverse = 0 if reverse is None else len(reverse)
    return Guarantee(
        setting=case.setting,
        curve=Curve(profile_pair(points, reverse)),
        derivation=POINTS_PAIR.because(points=len(points), reverse=number_of_reverse),
        declared=(AS_DECLARED,),
    )


def laplace_like(noise: float) -> DeclaredProfile:
    """Return an example of a declared privacy profile: six points (ε, log10 δ) of the Laplace mechanism.

    For noise of scale b and sensitivity 1, the profile is δ(ε) = 1 − e^{(ε − 1/b)/2} up to ε = 1/b, and then 0.

    Args:
        noise: scale b of the noise.

    Returns:
        The specification of a mechanism of which these points are known.
    """
    # Values of ε as shares of 1/b. At ε = 1/b, δ is 0 and has no logarithm, so that a tiny δ is declared.
    shares = (0.0, 0.25, 0.5, 0.75, 0.99)
    log10_tiny = -300.0
    points = [(share / noise, math.log10(-math.expm1(0.5 * (share - 1.0) / noise))) for share in shares]
    return DeclaredProfile(points=(*points, (1.0 / noise, log10_tiny)))


def describe_points(fields: Mapping[str, str]) -> str:
    """Describe a mechanism of which points of the privacy profile are known, with all its points.

    Args:
        fields: values of the spec's fields as text, by name.

    Returns:
        A noun phrase that describes the mechanism.
    """
    text = f"a mechanism of which only points [ε, log10 δ] of its privacy profile are known: {fields['points']}"
    if "reverse" not in fields:
        return text
    return f"{text}, and in the other direction {fields['reverse']}"


THEOREMS: tuple[Theorem, ...] = (POINTS_PAIR,)
RULES: tuple[Rule, ...] = (Rule(POINTS_PAIR, "profile", declared_profile),)
KIND = MechanismKind(sentence=describe_points, at_noise=laplace_like)
