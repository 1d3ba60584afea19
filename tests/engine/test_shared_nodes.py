"""Nodes that several questions and several parts share."""

from __future__ import annotations

import functools
import math
import random
from typing import NoReturn

import pytest

from epsilond.accountants.account import account
from epsilond.accountants.composition.exact_laws import ExactProfile
from epsilond.accountants.curve.facts import SampledGaussianLaw
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.engine.contour import profile, reductions, saddle
from epsilond.accountants.engine.contour.parts import compiled
from epsilond.accountants.engine.contour.transforms.transform import ContourRefused, Joined, Line
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled

DIRECTIONS = ("remove", "add", "replace")


def forget() -> None:
    for module in (saddle, profile, contour):
        for each in vars(module).values():
            if isinstance(each, functools._lru_cache_wrapper):
                each.cache_clear()


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_what_was_asked_before_changes_nothing(direction: str) -> None:
    laws = [(SampledGaussianLaw(0.01, 1.0, direction), 1000)]
    asked = [0.02 + 0.1 * k for k in range(30)]
    answers = {}
    for epsilon in asked:
        forget()
        answers[epsilon] = contour.log_delta(laws, epsilon)
    random.Random(7).shuffle(asked)
    for epsilon in asked:
        contour.epsilon(laws, random.Random(epsilon).uniform(-300.0, -3.0))
        assert contour.log_delta(laws, epsilon) == answers[epsilon]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_shared_nodes_agree_with_nodes_laid_for_one_epsilon(direction: str) -> None:
    laws = [(SampledGaussianLaw(0.01, 1.0, direction), 1000)]
    parts = compiled(laws)
    for epsilon in (0.01, 0.3, 1.0, 2.7):
        shared = contour.log_delta(laws, epsilon)
        alone = contour._centred(parts, epsilon, contour.DEFAULT_BUDGET, 0.0).log_delta(epsilon)
        assert max(shared.lower, alone.lower) <= min(shared.upper, alone.upper)
        assert shared.upper - shared.lower <= contour.GOOD_WIDTH


@pytest.mark.parametrize(("rate", "shift", "count"), [(1e-3, 1.0 / 0.6, 1000), (1e-3, 1.0, 1000), (1e-3, 0.2, 1000)])
def test_nodes_below_the_saddle_of_giant_losses_are_few_and_agree_with_a_cut(
    rate: float, shift: float, count: int
) -> None:
    laws = [(SampledGaussianLaw(rate, shift, "remove"), count)]
    parts = compiled(laws)
    found = contour.epsilon(laws, math.log(1e-6))
    for epsilon in (0.8 * found.upper, found.upper, 1.2 * found.upper):
        here = contour.log_delta(laws, epsilon)
        target = saddle.at_epsilon(epsilon)
        cut = contour._evaluated(
            reductions.cut_noise(parts, target, contour.DEFAULT_BUDGET)[0], epsilon, contour.DEFAULT_BUDGET
        )
        assert max(here.lower, cut.value.lower) <= min(here.upper, cut.value.upper)
        assert here.upper - here.lower <= 1e-6
        place = saddle.find(parts, target, contour.QUICK).place
        near = profile.shared(parts, place, contour.QUICK)
        assert near.nodes.line.tilt < 0.95 * place.tilt
        assert near.nodes.line.nodes < 1000


@pytest.mark.parametrize(("rate", "shift", "count"), [(1e-3, 0.2, 1000), (1e-3, 1.0, 1000), (0.01, 1.0, 1000)])
@pytest.mark.parametrize("log_delta", [-8.0, -14.0, -30.0])
def test_the_saddle_is_found_where_giant_losses_take_over(
    rate: float, shift: float, count: int, log_delta: float
) -> None:
    parts = compiled([(SampledGaussianLaw(rate, shift, "remove"), count)])
    target = saddle.at_log_delta(log_delta)
    place, survey = saddle.find(parts, target, contour.QUICK)
    low, high = (survey.place(place.tilt * factor) for factor in (0.99, 1.01))
    assert target.value(low) < 0.0 < target.value(high)
    assert abs(target.value(place) / target.slope(place)) * place.width < saddle._CLOSE


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_ladders_begin_about_where_questions_are_asked(direction: str) -> None:
    for shift in (0.1, 0.2, 0.5):
        parts = compiled([(SampledGaussianLaw(1e-3, shift, direction), 1000)])
        place, survey = saddle.find(parts, saddle.at_log_delta(-14.0), contour.QUICK)
        assert survey.reach == saddle._first_reach(parts, contour.QUICK)
        assert place.tilt <= survey.reach <= 32.0 * place.tilt


