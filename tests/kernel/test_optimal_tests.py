"""Test optimal hypothesis tests in the kernel against the search in Python and every γ."""

from __future__ import annotations

import math
from types import ModuleType

import pytest

from epsilond.accountants.account import account
from epsilond.accountants.composition.exact_laws import ExactProfile
from epsilond.accountants.composition.exact_search import exact_pair
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.facts import DrawnGaussianLaw, GaussianLaw, Law, SampledGaussianLaw
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.engine import kernel
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.meaning import meaning
from epsilond.accountants.specs import Spec
from epsilond.accountants.trade_off import TradeOff
from epsilond.reading import read_body
from tests.kernel.conftest import forget_all
from tests.kernel.test_kernel import sum_of

RATES = (1e-3, 1e-2, 1e-5)
LAWS: dict[str, tuple[tuple[Law, int], ...]] = {
    "removed": ((SampledGaussianLaw(0.01, 1.0, "remove"), 1000),),
    "added": ((SampledGaussianLaw(0.01, 1.0, "add"), 1000),),
    "replaced": ((SampledGaussianLaw(0.1, 0.5, "replace"), 300),),
    "rare": ((SampledGaussianLaw(1e-3, 1.5, "remove"), 2000),),
    "large": ((SampledGaussianLaw(0.3, 2.0, "remove"), 50),),
    "weak": ((SampledGaussianLaw(1e-4, 0.2, "remove"), 100),),
    "list": ((SampledGaussianLaw(0.02, 1.0, "remove"), 100), (GaussianLaw(0.1), 10)),
    "drawn": ((DrawnGaussianLaw(0.05, 1.0), 500),),
}


def no_fallback() -> Pair:
    """Stand for the pair that answers where the engine refuses."""
    raise AssertionError("the lattice was asked")


@pytest.mark.parametrize("laws", LAWS.values(), ids=LAWS)
def test_best_tests_agree_with_the_search_in_python(
    laws: tuple[tuple[Law, int], ...], module: ModuleType, use: pytest.MonkeyPatch
) -> None:
    found = sum_of(module, laws).best_tests(RATES, 0.0)
    assert found is not None
    use.setattr(kernel, "load_kernel", lambda: None)
    forget_all()
    pair = exact_pair(laws, no_fallback)
    trade = TradeOff.of(pair.forward, pair.backward, RATES)
    for rate, test in zip(RATES, found[0], strict=True):
        expected = trade.true_positives(rate, floor=rate)
        assert test is not None
        lower, upper, _ = test
        assert lower <= expected.upper
        assert expected.lower <= upper
        assert upper - lower <= max(2e-6 * upper, 2.0 * (expected.upper - expected.lower))
    lower, upper = found[1]
    truth = contour.log_delta(laws, 0.0)
    assert lower <= truth.upper
    assert truth.lower <= upper


@pytest.mark.parametrize("laws", LAWS.values(), ids=LAWS)
def test_every_gamma_is_an_upper_bound_of_the_lower_end(laws: tuple[tuple[Law, int], ...], module: ModuleType) -> None:
    composed = sum_of(module, laws)
    for rate, test in zip(RATES, composed.best_tests(RATES, 0.0)[0], strict=True):
        for offset in (-0.3, -0.01, -1e-4, 0.0, 1e-4, 0.01, 0.3):
            epsilon = test[2] * (1.0 + offset)
            divergence = math.exp(contour.log_delta(laws, epsilon).upper)
            assert test[0] <= (math.exp(epsilon) * rate + divergence) * (1.0 + 1e-12)


@pytest.mark.parametrize("laws", LAWS.values(), ids=LAWS)
def test_bounds_from_one_line_are_upper_bounds(laws: tuple[tuple[Law, int], ...], module: ModuleType) -> None:
    composed = sum_of(module, laws)
    centre = composed.threshold(math.log(1e-3))[0]
    epsilons = (centre, centre - 0.5, centre + 0.5, centre + 3.0)
    for epsilon, bound in zip(epsilons, composed.upper_log_deltas(epsilons), strict=True):
        known = composed.log_delta(epsilon)
        assert not isinstance(known, tuple) or known[0] <= bound
    assert composed.upper_log_deltas(epsilons)[0] <= composed.log_delta(centre)[1] + 1e-7


def test_numbers_without_meaning_are_refused(module: ModuleType) -> None:
    composed = sum_of(module, LAWS["removed"])
    for rates in ((), (0.0,), (1.0,), (math.nan,), (1e-3, 2.0), (0.5,) * 65):
        assert composed.best_tests(rates, 0.0) is None
    assert composed.best_tests((0.5,), math.inf) is None
    for epsilons in ((), (math.inf,), (1.0, math.nan), (1.0,) * 65):
        assert composed.upper_log_deltas(epsilons) is None


@pytest.mark.parametrize("times", [100, 1000])
def test_best_tests_of_mixtures_agree_with_the_lattice(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = {"kind": "subsampled", "sampling": "with-replacement", "batch_size": 60, "population": 1000}
    run = {
        "kind": "repeated",
        "times": times,
        "mechanism": batch | {"mechanism": {"kind": "gaussian", "noise_multiplier": 2.0}},
    }
    spec = read_body(Spec, run)
    tests: list[list[Interval]] = []
    for quicker_behind in (False, True):
        monkeypatch.setattr(ExactProfile, "prefers_fallback", quicker_behind)
        curve = account(spec, relation="replace-one").guarantee.curve
        tests.append([test.true_positive_rate for test in meaning(curve).true_positives])
    for here, behind in zip(*tests, strict=True):
        assert max(here.lower, behind.lower) <= min(here.upper, behind.upper)
        assert here.upper - here.lower <= 1.01 * (behind.upper - behind.lower)
