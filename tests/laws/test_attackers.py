"""Figures of an attacker: laws of every guarantee, and no hostile mechanism of any kind exceeds them."""

from __future__ import annotations

import itertools
import math
from typing import Any, get_args

import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.attackers.bayes_error import bayes_error
from epsilond.accountants.attackers.directions import Direction, directed_delta
from epsilond.accountants.attackers.gaussian_chords import gaussian_mu_at
from epsilond.accountants.attackers.renyi import concentration, renyi_divergence
from epsilond.accountants.attackers.smallest_gaussian import smallest_gaussian
from epsilond.accountants.attackers.targets import meets, provably_misses, upper_figure
from epsilond.accountants.attackers.trade_off_curve import trade_off_curve
from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.quantities import Relation
from epsilond.accountants.specs import Gaussian, GaussianMixture, Laplace
from epsilond.accountants.target import RiskKind, RiskTarget, Target
from tests.laws.samples import SAMPLES, Sample
from tests.laws.test_hostile_instances import LEAVES, certified, fixed, outputs, poisson
from tests.oracles.hostile_runs import Law

RATES = (1e-4, 0.03, 0.2, 0.6, 0.97)
EPSILONS = (0.0, 0.1, 0.7, 2.0, 6.0)
SIGNED = (-2.0, -0.4, 0.0, 0.3, 1.0)
PRIORS = (0.02, 0.3, 0.5, 0.9)
ORDERS = (1.1, 2.0, 6.0)
ROUNDED = 1e-9
"""Relative room for the doubles of an oracle."""

# An evaluation of a shuffled Gaussian takes a tenth of a second.
EACH = [
    pytest.param(sample, marks=[pytest.mark.slow] * sample.name.startswith("shuffled gaussian")) for sample in SAMPLES
]
each_sample = pytest.mark.parametrize("sample", EACH, ids=[sample.name for sample in SAMPLES])


@each_sample
def test_true_positive_rates_rise_bend_down_and_agree_with_the_curve(sample: Sample) -> None:
    curve = sample.guarantee().curve
    points = [point.true_positive_rate for point in trade_off_curve(curve, RATES)]
    for rate, (lower, upper) in zip(RATES, points, strict=True):
        assert rate * (1 - ROUNDED) <= lower <= upper <= 1.0
        for epsilon in EPSILONS:
            delta = math.exp(curve.log_delta(epsilon).upper)
            assert lower <= (rate * math.exp(epsilon) + delta) * (1 + ROUNDED)
            assert lower <= (1 - math.exp(-epsilon) * (1 - delta - rate)) * (1 + ROUNDED)
    for (first, low), (second, high) in itertools.pairwise(zip(RATES, points, strict=True)):
        assert first < second
        assert low.lower <= high.upper
    for left, middle, right in itertools.combinations(range(len(RATES)), 3):
        share = (RATES[middle] - RATES[left]) / (RATES[right] - RATES[left])
        chord = (1 - share) * points[left].lower + share * points[right].lower
        assert points[middle].upper >= chord * (1 - ROUNDED)


@each_sample
def test_the_smallest_gaussian_is_above_the_curve(sample: Sample) -> None:
    curve = sample.guarantee().curve
    lower, upper = smallest_gaussian(curve)
    assert 0.0 <= lower <= upper
    for epsilon in EPSILONS:
        known = curve.log_delta(epsilon)
        if math.isfinite(upper):
            assert known.lower <= gaussian_pair(upper).upper_log_delta(epsilon)
            assert gaussian_mu_at(epsilon, known.lower) <= upper


@each_sample
def test_errors_agree_with_the_trade_off(sample: Sample) -> None:
    """Every test on the trade-off is a decision, and errs at least as often as the best one."""
    curve = sample.guarantee().curve
    points = trade_off_curve(curve, RATES)
    for prior in PRIORS:
        lower, upper = bayes_error(curve, prior)
        assert 0.0 <= lower <= upper <= min(prior, 1 - prior)
        for point in points:
            miss = 1 - point.true_positive_rate.lower
            assert lower <= prior * miss + (1 - prior) * point.false_positive_rate + ROUNDED


