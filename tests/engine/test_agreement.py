"""The kernel, the reference, the lattice and ball arithmetic enclose the same δ."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.engine import kernel
from epsilond.accountants.engine.contour import composition as reference
from epsilond.accountants.engine.exact import NO_CERTIFICATE, WIDEST
from epsilond.accountants.engine.lattice.composition import compose
from tests.engine.random_questions import Asked, drawn_questions, questions, rare_questions
from tests.oracles import inversion

ORACLE = 1e-9
"""Relative error of δ that the inversion may have: it ends where terms are below 1e-14, of which thousands may follow.

The largest error seen was 1.2e-10; a finer inversion then lay within the kernel's ends."""
LATTICE_ROOM = 1e-12
"""Relative rounding of the noise multiplier 1/s that the lattice is given, in δ per unit of 1 + |log δ|."""


def reference_ends(asked: Asked, epsilon: float) -> Interval | None:
    try:
        return reference.log_delta(asked.laws, epsilon)
    except NO_CERTIFICATE:
        return None


def lattice_ends(asked: Asked, epsilon: float) -> Interval | None:
    pairs = asked.pairs
    if pairs is None:
        return None
    bounds = compose(pairs).forward.log_delta(np.asarray([epsilon]))
    room = LATTICE_ROOM * (1.0 - asked.log_delta)
    return Interval(float(bounds.lower[0]) - room, float(bounds.upper[0]) + room)


def meet(first: Interval, second: Interval) -> bool:
    return first.lower <= second.upper and second.lower <= first.upper


def compare(number: int, seed: int) -> tuple[int, int]:
    """Ask about Poisson batches: counts as `compare_answers`."""
    return compare_answers(questions(seed, number, ("remove",) if seed % 2 else ("remove", "add", "replace")))


def ask_kernel(question: Callable[..., kernel.KernelEnclosure | None], *given: object) -> kernel.KernelEnclosure | None:
    """Return the kernel's answer; None if it refuses."""
    try:
        return question(*given)
    except kernel.NoLineDecays:
        return None


def compare_answers(all_asked: Iterable[Asked]) -> tuple[int, int]:
    """Return how many questions the kernel and the reference answered; whatever two of them answer meets."""
    by_kernel = by_reference = 0
    for asked in all_asked:
        solved = ask_kernel(kernel.epsilon, asked.laws, asked.log_delta, 0.0)
        if solved is None:
            continue
        assert 0.0 <= solved.bounds.lower <= solved.bounds.upper < math.inf
        assert solved.width <= WIDEST
        epsilon = solved.bounds.upper
        found = ask_kernel(kernel.log_delta, asked.laws, epsilon)
        answers = [reference_ends(asked, epsilon), lattice_ends(asked, epsilon)]
        if found is not None:
            by_kernel += 1
            assert found.bounds.lower <= asked.log_delta, asked
            assert found.width <= WIDEST
            answers.append(found.bounds)
        by_reference += answers[0] is not None
        known = [answer for answer in answers if answer is not None]
        assert all(meet(first, second) for first in known for second in known), (asked, epsilon, answers)
    return by_kernel, by_reference


@pytest.fixture(autouse=True)
def _needs_the_kernel() -> None:
    if kernel.load_kernel() is None:
        pytest.skip("the kernel was not built")


@pytest.mark.parametrize("seed", [1, 2])
def test_enclosures_meet(seed: int) -> None:
    by_kernel, by_reference = compare(12, seed)
    assert by_kernel >= 8
    assert by_reference >= 8


def test_enclosures_of_batches_without_replacement_meet() -> None:
    by_kernel, by_reference = compare_answers(drawn_questions(3, 12))
    assert by_kernel >= 8
    assert by_reference >= 6


def test_enclosures_of_few_rare_steps_meet() -> None:
    by_kernel, _ = compare_answers(rare_questions(4, 12))
    assert by_kernel >= 11


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(400, 410))
def test_a_thousand_enclosures_of_few_rare_steps_meet(seed: int) -> None:
    by_kernel, _ = compare_answers(rare_questions(seed, 100))
    assert by_kernel >= 94


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(300, 310))
def test_a_thousand_enclosures_of_batches_without_replacement_meet(seed: int) -> None:
    by_kernel, by_reference = compare_answers(drawn_questions(seed, 100))
    assert by_kernel >= 60
    assert by_reference >= 50


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 150))
def test_ten_thousand_enclosures_meet(seed: int) -> None:
    by_kernel, by_reference = compare(200, seed)
    assert by_kernel >= 150
    assert by_reference >= 140


def against_ball_arithmetic(number: int, seed: int) -> int:
    """Return how many questions the inversion answered; the kernel's enclosures hold its value."""
    compared = 0
    for asked in questions(seed, number):
        solved = ask_kernel(kernel.epsilon, asked.laws, asked.log_delta, 0.0)
        if solved is None or solved.bounds.upper == 0.0:
            continue
        found = ask_kernel(kernel.log_delta, asked.laws, solved.bounds.upper)
        truth = inversion.log_delta(asked.steps, solved.bounds.upper, most_terms=1500)
        if truth is None or found is None:
            continue
        assert found.bounds.lower - ORACLE <= float(truth) <= found.bounds.upper + ORACLE, asked
        assert mp.mpf(asked.log_delta) + ORACLE >= truth
        compared += 1
    return compared


def test_ball_arithmetic_lies_within() -> None:
    assert against_ball_arithmetic(6, 7) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200, 240))
def test_hundreds_of_inversions_lie_within(seed: int) -> None:
    """Forty seeds of twenty questions, of which both answer about thirteen: some five hundred in all."""
    assert against_ball_arithmetic(20, seed) >= 6
