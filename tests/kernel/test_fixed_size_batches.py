"""Test batches drawn without replacement in the kernel against their definition, the reference and enclosing pairs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from epsilond.accountants.composition.run_search import search_run
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.facts import DrawnGaussianLaw, GaussianLaw, Law, SampledGaussianLaw
from epsilond.accountants.engine import kernel
from epsilond.accountants.engine.contour import composition as reference
from epsilond.accountants.engine.exact import NO_CERTIFICATE, WIDEST
from epsilond.accountants.quantities import Relation
from epsilond.accountants.target import Target
from tests.oracles import drawn

pytestmark = pytest.mark.usefixtures("on")

Laws = list[tuple[Law, int]]
SETTINGS: tuple[Laws, ...] = (
    [(DrawnGaussianLaw(0.01, 1.0), 1000)],
    [(DrawnGaussianLaw(0.01, 2.0), 1000)],
    [(DrawnGaussianLaw(0.3, 0.1), 1000)],
    [(DrawnGaussianLaw(0.9, 3.0), 100)],
    [(DrawnGaussianLaw(1.0 - 2.0**-40, 2.0), 9)],
    [(DrawnGaussianLaw(0.01, 1.0), 10**6)],
    [(DrawnGaussianLaw(0.36, 0.53), 35)],
    [(DrawnGaussianLaw(0.1, 1.0), 200), (GaussianLaw(0.5), 1)],
    [(DrawnGaussianLaw(0.02, 0.7), 300), (SampledGaussianLaw(0.05, 0.6, "add"), 200)],
    [
        (DrawnGaussianLaw(0.02, 0.7), 300),
        (DrawnGaussianLaw(0.2, 0.2), 200),
        (SampledGaussianLaw(0.1, 0.3, "replace"), 9),
    ],
)
"""Runs alone and in lists, at rates and shifts of all magnitudes that the reference answers."""


def meet(first: Interval, second: Interval) -> bool:
    return first.lower <= second.upper and second.lower <= first.upper


def reference_ends(laws: Laws, epsilon: float) -> Interval | None:
    try:
        return reference.log_delta(laws, epsilon)
    except NO_CERTIFICATE:
        return None


@pytest.mark.parametrize("laws", SETTINGS)
@pytest.mark.parametrize("log_delta", [-3.0, -14.0, -60.0])
def test_it_agrees_with_the_reference(laws: Laws, log_delta: float) -> None:
    found = kernel.epsilon(laws, log_delta, 0.0)
    assert found is not None
    assert found.width <= 1e-7
    assert meet(found.bounds, reference.epsilon(laws, log_delta))
    for epsilon in (found.bounds.upper, 0.7 * found.bounds.upper, max(-0.3 * found.bounds.upper, -1.0)):
        there = kernel.log_delta(laws, epsilon)
        known = reference_ends(laws, epsilon)
        bound = kernel.upper_log_delta(laws, epsilon)
        if there is not None:
            assert bound is not None
            assert there.bounds.lower <= bound
            assert known is None or meet(there.bounds, known)


@pytest.mark.parametrize("laws", [*SETTINGS[:3], *SETTINGS[6:]])
def test_the_ends_of_a_test_agree_with_the_reference(laws: Laws) -> None:
    found = kernel.threshold(laws, -7.0)
    assert found is not None
    there = kernel.log_delta(laws, found.epsilon)
    known = reference_ends(laws, found.epsilon)
    assert there is not None
    assert known is None or meet(there.bounds, known)
    # Q(S > ε) is the slope of δ in e^ε, up to its sign.
    step = 1e-4
    around = [kernel.log_delta(laws, found.epsilon + side * step) for side in (-1, 1)]
    deltas = [math.exp(each.bounds.upper) for each in around if each is not None]
    size = (deltas[0] - deltas[1]) / (2.0 * step) * math.exp(-found.epsilon)
    assert math.log(size) == pytest.approx(-7.0, abs=1e-3)


@pytest.mark.parametrize(
    ("rate", "shift", "count", "epsilon", "tilt", "period"),
    [
        (0.5, 1.0, 60, 30.0, 0.6, 150.0),
        (0.05, 0.7, 300, 3.0, 4.0, 60.0),
        (0.02, 1.0, 1000, 5.0, 3.0, 80.0),
        (0.1, 0.1, 10**4, 6.0, 4.0, 40.0),
        (0.9, 2.0, 40, 120.0, 0.25, 500.0),
        (0.999, 1.0, 100, 150.0, 1.0, 600.0),
        (1e-3, 0.5, 10**7, 11.0, 3.0, 60.0),
        (1e-4, 0.2, 10**7, 0.27, 70.0, 4.0),
    ],
)
def test_the_inversion_of_its_transform_in_thirty_digits_lies_within(
    rate: float, shift: float, count: int, epsilon: float, tilt: float, period: float
) -> None:
    """Two periods show that images are far below the ends."""
    with mp.workdps(30):
        near, far = (
            drawn.by_inversion(rate, shift, count, epsilon, tilt=tilt, period=each) for each in (period, 1.3 * period)
        )
        found = kernel.log_delta([(DrawnGaussianLaw(rate, shift), count)], epsilon)
        assert found is not None
        assert abs(near - far) < 1e-3 * found.width
        assert found.bounds.lower <= far <= found.bounds.upper
        assert found.width < 1e-7


@pytest.mark.parametrize(("rate", "shift"), [(0.9, 3.0), (0.97, 2.0), (0.999, 6.0)])
def test_two_steps_by_integration(rate: float, shift: float) -> None:
    with mp.workdps(25):
        for epsilon in (0.5, 3.0):
            expected = mp.log(drawn.two_steps(rate, shift, epsilon))
            found = kernel.log_delta([(DrawnGaussianLaw(rate, shift), 2)], epsilon)
            assert found is None or found.bounds.lower <= expected <= found.bounds.upper


def magnitudes(seed: int, number: int) -> list[tuple[float, float, int, float]]:
    """Return rates from 1e-9 to 1 − 1e-9, shifts for noise from 0.05 to 100, rounds up to 1e9, log δ down to −690."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        small = float(np.exp(random.uniform(math.log(1e-9), math.log(0.5))))
        rate = small if random.uniform() < 0.7 else 1.0 - small
        shift, count = float(np.exp(random.uniform(-3.9, 3.7))), round(float(np.exp(random.uniform(0.0, 20.7))))
        found.append((rate, shift, count, -float(np.exp(random.uniform(-1.0, math.log(690.0))))))
    return found


