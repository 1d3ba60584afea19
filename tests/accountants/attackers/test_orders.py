"""Rényi divergences at given orders, and the smallest μ, of noise with unbounded losses: against sums and densities."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import norm

from epsilond.accountants.account import account
from epsilond.accountants.attackers.concentrated_tails import is_below_gaussian_from, least_mu_from
from epsilond.accountants.attackers.renyi import concentration, renyi_divergence
from epsilond.accountants.attackers.smallest_gaussian import smallest_gaussian
from epsilond.accountants.profiles.allocation.allocation_renyi import AllocationRenyi
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.integers.discrete_gaussian_renyi import DiscreteGaussianRenyi
from epsilond.accountants.profiles.integers.skellam_renyi import SkellamRenyi
from epsilond.accountants.quantities import Relation
from epsilond.accountants.specs import (
    Composed,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    GeometricRepetitions,
    PermuteAndFlip,
    PoissonRepetitions,
    RandomAllocation,
    Repeated,
    SelectBest,
    Skellam,
    Subsampled,
)


def curve(spec: Any, relation: Relation = "add-or-remove-one") -> Any:
    """The privacy curve of a spec."""
    return account(spec, relation=relation).guarantee.curve


def skellam_law(variance: float, reach: int) -> list[Any]:
    """P(0), …, P(reach)."""
    return [mp.exp(-mp.mpf(variance)) * mp.besseli(n, mp.mpf(variance)) for n in range(reach + 1)]


def gaussian_law(scale: float, reach: int) -> list[Any]:
    """P(0), …, P(reach)."""
    weights = [mp.exp(-(mp.mpf(y) ** 2) / (2 * mp.mpf(scale) ** 2)) for y in range(reach + 1)]
    total = weights[0] + 2 * mp.fsum(weights[1:])
    return [weight / total for weight in weights]


def divergence(law: list[Any], shift: int, order: Any) -> Any:
    """The definition, by a sum over all outcomes with a probability that matters."""
    a, reach = mp.mpf(order), len(law) - 1 - shift
    terms = (law[abs(y)] ** a * law[abs(y - shift)] ** (1 - a) for y in range(-reach, reach + 1))
    return mp.log(mp.fsum(terms)) / (a - 1)


@pytest.mark.parametrize(
    ("scale", "shift", "order", "reach"),
    [
        (3.0, 2, 1.5, 300),
        (0.5, 1, 1.5, 60),
        (0.5, 1, 1.001, 60),
        (0.3, 3, 2.2, 60),
        (1.0, 2, 7.7, 90),
        (0.25, 1, 1.0 + 2.0**-40, 30),
        (2.0**-4, 1, 1.5, 20),
        (0.1, 5, 1.02, 40),
        (2.9, 1, 40.3, 400),
    ],
)
def test_discrete_gaussian_noise_is_the_sum(scale: float, shift: int, order: float, reach: int) -> None:
    with mp.workdps(60):
        truth = divergence(gaussian_law(scale, reach), shift, order)
        lower, upper = DiscreteGaussianRenyi(scale, shift).divergence(order)
        assert lower <= truth <= upper
        assert upper - lower <= 1e-9 * truth + 1e-13
        assert truth * (1 + mp.mpf(10) ** -6) > upper


@pytest.mark.parametrize(
    ("variance", "shift", "order", "reach"),
    [
        (9.0, 2, 1.5, 120),
        (9.0, 2, 100.0, 420),
        (9.0, 2, 1.000001, 120),
        (0.3, 1, 4.0, 70),
        (50.0, 3, 20.25, 320),
        (2.0**-20, 1, 3.0, 24),
        (9.0, 2, 1000.0, 3000),
        (1.0, 12, 2.5, 260),
    ],
)
def test_skellam_noise_is_the_sum(variance: float, shift: int, order: float, reach: int) -> None:
    with mp.workdps(50):
        truth = divergence(skellam_law(variance, reach), shift, order)
        lower, upper = SkellamRenyi(variance, shift).divergence(order)
        assert lower <= truth <= upper
        assert upper - lower <= 1e-7 * truth
        assert truth <= SkellamRenyi(variance, shift)._closed_bound(order - 1.0)


@pytest.mark.parametrize(
    ("variance", "shift", "order"),
    [(9.0, 2, 1e6), (2.0**22, 1, 1e6), (9.0, 10**6, 2.0), (2.0**-20, 10**15, 1e6), (2.0**22, 1, 1.0 + 2.0**-52)],
)
def test_far_orders_and_shifts_of_skellam_noise_are_finite(variance: float, shift: int, order: float) -> None:
    lower, upper = SkellamRenyi(variance, shift).divergence(order)
    assert 0.0 <= lower <= upper < math.inf
    # One outcome shows that a closed form is not a constant times too small: y = −n with the loss of n.
    n = shift
    with mp.workdps(30):
        near = mp.log(mp.besseli(n, variance)) if n < 10**7 else None
        if near is not None:
            far = mp.log(mp.besseli(n + shift, variance))
            single = ((near - variance) + (order - 1) * (near - far)) / (order - 1)
            assert single <= upper


@pytest.mark.parametrize(
    ("shift", "steps", "order"), [(0.5, 10, 2), (0.5, 10, 9), (1.0, 3, 5), (0.2, 50, 12), (2.0, 4, 6)]
)
def test_allocations_are_the_multinomial_sum(shift: float, steps: int, order: int) -> None:
    """E[S^a] over all ways to write a as a sum of t exponents, by dynamic programming in fractions of factorials."""
    with mp.workdps(40):
        c = mp.mpf(shift)
        terms = [mp.exp(k * (k - 1) * c * c / 2) / mp.factorial(k) for k in range(order + 1)]
        power = [mp.mpf(1)] + [mp.mpf(0)] * order
        for _ in range(steps):
            power = [mp.fsum(power[i] * terms[k - i] for i in range(k + 1)) for k in range(order + 1)]
        truth = mp.log(power[order] * mp.factorial(order) / mp.mpf(steps) ** order) / (order - 1)
        formula = AllocationRenyi(shift, steps)
        lower, upper = formula.divergence(float(order))
        assert lower <= truth <= formula._with_against_without(float(order)) <= upper
        assert truth * (1 - mp.mpf(10) ** -6) < lower
        assert formula._with_against_without(float(order)) < truth * (1 + mp.mpf(10) ** -6)


@pytest.mark.parametrize("order", [1.2, 3.0, 7.5, 300.0])
@pytest.mark.parametrize(("shift", "steps"), [(0.7, 2), (1.5, 2)])
def test_two_batches_are_the_integral(shift: float, steps: int, order: float) -> None:
    """Both directions of (N(c e₁) + N(c e₂))/2 against N(0), over a grid of the plane. Order 300 is beyond the sums."""
    reach = max(12.0, 1.3 * order * shift)
    z = np.linspace(-reach, reach, 3001)
    log_phi = norm.logpdf(z)
    ratio = np.logaddexp.outer(shift * z, shift * z) - 0.5 * shift**2 - math.log(2.0)
    base = np.add.outer(log_phi, log_phi)
    cell = 2.0 * math.log(z[1] - z[0])
    truths = [
        (float(np.logaddexp.reduce(base + power * ratio, axis=None)) + cell) / (order - 1.0)
        for power in (order, 1.0 - order)
    ]
    _, upper = AllocationRenyi(shift, steps).divergence(order)
    assert max(truths) <= upper * (1 + 1e-6)
    assert upper <= 0.5 * order * shift**2 * (1 + 1e-12)
    if order == 300.0:
        assert upper <= max(truths) * 1.01
    noise = Gaussian(noise_multiplier=1.0 / shift)
    spec = RandomAllocation(steps=steps, times_chosen=1, kept=False, epochs=1, mechanism=noise)
    bounds = renyi_divergence(curve(spec), order)
    assert bounds.lower <= max(truths) * (1 + 1e-6)
    assert max(truths) <= bounds.upper * (1 + 1e-6)
    if order < 10.0:
        assert bounds.upper <= max(truths) * 1.02


def truncated(largest: int = 15, **fields: Any) -> Any:
    """A truncated Poisson batch."""
    noise = Gaussian(noise_multiplier=2.0)
    return Subsampled(sampling="poisson", rate=0.1, population=100, largest_batch=largest, mechanism=noise, **fields)


GAUSSIAN = Gaussian(noise_multiplier=2.0)
INTEGERS = DiscreteGaussian(scale=3.0, l2_sensitivity=2.0, dimension=1)
SKELLAM = Skellam(variance=9.0, l1_sensitivity=2.0, l2_sensitivity=2.0, dimension=1)
VECTOR = Skellam(variance=9.0, l1_sensitivity=4.0, l2_sensitivity=2.0, dimension=5)
BEST = SelectBest(mechanism=GAUSSIAN, repetitions=GeometricRepetitions(mean=10.0))
CASES: tuple[tuple[str, Any, Relation], ...] = (
    ("one of ten", RandomAllocation(steps=10, times_chosen=1, kept=False, epochs=2, mechanism=GAUSSIAN), "zero-out-one"),
    ("three of ten", RandomAllocation(steps=10, times_chosen=3, kept=False, epochs=1, mechanism=GAUSSIAN), "zero-out-one"),
    ("kept", RandomAllocation(steps=10, times_chosen=1, kept=True, epochs=4, mechanism=GAUSSIAN), "add-or-remove-one"),
    ("truncated", truncated(), "add-or-remove-one"),
    ("truncated, replaced", truncated(), "replace-one"),
    ("truncated, zeroed", truncated(), "zero-out-one"),
    ("nearly always truncated", truncated(2), "add-or-remove-one"),
    ("skellam", SKELLAM, "replace-one"),
    ("skellam in five dimensions", VECTOR, "replace-one"),
    ("discrete gaussian", INTEGERS, "replace-one"),
    ("discrete gaussian in five dimensions", DiscreteGaussian(scale=3.0, l2_sensitivity=2.0, dimension=5), "replace-one"),
    ("small scale", DiscreteGaussian(scale=0.2, l2_sensitivity=1.0, dimension=1), "replace-one"),
    ("large scale", DiscreteGaussian(scale=1e6, l2_sensitivity=1e6, dimension=1), "replace-one"),
    ("best of ten", BEST, "add-or-remove-one"),
    ("best of some", SelectBest(mechanism=SKELLAM, repetitions=PoissonRepetitions(mean=3.0)), "add-or-remove-one"),
    ("sampled integers", Subsampled(sampling="poisson", rate=0.1, mechanism=INTEGERS), "add-or-remove-one"),
    ("sampled skellam", Subsampled(sampling="poisson", rate=0.1, mechanism=SKELLAM), "add-or-remove-one"),
    ("replaced integers", Subsampled(sampling="poisson", rate=0.1, mechanism=INTEGERS), "replace-one"),
    ("fixed batch", Subsampled(sampling="without-replacement", batch_size=1, population=10, mechanism=SKELLAM), "replace-one"),
    ("several", Composed(mechanisms=(Repeated(times=10, mechanism=SKELLAM), BEST, truncated())), "add-or-remove-one"),
)  # fmt: skip
EACH = [pytest.param(spec, relation, id=name) for name, spec, relation in CASES]


@pytest.mark.parametrize(("spec", "relation"), EACH)
def test_every_order_and_mu_are_finite(spec: Any, relation: Relation) -> None:
    known = curve(spec, relation)
    bounds = [renyi_divergence(known, order) for order in (1.0 + 2.0**-30, 1.5, 2.0, 8.0, 100.0, 1e4)]
    for bound in bounds:
        assert 0.0 <= bound.lower <= bound.upper < math.inf
    for left, right in itertools.pairwise(bounds):
        assert left.lower <= right.upper
    assert bounds[2].lower > 0.0
    assert concentration(known.upper) < math.inf
    lower, upper = smallest_gaussian(known)
    assert 0.0 < lower <= upper < math.inf
    for epsilon in (0.0, 0.3, 1.0, 4.0, 12.0, 40.0):
        assert known.log_delta(epsilon).lower <= gaussian_pair(upper).upper_log_delta(epsilon)
    least = min(known.log_delta(epsilon).lower for epsilon in (0.0, 1.0))
    assert least <= gaussian_pair(upper).upper_log_delta(0.0)


@pytest.mark.parametrize(
    ("spec", "relation", "width"),
    [
        (INTEGERS, "replace-one", 1.02),
        (SKELLAM, "replace-one", 1.005),
        (DiscreteGaussian(scale=100.0, l2_sensitivity=100.0, dimension=1), "replace-one", 1.02),
        (Repeated(times=100, mechanism=SKELLAM), "replace-one", 1.02),
    ],
)
def test_the_smallest_mu_of_integer_noise_is_close(spec: Any, relation: Relation, width: float) -> None:
    lower, upper = smallest_gaussian(curve(spec, relation))
    assert upper <= width * lower


@pytest.mark.parametrize(
    ("spec", "relation", "public"),
    [
        (truncated(), "add-or-remove-one", 1.0),
        (truncated(), "zero-out-one", 0.5),
        (RandomAllocation(steps=10, times_chosen=3, kept=False, epochs=4, mechanism=GAUSSIAN), "zero-out-one", math.sqrt(3)),
    ],
)  # fmt: skip
def test_no_sampling_is_worse_than_a_public_batch(spec: Any, relation: Relation, public: float) -> None:
    known = curve(spec, relation)
    assert smallest_gaussian(known).upper <= public * (1 + 1e-9)
    for order in (1.5, 8.0, 1e3):
        assert renyi_divergence(known, order).upper <= 0.5 * order * public**2 * (1 + 1e-9)


@pytest.mark.parametrize("order", [1.5, 4.0, 60.0])
@pytest.mark.parametrize("relation", ["add-or-remove-one", "replace-one"])
def test_two_of_three_records_are_below_the_bound(relation: Relation, order: float) -> None:
    """Three records with rate 1/2, of which one is kept. All others contribute −C, and the record C, by enumeration."""
    noise = Gaussian(noise_multiplier=1.5)
    spec = Subsampled(sampling="poisson", rate=0.5, population=3, largest_batch=1, mechanism=noise)
    x = np.linspace(-60.0, 60.0 + order, 40_001)

    def density(contribution: float | None) -> Any:
        """The log density of the sum; None is a record that does not exist."""
        chances: dict[float, float] = {}
        others = 2
        for drawn in itertools.product((0, 1), repeat=others + (contribution is not None)):
            values = [-1.0] * sum(drawn[:others])
            if contribution is not None and drawn[-1]:
                values.append(contribution)
            for value in values or [0.0]:
                share = 0.5 ** len(drawn) / max(len(values), 1)
                chances[value] = chances.get(value, 0.0) + share
        return np.logaddexp.reduce([math.log(w) + norm.logpdf(x, v / 1.5) for v, w in chances.items()])

    p, q = density(1.0), density(None if relation == "add-or-remove-one" else -1.0)
    step = math.log(x[1] - x[0])
    truths = [
        (float(np.logaddexp.reduce(order * one + (1.0 - order) * other)) + step) / (order - 1.0)
        for one, other in ((p, q), (q, p))
    ]
    assert max(truths) <= renyi_divergence(curve(spec, relation), order).upper * (1 + 1e-9)


@pytest.mark.parametrize("rho", [1e-6, 0.1, 8.0])
@pytest.mark.parametrize("reach", [6.0, 35.0])
def test_far_losses_of_a_concentrated_pair_are_below_a_gaussian(rho: float, reach: float) -> None:
    """The bound on δ at the order 1 + (ε − ρ)/2ρ, in forty digits, against the Gaussian's δ."""
    start = rho + reach * math.sqrt(2.0 * rho)
    mu = least_mu_from(start, rho)
    assert math.sqrt(2.0 * rho) < mu < 1.5 * math.sqrt(2.0 * rho)
    assert not is_below_gaussian_from(start, rho, math.sqrt(2.0 * rho))
    with mp.workdps(40):
        for share in (1.0, 1.01, 1.5, 4.0):
            epsilon = mp.mpf(start) * share
            a = 1 + (epsilon - rho) / (2 * mp.mpf(rho))
            bound = mp.exp((a - 1) * (a * rho - epsilon)) * (1 - 1 / a) ** a / (a - 1)
            x = epsilon / mu - mp.mpf(mu) / 2
            gaussian = (mp.erfc(x / mp.sqrt(2)) - mp.exp(epsilon) * mp.erfc((x + mu) / mp.sqrt(2))) / 2
            assert bound <= gaussian