def test_the_ends_of_the_other_order_are_not_sought_where_it_meets_the_target() -> None:
    laws = ((SampledGaussianLaw(1e-3, 0.2, "add"), 1000),)
    order, log_delta = ExactProfile(laws, never), math.log(1e-6)
    found, _ = order.enclose_epsilon(log_delta)
    assert order.surely_meets(found.upper * (1.0 + 1e-3), log_delta)
    assert not order.surely_meets(found.lower * (1.0 - 1e-3), log_delta)
    assert order.bound_log_delta(found.upper * (1.0 + 1e-3), enough=log_delta) > log_delta  # too high to tell


def never() -> NoReturn:
    raise AssertionError


@pytest.mark.parametrize("count", [7, 120])
def test_many_different_parts_lie_between_equal_ones(count: int) -> None:
    spread, rate = 1e-9, 2.4 / count
    each = [SampledGaussianLaw(rate, 1.0 + spread * k / count, "remove") for k in range(count)]
    together = contour.log_delta([(law, 1) for law in each], 0.5)
    least = contour.log_delta([(each[0], count)], 0.5)
    most = contour.log_delta([(SampledGaussianLaw(rate, 1.0 + spread, "remove"), count)], 0.5)
    assert together.lower <= most.upper
    assert together.upper >= least.lower
    assert together.upper - together.lower <= 10 * contour.GOOD_WIDTH


def test_the_rounding_of_adding_parts_is_charged() -> None:
    line = Line(1.0, 0.25, 5)
    parts = [
        compiled([(SampledGaussianLaw(0.3, 0.1 * k, "remove"), 3 * k)])[0]
        .resolve((1.0, 1.0), 2.0, contour.DEFAULT_BUDGET)
        .on_line(line)
        for k in range(1, 12)
    ]
    values, size = Joined.of(parts)
    for node in range(line.nodes):
        exact = math.fsum(part.phase[node] for part in parts)
        own = math.fsum(part.rounding[node] for part in parts)
        assert abs(values.phase[node] - exact) <= values.rounding[node] - own + 1e-300
        assert values.rounding[node] >= own
    assert size == pytest.approx(math.fsum(abs(part.cumulant) for part in parts))
    assert Joined.of(parts[:1]).values.phase.tolist() == parts[0].phase.tolist()


def test_the_lesser_order_is_left_out_only_below_the_other() -> None:
    batch = Subsampled(sampling="poisson", rate=0.01, mechanism=Gaussian(noise_multiplier=1.0))
    pair = account(Repeated(times=1000, mechanism=batch), relation="add-or-remove-one").guarantee.curve.upper
    assert len(pair.directions()) == 2
    for epsilon in (0.0, 1e-3, 0.1, 1.0, 3.0):
        whole = [order.enclose(epsilon) for order in pair.directions() if isinstance(order, ExactProfile)]
        ends = pair.log_delta_bounds(epsilon)
        assert ends.upper == max(end.upper for end in whole)
        assert ends.lower == max(end.lower for end in whole)
        for order, end in zip(pair.directions(), whole, strict=True):
            assert isinstance(order, ExactProfile)
            assert order.bound_log_delta(epsilon) >= end.lower


@pytest.mark.parametrize("epsilon", [0.05, 0.13, 0.5, 3.0])
def test_one_epsilon_of_many_is_answered_as_one_alone_or_refused(epsilon: float) -> None:
    laws = [(SampledGaussianLaw(0.001, 1.0 / 0.6, "remove"), 10)]
    try:
        found = contour.log_delta(laws, epsilon, among_many=True)
    except ContourRefused:
        assert epsilon < 0.2
    else:
        alone = contour.log_delta(laws, epsilon)
        assert max(found.lower, alone.lower) <= min(found.upper, alone.upper)
        assert found.upper - found.lower <= 1.05 * (alone.upper - alone.lower)