def check_between(rate: float, shift: float, count: int, log_delta: float) -> bool:
    """Whether it answers, in a true order, between the one-sided pair at the same rate and the pair at the rate one."""
    laws: Laws = [(DrawnGaussianLaw(rate, shift), count)]
    found = kernel.epsilon(laws, log_delta, 0.0)
    if found is None or found.width > WIDEST:
        return False
    lower, upper = found.bounds
    assert 0.0 <= lower <= upper < math.inf
    most = kernel.epsilon([(GaussianLaw(shift), count)], log_delta, 0.0)
    least = kernel.epsilon([(SampledGaussianLaw(rate, shift, "remove"), count)], log_delta, 0.0)
    assert most is None or lower <= most.bounds.upper
    assert least is None or least.bounds.lower <= upper
    there = kernel.log_delta(laws, upper)
    assert there is None or there.bounds.lower <= log_delta
    return True


def test_extremes_are_answered_between_pairs_that_enclose_theirs_or_refused() -> None:
    answered = sum(check_between(*given) for given in magnitudes(4, 120))
    assert answered >= 45


@pytest.mark.slow
def test_extremes_on_thousands() -> None:
    answered = sum(check_between(*given) for given in magnitudes(5, 4000))
    assert answered >= 2000


@pytest.mark.slow
def test_it_agrees_with_the_reference_on_hundreds() -> None:
    both = 0
    for rate, shift, count, log_delta in magnitudes(6, 600):
        laws: Laws = [(DrawnGaussianLaw(rate, shift), count)]
        found = kernel.epsilon(laws, log_delta, 0.0)
        try:
            known = reference.epsilon(laws, log_delta)
        except NO_CERTIFICATE:
            continue
        if found is not None:
            both += 1
            assert meet(found.bounds, known), laws
    assert both >= 150