@pytest.mark.parametrize("order", [1.5, 3.0, 30.0])
@pytest.mark.parametrize(("rate", "noise"), [(0.1, 2.0), (0.5, 1.0), (0.01, 0.7)])
def test_replaced_records_of_a_gaussian_are_tight_at_every_order(rate: float, noise: float, order: float) -> None:
    spec = Subsampled(sampling="poisson", rate=rate, mechanism=Gaussian(noise_multiplier=noise))
    lower, upper = renyi_divergence(curve(spec, "replace-one"), order)
    s = 1.0 / noise
    x = np.linspace(-14.0 - order * s, 14.0 + order * s, 60_001)
    p, q = (
        np.logaddexp(math.log1p(-rate) + norm.logpdf(x), math.log(rate) + norm.logpdf(x, side * s)) for side in (1, -1)
    )
    log_moment = float(np.logaddexp.reduce(order * p + (1.0 - order) * q)) + math.log(x[1] - x[0])
    truth = log_moment / (order - 1.0)
    assert lower <= truth * (1 + 1e-7)
    assert truth <= upper * (1 + 1e-7)
    assert upper <= truth * 1.01


def test_a_choice_and_a_release_that_are_sampled_keep_their_loss() -> None:
    """A batch without the record may be far from all others: the bound by thinning is approached."""
    for mechanism in (INTEGERS, SKELLAM, PermuteAndFlip(epsilon=1.0), Exponential(epsilon=1.0)):
        spec = Subsampled(sampling="poisson", rate=0.125, mechanism=mechanism)
        sampled, alone = curve(spec, "replace-one"), curve(Repeated(times=1, mechanism=mechanism), "replace-one")
        for epsilon in (0.0, 0.4, 0.9):
            bounds, whole = sampled.log_delta(epsilon), alone.log_delta(epsilon)
            assert bounds.upper == pytest.approx(whole.upper + math.log(0.125), abs=1e-9)
            assert bounds.lower == pytest.approx(whole.lower + math.log(0.125), abs=1e-9)


