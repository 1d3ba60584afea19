"""Random compositions over every magnitude: never NaN, ends in order, refusals with a reason, two ways that agree."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.facts import SampledGaussianLaw
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason
from tests.oracles.contour import Step, one_step

DIRECTIONS = ("remove", "add", "replace")


def magnitudes(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(math.log(low), math.log(high)).map(math.exp)


laws = st.builds(
    SampledGaussianLaw,
    st.one_of(magnitudes(1e-9, 1.0).map(lambda rate: min(rate, 1.0)), st.floats(0.0, 1.0)),
    magnitudes(1e-6, 20.0),
    st.sampled_from(DIRECTIONS),
)
counts = magnitudes(1.0, 1e9).map(round)
log_deltas = st.floats(math.log(1e-300), math.log(0.5))


def answer(call: Callable[[], Interval]) -> Interval | None:
    """What the engine answers; None if it refuses for one of the reasons that are not faults of its own."""
    try:
        return call()
    except ContourRefused as refused:
        if refused.reason not in RefusalReason or refused.reason is RefusalReason.INCONSISTENT:
            raise
        return None


def check(composition: list[tuple[SampledGaussianLaw, int]], log_delta: float) -> bool:
    """Whether the engine answers; what it answers is consistent."""
    found = answer(lambda: contour.epsilon(composition, log_delta))
    if found is None:
        return False
    assert 0.0 <= found.lower <= found.upper < math.inf
    at_upper = answer(lambda: contour.log_delta(composition, found.upper))
    at_lower = answer(lambda: contour.log_delta(composition, found.lower))
    for enclosure in (at_upper, at_lower):
        assert enclosure is None or enclosure.lower <= enclosure.upper <= 0.0
    assert at_upper is None or at_upper.lower <= log_delta
    assert at_lower is None or found.lower == 0.0 or at_lower.upper >= log_delta
    return True


@settings(max_examples=20, deadline=None, derandomize=True, database=None)
@given(composition=st.lists(st.tuples(laws, counts), min_size=1, max_size=2), log_delta=log_deltas)
def test_any_composition_is_answered_consistently_or_refused(
    composition: list[tuple[SampledGaussianLaw, int]], log_delta: float
) -> None:
    check(composition, log_delta)


def ordinary(generator: random.Random) -> tuple[SampledGaussianLaw, int]:
    """What training runs look like, and somewhat beyond."""
    rate = 10 ** generator.uniform(-4, -0.3)
    noise_multiplier = generator.uniform(0.5, 10.0)
    return SampledGaussianLaw(rate, 1 / noise_multiplier, generator.choice(DIRECTIONS)), int(
        10 ** generator.uniform(1, 6)
    )


def test_nearly_every_ordinary_composition_is_answered() -> None:
    generator = random.Random(1)
    answered = sum(check([ordinary(generator)], -math.log(10) * generator.uniform(3, 30)) for _ in range(20))
    assert answered >= 18


@pytest.mark.slow
def test_thousands_of_random_compositions() -> None:
    generator = random.Random(2)
    answered = 0
    for _ in range(2000):
        composition = [ordinary(generator) for _ in range(generator.choice((1, 1, 1, 2, 3)))]
        answered += check(composition, -math.log(10) * generator.uniform(0.4, 60))
    assert answered >= 1800
    for _ in range(500):
        rate = generator.choice((10 ** generator.uniform(-9, 0), 1 - 10 ** generator.uniform(-9, -0.3)))
        law = SampledGaussianLaw(rate, 10 ** generator.uniform(-6, 1.3), generator.choice(DIRECTIONS))
        check([(law, int(10 ** generator.uniform(0, 9)))], generator.uniform(math.log(1e-300), math.log(0.5)))


@pytest.mark.slow
def test_hundreds_of_single_steps_against_their_closed_form() -> None:
    generator = random.Random(3)
    compared = 0
    with mp.workdps(400):
        for _ in range(250):
            rate = generator.choice(
                (10 ** generator.uniform(-4, 0), 1 - 10 ** generator.uniform(-9, -0.3), generator.random())
            )
            law = SampledGaussianLaw(rate, 10 ** generator.uniform(-1.5, 0.7), generator.choice(DIRECTIONS))
            log_delta = -(10 ** generator.uniform(-0.3, 2.8))
            try:
                found = contour.epsilon([(law, 1)], log_delta)
                enclosure = contour.log_delta([(law, 1)], found.upper)
            except ContourRefused:
                continue
            truth = one_step(Step(law.rate, law.shift, law.direction), found.upper)
            log_truth = mp.log(truth) if truth > 0 else -mp.inf
            assert enclosure.lower <= log_truth <= enclosure.upper
            assert log_truth <= log_delta
            compared += 1
    assert compared >= 170
