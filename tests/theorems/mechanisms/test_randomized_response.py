"""Randomized response by enumeration of its reports, alone and ten times over."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from epsilond.accountants.account import account
from epsilond.accountants.errors import ConditionViolated, InvalidInput
from epsilond.accountants.kinds.randomized_response import (
    EXACT,
    ZEROED_IS_ANSWERED,
    RandomizedResponseInputs,
    response_pair,
)
from epsilond.accountants.specs import Composed, RandomizedResponse, Repeated, Subsampled
from epsilond.accountants.structure import ONE_REPORT
from tests.oracles.enclosure import encloses, log_of
from tests.oracles.finite import hockey_stick, joint, mixture, response
from tests.oracles.peers import peer

LOG_3 = math.log(3.0)


@pytest.mark.parametrize("categories", [2, 3, 17])
@pytest.mark.parametrize("gamma", [Fraction(1), Fraction(2), Fraction(29, 10), Fraction(3), Fraction(4)])
def test_one_report(categories: int, gamma: Fraction) -> None:
    truth = hockey_stick(response(0, categories, Fraction(3)), response(1, categories, Fraction(3)), gamma)
    assert encloses(response_pair(LOG_3, categories).forward, math.log(gamma), truth)


@pytest.mark.parametrize(("epsilon", "categories"), [(1e-9, 2), (30.0, 5), (900.0, 3), (1.0, 10**15)])
def test_extreme_reports_keep_their_digits(epsilon: float, categories: int) -> None:
    log_kept = -math.log1p((categories - 1) * math.exp(-epsilon))
    ends = response_pair(epsilon, categories).forward.log_delta(np.asarray([0.0]))
    truth = log_kept + math.log(-math.expm1(-epsilon))
    assert ends.lower[0] <= truth <= ends.upper[0]


@pytest.mark.parametrize(("categories", "times"), [(2, 6), (3, 4)])
def test_several_reports_by_enumeration(categories: int, times: int) -> None:
    spec = Repeated(times=times, mechanism=RandomizedResponse(epsilon=LOG_3, categories=categories))
    curve = account(spec, relation="replace-one").guarantee.curve
    p, q = (joint([response(category, categories, Fraction(3))] * times) for category in (0, 1))
    for gamma in (Fraction(1), Fraction(5, 2), Fraction(10), Fraction(40)):
        known, truth = curve.log_delta(math.log(gamma)), log_of(hockey_stick(p, q, gamma))
        assert known.lower - 1e-12 <= truth <= known.upper + 1e-12
        assert known.upper == pytest.approx(truth, abs=1e-4)


def test_ten_reports_are_ten_times_epsilon() -> None:
    """Repeated and listed are one thing. A peer answers 1.0987 for the former and 10.987 for the latter."""
    report = RandomizedResponse(epsilon=LOG_3, categories=2)
    repeated, listed = (
        account(spec, relation="replace-one").guarantee.curve
        for spec in (Repeated(times=10, mechanism=report), Composed(mechanisms=(report,) * 10))
    )
    for curve in (repeated, listed):
        assert curve.epsilon(math.log(1e-300)).upper == pytest.approx(10 * LOG_3, rel=1e-9)
        assert curve.log_delta(10 * LOG_3 * (1 + 1e-12)).upper == -math.inf
    assert repeated.log_delta(8.0) == listed.log_delta(8.0)


@pytest.mark.compares("epsilond.randomized-response")
@pytest.mark.parametrize("number", [28, 29])
def test_a_peer_compares_a_report_with_a_uniform_one(number: int) -> None:
    """Its figures are Rényi divergences to and from the uniform law; ours, between two categories, is larger."""
    params = peer(number)["params"]
    k, order = params["num_buckets"], params["order"]
    kept = 1 - params["noise_parameter"] + params["noise_parameter"] / k
    other = params["noise_parameter"] / k
    forward = math.log(k ** (order - 1) * (kept**order + (k - 1) * other**order)) / (order - 1)
    backward = math.log(k**-order * (kept ** (1 - order) + (k - 1) * other ** (1 - order))) / (order - 1)
    uniform = max(forward, backward)
    assert uniform == pytest.approx(peer(number)["expected"], rel=1e-12)
    inputs = RandomizedResponseInputs(epsilon=math.log(kept / other), categories=k, order=order)
    ours = EXACT.evaluate(inputs).outputs["renyi_divergence"]
    masses = [(kept, other), (other, kept), *[(other, other)] * (k - 2)]
    assert ours == pytest.approx(math.log(sum(p**order * q ** (1 - order) for p, q in masses)) / (order - 1), rel=1e-12)
    assert ours > uniform


def response_divergence(epsilon: float, categories: int, order: float) -> mpf:
    """Compute the Rényi divergence of two categories' reports from the three losses, in the current precision."""
    e, a = mpf(epsilon), mpf(order)
    moment = (mp.exp(a * e) + mp.exp((1 - a) * e) + categories - 2) / (mp.exp(e) + categories - 1)
    return mp.log(moment) / (a - 1)


@pytest.mark.compares("epsilond.randomized-response")
def test_the_divergence_is_rounded_up_by_little_at_every_order() -> None:
    random = np.random.default_rng(4)
    cases = [(1e-9, 3, 1.0000001), (1.0, 2, 1.0 + 2.0**-52), (1.0, 10**12, 2.0), (1e9, 2, 1e6), (1e-300, 2, 2.0)]
    for _ in range(300):
        near = random.random() < 0.5
        order = 1.0 + 10.0 ** (random.uniform(-15.6, 0.0) if near else random.uniform(0.0, 5.9))
        cases.append((10.0 ** random.uniform(-12, 3), int(10.0 ** random.uniform(0.302, 15)), order))
    for epsilon, categories, order in cases:
        inputs = RandomizedResponseInputs(epsilon=epsilon, categories=categories, order=order)
        served = EXACT.evaluate(inputs).outputs["renyi_divergence"]
        with mp.workdps(60 if epsilon > 1e-50 else 700):
            truth = response_divergence(epsilon, categories, order)
            assert truth <= mpf(served) <= truth * (1 + mpf(10) ** -11) + mpf(10) ** -320, (epsilon, categories, order)