@each_sample
def test_the_directions_turn_into_each_other_and_the_larger_one_is_the_curve(sample: Sample) -> None:
    curve = sample.guarantee().curve
    names: tuple[Direction, ...] = get_args(Direction)
    for epsilon in EPSILONS:
        both = [directed_delta(curve, epsilon, name).log_delta for name in names]
        whole = curve.log_delta(epsilon)
        assert max(bound.lower for bound in both) <= whole.upper
        assert whole.lower <= max(bound.upper for bound in both)
        for name, other in (names, names[::-1]):
            turned = directed_delta(curve, -epsilon, name)
            other_way = directed_delta(curve, epsilon, other).log_delta
            delta = [1 - math.exp(-epsilon) + math.exp(end - epsilon) for end in other_way]
            assert math.exp(turned.log_delta.lower) <= delta[1] * (1 + ROUNDED)
            assert delta[0] <= math.exp(turned.log_delta.upper) * (1 + ROUNDED)


@each_sample
def test_renyi_divergences_rise_with_the_order(sample: Sample) -> None:
    curve = sample.guarantee().curve
    bounds = [renyi_divergence(curve, order) for order in ORDERS]
    for bound in bounds:
        assert 0.0 <= bound.lower <= bound.upper
    for left, right in itertools.pairwise(bounds):
        assert left.lower <= right.upper


@each_sample
def test_a_concentration_is_above_every_renyi_divergence(sample: Sample) -> None:
    curve = sample.guarantee().curve
    rho = concentration(curve.upper)
    assert rho >= 0.0
    for order in ORDERS if math.isfinite(rho) else ():
        assert renyi_divergence(curve, order).lower <= rho * order


@each_sample
@pytest.mark.parametrize("kind", get_args(RiskKind))
def test_a_curve_meets_its_own_figure_and_no_clearly_smaller_one(sample: Sample, kind: RiskKind) -> None:
    curve = sample.guarantee().curve
    figure = upper_figure(curve, RiskTarget(kind, 0.5, 0.1))
    least = 0.12 if kind == "true_positive_rate" else 1e-6  # a coin has a rate of 0.1
    if not least < figure < (1.0 if kind in ("advantage", "true_positive_rate") else math.inf):
        return
    target = Target.of_risk(RiskTarget(kind, figure * (1 + 1e-9), 0.1), None, None)
    smaller = Target.of_risk(RiskTarget(kind, figure * 0.9, 0.1), None, None)
    assert meets(curve, target)
    assert not provably_misses(curve, target)
    assert not meets(curve, smaller)


# Hostile mechanisms ---------------------------------------------------------------------------------------------------
FORMS = {"bare": lambda leaf: leaf, "poisson": poisson, "one of two": lambda leaf: fixed(1, 2, leaf)}


OBSERVERS = {"projected sgd": "final-model", "poisson binomial": "released-models"}
"""Observers of kinds that are not answered for a server."""
HOSTILE = [(kind, form) for kind in LEAVES for form in FORMS if form == "bare" or kind != "poisson binomial"]
"""All kinds in all forms, except for sums over two clients on batches that may have one."""


@pytest.mark.parametrize(("kind", "form"), HOSTILE)
def test_no_mechanism_that_the_words_admit_exceeds_a_figure(kind: str, form: str) -> None:
    """The direction counts: the first of two data sets has the contribution."""
    compared = 0
    for relation in get_args(Relation):
        compared += _compare(FORMS[form](LEAVES[kind]), relation, OBSERVERS.get(kind, "server"))
    assert compared > 0 or kind == "projected sgd"


def _compare(spec: Any, relation: Relation, observer: Any) -> int:
    setting = (relation, "record", observer)
    guarantee = certified(spec, setting)
    if guarantee is None:
        return 0
    curve, compared = guarantee.curve, 0
    figures = _Figures(curve)
    declared = frozenset(condition.id for condition in guarantee.declared)
    for _, here, there in itertools.islice(outputs(spec, setting, declared, float), 40):
        figures.check(here, there)
        compared += 1
    return compared