@pytest.mark.parametrize("distance", [0, 20, 60])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_a_batch_without_the_record_approaches_the_thinned_pair(distance: int, epsilon: float) -> None:
    """One record that is drawn with probability 1/8: integers 0 and 2 with it, and `distance` without it."""
    law = gaussian_law(3.0, 400)
    places = range(-200, 201)

    def mixture(place: int) -> list[Any]:
        return [law[abs(y - distance)] * 7 / 8 + law[abs(y - place)] / 8 for y in places]

    with mp.workdps(40):
        pairs = list(zip(mixture(0), mixture(2), strict=True))
        truth = float(mp.fsum(max(p - mp.exp(epsilon) * q, mp.mpf(0)) for p, q in pairs))
        alone = [(law[abs(y)], law[abs(y - 2)]) for y in places]
        limit = float(mp.fsum(max(p - mp.exp(epsilon) * q, mp.mpf(0)) for p, q in alone)) / 8
    known = curve(Subsampled(sampling="poisson", rate=0.125, mechanism=INTEGERS), "replace-one").log_delta(epsilon)
    assert truth <= math.exp(known.upper) * (1 + 1e-9)
    assert math.exp(known.lower) == pytest.approx(limit, rel=1e-9)
    if distance == 60:
        assert truth == pytest.approx(limit, rel=1e-9)