def test_a_zeroed_record_is_declared_to_be_answered_like_a_category() -> None:
    spec = RandomizedResponse(epsilon=LOG_3, categories=4)
    guarantee = account(spec, relation="zero-out-one").guarantee
    assert guarantee.declared == (ONE_REPORT, ZEROED_IS_ANSWERED)
    assert guarantee.tight == "proved"
    uniform = mixture([Fraction(1, 4)] * 4, [response(c, 4, Fraction(3)) for c in range(4)])
    for gamma in (Fraction(1), Fraction(3, 2)):
        for first, second in ((response(0, 4, Fraction(3)), uniform), (uniform, response(0, 4, Fraction(3)))):
            assert log_of(hockey_stick(first, second, gamma)) <= guarantee.curve.log_delta(math.log(gamma)).upper


@pytest.mark.parametrize(("categories", "times"), [(2, 1), (2, 5), (3, 4), (7, 2)])
def test_a_zeroed_record_that_is_answered_as_one_category_attains_the_bound(categories: int, times: int) -> None:
    """The largest divergence over every category of the record, and every category that the zeroed record gets."""
    spec = Repeated(times=times, mechanism=RandomizedResponse(epsilon=LOG_3, categories=categories))
    curve = account(spec, relation="zero-out-one").guarantee.curve
    for gamma in (Fraction(1), Fraction(5, 2), Fraction(7)):
        worst = max(
            hockey_stick(
                joint([response(own, categories, Fraction(3))] * times),
                joint([response(fixed, categories, Fraction(3))] * times),
                gamma,
            )
            for own, fixed in itertools.product(range(categories), repeat=2)
        )
        known, truth = curve.log_delta(math.log(gamma)), log_of(worst)
        if truth == -math.inf:
            assert known.upper == -math.inf
            continue
        assert known.lower - 1e-12 <= truth <= known.upper + 1e-12
        assert known.upper - known.lower < 1e-9


def test_relations_and_batches_without_a_bound_are_refused() -> None:
    report = RandomizedResponse(epsilon=1.0, categories=2)
    with pytest.raises(ConditionViolated, match="whether a record reports at all is not hidden"):
        account(report, relation="add-or-remove-one")
    for sampling in ("poisson", "without-replacement"):
        drawn = Subsampled(sampling=sampling, batch_size=1, population=10, mechanism=report)  # type: ignore[arg-type]
        with pytest.raises(ConditionViolated, match=r"whether a record reports at all|no valid pair is known"):
            account(drawn, relation="add-or-remove-one")


@pytest.mark.parametrize(("batch_size", "population"), [(1, 4), (3, 4), (2, 3)])
@pytest.mark.parametrize("gamma", [Fraction(1), Fraction(3, 2), Fraction(5, 2)])
def test_reports_by_name_tell_who_is_in_the_batch(batch_size: int, population: int, gamma: Fraction) -> None:
    """One observer of batches and of full ones: losses keep their size and are thinned, which is attained."""
    laws = []
    for own in (0, 1):
        batches = list(itertools.combinations(enumerate((own, *[0] * (population - 1))), batch_size))
        named = [
            {
                tuple(zip(names, told, strict=True)): weight
                for told, weight in joint([response(category, 2, Fraction(3)) for category in told_to]).items()
            }
            for names, told_to in (zip(*batch, strict=True) for batch in batches)
        ]
        laws.append(mixture([Fraction(1, len(batches))] * len(batches), named))
    spec = Subsampled(
        sampling="without-replacement",
        batch_size=batch_size,
        population=population,
        mechanism=RandomizedResponse(epsilon=LOG_3, categories=2),
    )
    guarantee = account(spec, relation="replace-one").guarantee
    assert guarantee.theorems()[0] == "epsilond.drawn-or-not"
    known, truth = guarantee.curve.log_delta(math.log(gamma)), log_of(hockey_stick(laws[0], laws[1], gamma))
    assert known.lower - 1e-12 <= truth <= known.upper + 1e-12
    assert known.upper - known.lower < 1e-12


def test_a_zeroed_report_that_is_drawn_or_not_is_thinned() -> None:
    """Zeroed is answered as 0 and counted; not drawn is not counted."""
    rate, spec = Fraction(1, 10), RandomizedResponse(epsilon=LOG_3, categories=2)
    laws = [
        mixture([1 - rate, rate], [{"nobody": Fraction(1)}, response(category, 2, Fraction(3))]) for category in (0, 1)
    ]
    for relation in ("zero-out-one", "replace-one"):
        drawn = Subsampled(sampling="poisson", rate=0.1, mechanism=spec)
        curve = account(drawn, relation=relation).guarantee.curve  # type: ignore[arg-type]
        for gamma in (Fraction(1), Fraction(2)):
            truth = log_of(hockey_stick(laws[0], laws[1], gamma))
            assert truth == pytest.approx(curve.log_delta(math.log(gamma)).upper, abs=1e-12)


@pytest.mark.parametrize("fields", [{"epsilon": 0.0, "categories": 2}, {"epsilon": 1.0, "categories": 1}])
def test_reports_that_no_run_can_have(fields: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        RandomizedResponse(**fields)  # type: ignore[arg-type]