class _Figures:
    """All figures of a curve, computed once."""

    def __init__(self, curve: Curve) -> None:
        self.rates = trade_off_curve(curve, RATES)
        self.errors = [bayes_error(curve, prior) for prior in PRIORS]
        self.forward = [directed_delta(curve, epsilon, "with-against-without") for epsilon in SIGNED]
        self.backward = [directed_delta(curve, epsilon, "without-against-with") for epsilon in SIGNED]
        self.divergences = [renyi_divergence(curve, order).upper for order in ORDERS]
        self.mu = smallest_gaussian(curve).upper

    def check(self, here: Law, there: Law) -> None:
        """Compare with the exact figures of two distributions, in doubles."""
        outcomes = list(here.keys() | there.keys())
        p, q = (np.asarray([float(law.get(outcome, 0)) for outcome in outcomes]) for law in (here, there))
        for first, second, bounds in ((p, q, self.forward), (q, p, self.backward)):
            for epsilon, bound in zip(SIGNED, bounds, strict=True):
                delta = np.maximum(first - math.exp(epsilon) * second, 0.0).sum()
                assert delta <= math.exp(bound.log_delta.upper) * (1 + ROUNDED) + 1e-13
            self._check_direction(first, second)
        for prior, error in zip(PRIORS, self.errors, strict=True):
            least = min(np.minimum(prior * p, (1 - prior) * q).sum(), np.minimum(prior * q, (1 - prior) * p).sum())
            assert error.lower <= least * (1 + ROUNDED) + 1e-13

    def _check_direction(self, p: Any, q: Any) -> None:
        with np.errstate(divide="ignore", invalid="ignore"):
            order = np.argsort(-np.where(q > 0, p / q, np.inf))
        for point in self.rates:
            sizes, powers = np.append(0.0, np.cumsum(q[order])), np.append(0.0, np.cumsum(p[order]))
            power = np.interp(point.false_positive_rate, sizes, powers)
            assert power <= point.true_positive_rate.upper * (1 + ROUNDED) + 1e-13
        for alpha, most in zip(ORDERS, self.divergences, strict=True):
            if (q[p > 0] > 0).all():
                inside = p > 0
                moment = (q[inside] * (p[inside] / q[inside]) ** alpha).sum()
                assert math.log(moment) / (alpha - 1) <= most * (1 + ROUNDED) + 1e-12
        for epsilon in EPSILONS:
            delta = np.maximum(p - math.exp(epsilon) * q, 0.0).sum()
            if math.isfinite(self.mu):
                above = math.exp(gaussian_pair(self.mu).upper_log_delta(epsilon)) if self.mu > 0 else 0.0
                assert delta <= above * (1 + ROUNDED) + 1e-13


@pytest.mark.parametrize("rate", [1e-5, 0.003, 0.1, 0.2, 0.3, 0.7])
def test_a_true_positive_rate_does_not_depend_on_the_other_rates(rate: float) -> None:
    """Points that were read for another rate may be where this rate allows no test, at γ ≥ 1/α."""
    curve = account(Gaussian(noise_multiplier=1.0), relation="add-or-remove-one").guarantee.curve
    mixture = account(
        GaussianMixture(sensitivities=(0.0, 1.0, 2.0), probabilities=(0.5, 0.25, 0.25), noise_multiplier=0.5),
        relation="replace-one",
    ).guarantee.curve
    for each in (curve, mixture):
        (alone,) = trade_off_curve(each, (rate,))
        together = trade_off_curve(each, (rate, 1e-4, 0.03, 0.6, 0.97))[0]
        assert together.true_positive_rate.lower <= alone.true_positive_rate.upper
        assert alone.true_positive_rate.lower <= together.true_positive_rate.upper


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.1, 0.2])
def test_a_rate_is_the_same_next_to_smaller_ones(rate: float) -> None:
    """Tests at γ beyond 1/α, which a smaller rate needs, say nothing of α. exp(−log α) α is below 1 for these α."""
    assert math.exp(-math.log(rate)) * rate < 1.0
    curve = account(Laplace(scale_multiplier=0.2), relation="add-or-remove-one").guarantee.curve
    for rates in ((rate,), (1e-3, rate), (1e-4, 1e-3, rate)):
        least, most = trade_off_curve(curve, rates)[-1].true_positive_rate
        # The best test is a half-line: 1 − e^{−5}/(4α), or e^5 α where α is at most e^{−5}/2.
        assert least <= (1 - math.exp(-5.0) / (4 * rate)) * (1 + ROUNDED)
        assert most >= (1 - math.exp(-5.0) / (4 * rate)) * (1 - ROUNDED)
