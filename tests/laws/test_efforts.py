"""Enclosures of different efforts concern one pair: for every kind and form they intersect, and no witness is above.

Forms are such that the pair of a product is used in a further product, or in the table of a theorem.
"""

from __future__ import annotations

from typing import Any, get_args

import pytest

from epsilond.accountants.account import account
from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.errors import InvalidInput, NoCertificate
from epsilond.accountants.quantities import Relation
from epsilond.accountants.rule import Effort
from epsilond.accountants.specs import (
    Composed,
    DiscreteGaussian,
    Gaussian,
    Laplace,
    PoissonRepetitions,
    RandomAllocation,
    Repeated,
    SelectBest,
    Zcdp,
)
from tests.laws.test_hostile_instances import LEAVES, fixed, often, poisson, truncated

EPSILONS = (0.0, 1e-9, 0.1, 1.0, 10.0, 100.0)
ROUNDING = 1e-11
"""Roundings of log δ, per unit of 1 + |log δ|."""
QUICK: tuple[Effort, ...] = ("coarse", "default")


def with_noise(mechanism: Any) -> Any:
    """Return a composition with a Laplace mechanism. Its dominating pair is a product."""
    return Composed(mechanisms=(mechanism, Laplace(scale_multiplier=5.0)))


def with_divergences(mechanism: Any) -> Any:
    """Return a composition that is known by divergences, too, if the mechanism is."""
    return Composed(mechanisms=(mechanism, Zcdp(rho=0.01)))


FORMS: dict[str, Any] = {
    "many": lambda leaf: Repeated(times=100_000, mechanism=leaf),
    "batches of products": lambda leaf: Repeated(times=5, mechanism=poisson(with_noise(leaf), 0.1)),
    "rare batches": lambda leaf: Repeated(times=1000, mechanism=poisson(with_noise(leaf), 1e-6)),
    "nearly full batches": lambda leaf: Repeated(times=3, mechanism=poisson(with_noise(leaf), 1.0 - 1e-9)),
    "nested": lambda leaf: Repeated(
        times=3, mechanism=poisson(Repeated(times=4, mechanism=poisson(with_noise(leaf), 0.5)), 0.1)
    ),
    "drawn": lambda leaf: Repeated(times=5, mechanism=fixed(2, 20, with_divergences(leaf))),
    "drawn with replacement": lambda leaf: Repeated(times=5, mechanism=often(2, 20, leaf)),
    "truncated": lambda leaf: Repeated(times=5, mechanism=truncated(3, 20, leaf, 0.1)),
    "allocated": lambda leaf: Repeated(
        times=3,
        mechanism=RandomAllocation(steps=5, times_chosen=1, kept=False, epochs=2, mechanism=leaf),
    ),
    "allocated products": lambda leaf: RandomAllocation(
        steps=5, times_chosen=1, kept=False, epochs=2, mechanism=with_noise(leaf)
    ),
    "best of products": lambda leaf: SelectBest(
        mechanism=Repeated(times=3, mechanism=poisson(with_noise(leaf), 0.1)), repetitions=PoissonRepetitions(mean=3.0)
    ),
}


def curve_of(spec: Any, relation: Relation, effort: Effort) -> Curve | None:
    """Return the curve of a spec; None if it is refused."""
    try:
        return account(spec, relation=relation, effort=effort).guarantee.curve
    except NoCertificate:
        return None


def check(spec: Any, efforts: tuple[Effort, ...] = QUICK) -> None:
    """Compare the bounds of several efforts, under every relation that is covered."""
    for relation in get_args(Relation):
        curves = [curve for effort in efforts if (curve := curve_of(spec, relation, effort)) is not None]
        if len(curves) < len(efforts):
            continue
        for epsilon in EPSILONS:
            bounds = [curve.bound_log_delta(epsilon) for curve in curves]
            attained = [curve.log_delta(epsilon) for curve in curves]
            assert all(lower <= upper <= 0.0 for lower, upper in [*bounds, *attained])
            least = min(upper for _, upper in [*bounds, *attained])
            most = max(lower for lower, _ in [*bounds, *attained])
            assert most <= least or most <= least + ROUNDING * (1.0 + abs(least)), (relation, epsilon, bounds, attained)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", LEAVES)
def test_enclosures_of_every_kind_and_form_intersect(kind: str, form: str) -> None:
    try:
        spec = FORMS[form](LEAVES[kind])
    except InvalidInput:
        pytest.skip("the form does not take the kind")
    check(spec)


def test_the_best_of_products_has_one_pair_at_every_effort() -> None:
    noise = DiscreteGaussian(scale=3.0, l2_sensitivity=1.0, dimension=1)
    spec = SelectBest(
        mechanism=Repeated(times=10, mechanism=poisson(noise, 0.1)), repetitions=PoissonRepetitions(mean=5.0)
    )
    curves = [curve_of(spec, "add-or-remove-one", each) for each in QUICK]
    for epsilon in (0.0, 0.3, 1.0):
        first, second = (curve.bound_log_delta(epsilon) for curve in curves if curve is not None)
        assert first == second


def test_an_allocated_record_that_is_replaced_composes_to_bounds_that_intersect() -> None:
    release = RandomAllocation(steps=8, times_chosen=1, kept=False, epochs=1, mechanism=Gaussian(noise_multiplier=1.0))
    check(Repeated(times=3, mechanism=release))