def test_counts_of_one_law_add_up_and_the_order_does_not_matter() -> None:
    law, gaussian = DrawnGaussianLaw(0.02, 0.8), GaussianLaw(0.3)
    whole = kernel.epsilon([(law, 500), (gaussian, 4)], -14.0, 0.0)
    assert whole == kernel.epsilon([(law, 200), (gaussian, 4), (law, 300)], -14.0, 0.0)
    turned = kernel.epsilon([(gaussian, 4), (law, 500)], -14.0, 0.0)
    assert whole is not None
    assert turned is not None
    assert meet(whole.bounds, turned.bounds)


def test_the_bound_rises_with_the_rate() -> None:
    rates = (0.05, math.nextafter(0.05, 1.0), 0.0501, 0.2, 0.9)
    found = [kernel.epsilon([(DrawnGaussianLaw(rate, 0.7), 2000)], -14.0, 0.0) for rate in rates]
    ends = [each.bounds for each in found if each is not None]
    assert len(ends) == len(rates)
    assert all(first.lower <= second.upper for first, second in zip(ends, ends[1:], strict=False))
    assert all(first.upper < second.lower for first, second in zip(ends[1:], ends[2:], strict=False))


@pytest.mark.parametrize("relation", ["replace-one", "zero-out-one"])
@pytest.mark.parametrize(("rate", "noise", "rounds"), [(0.02, 3.0, 800), (0.3, 20.0, 500), (0.001, 1.4, 10_000)])
def test_a_search_finds_each_number_from_the_others(rate: float, noise: float, rounds: int, relation: Relation) -> None:
    laws: Laws = [(DrawnGaussianLaw(rate, 2.0 / noise), rounds)]
    solved = kernel.epsilon(laws, math.log(1e-7), 0.0)
    assert solved is not None
    target = Target.of(solved.bounds.upper, 1e-7, None)
    for unknown, known, guess in (
        ("shift", 1.0 / noise, 0.7 / noise),
        ("count", rounds, 0.5 * rounds),
        ("rate", rate, 0.6 * rate),
    ):
        found = search_run(
            unknown,  # type: ignore[arg-type]
            target,
            sampling="without-replacement",
            relation=relation,
            rate=rate,
            noise=noise,
            rounds=rounds,
            guess=guess,
        )
        assert found == pytest.approx(known, rel=1e-4)


def test_what_is_out_of_its_range_is_refused() -> None:
    for law in (DrawnGaussianLaw(1e-101, 1.0), DrawnGaussianLaw(0.5, 1e-101), DrawnGaussianLaw(0.5, 1e101)):
        assert kernel.epsilon([(law, 10)], -14.0, 0.0) is None
    assert kernel.epsilon([(DrawnGaussianLaw(0.5, 0.0), 10)], -14.0, 0.0) is None
    full = kernel.epsilon([(DrawnGaussianLaw(1.0, 0.5), 10)], -14.0, 0.0)
    assert full == kernel.epsilon([(GaussianLaw(0.5), 10)], -14.0, 0.0)


def test_one_step_of_a_run_is_within_the_ends_where_it_is_answered() -> None:
    with mp.workdps(25):
        for rate, shift, epsilon in ((0.9, 6.0, 2.0), (0.999, 5.0, -1.0), (0.9999, 3.0, 5.0)):
            found = kernel.log_delta([(DrawnGaussianLaw(rate, shift), 1)], epsilon)
            known = mp.log(drawn.one_step(rate, shift, mpf(epsilon)))
            assert found is None or found.bounds.lower <= known <= found.bounds.upper
