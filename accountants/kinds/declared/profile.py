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
    """Return the pair that dominates every mechanism with given upper bounds on its privacy profile.

    A dominating pair is two distributions with a hockey-stick divergence that bounds δ at every ε.

    Args:
        points: points (ε, log10 δ) of the direction with the unit against without it, in increasing ε.
        reverse: points of the other direction; if None, `points` hold in both directions.
    """
    pair = points_pair(_natural(points), None if reverse is None else _natural(reverse))
    # From the last point on, δ is constant. This level is stored exactly, unless it is tiny.
    last = [points[-1], *([] if reverse is None else [reverse[-1]])]
    log10_delta = max(log10_delta for _, log10_delta in last)
    if log10_delta < LEAST_PLATEAU:
        return pair
    with localcontext(Context(prec=60)):
        delta = Fraction(Decimal(10) ** Decimal(log10_delta)) * (1 + Fraction(1, 10**50))
    return with_plateau(pair, Plateau(max(epsilon for epsilon, _ in last), min(delta, Fraction(1))))


def _natural(points: Iterable[tuple[float, float]]) -> list[ProfilePoint]:
    """Return points with the natural logarithm of δ, rounded up: the product has two errors of half a unit."""
    return [
        ProfilePoint(epsilon, min(math.nextafter(math.nextafter(log10_delta * LOG_10, 0.0), 0.0), 0.0))
        for epsilon, log10_delta in points
    ]


def delta_between(inputs: ProfileInputs) -> Outputs:
    """Compute δ at ε in the worse direction, rounded up."""
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
        spec: specification of the mechanism, with points (ε, log10 δ).
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.

    Returns:
        The guarantee, on the condition that the declared points are true.
    """
    points, reverse = spec.points, spec.reverse
    # Replace-one is symmetric, so both lists of points hold in both directions.
    if case.setting.relation == "replace-one" and reverse is not None:
        points, reverse = tuple(sorted({*points, *reverse})), None
    return Guarantee(
        setting=case.setting,
        curve=Curve(profile_pair(points, reverse)),
        derivation=POINTS_PAIR.because(points=len(points), reverse=len(reverse or ())),
        declared=(AS_DECLARED,),
    )


def laplace_like(noise: float) -> DeclaredProfile:
    """Return points of the profile of Laplace noise of this scale: δ(ε) = 1 − e^{(ε − s)/2} with s = 1/scale."""
    shares = (0.0, 0.25, 0.5, 0.75, 0.99)
    points = [(share / noise, math.log10(-math.expm1(0.5 * (share - 1.0) / noise))) for share in shares]
    return DeclaredProfile(points=(*points, (1.0 / noise, -300.0)))


def describe_points(fields: Mapping[str, str]) -> str:
    """Describe the spec with all its points."""
    text = f"a mechanism of which only points [ε, log10 δ] of its privacy profile are known: {fields['points']}"
    return f"{text}, and in the other direction {fields['reverse']}" if "reverse" in fields else text


THEOREMS: tuple[Theorem, ...] = (POINTS_PAIR,)
RULES: tuple[Rule, ...] = (Rule(POINTS_PAIR, "profile", declared_profile),)
KIND = MechanismKind(sentence=describe_points, at_noise=laplace_like)
