"""The contour engine's answers: published figures, closed forms, laws, and what it refuses."""

from __future__ import annotations

import math
import pickle

import mpmath as mp
import pytest

from epsilond.accountants.curve.facts import GaussianLaw, SampledGaussianLaw
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.engine.contour import noise_steps
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason
from epsilond.accountants.errors import InvalidInput
from tests.oracles.contour import Step, one_step
from tests.oracles.hockey_stick import theta

DIRECTIONS = ("remove", "add", "replace")


def sampled(rate: float, noise_multiplier: float, direction: str) -> SampledGaussianLaw:
    return SampledGaussianLaw(rate, 1.0 / noise_multiplier, direction)


def add_or_remove_epsilon(rate: float, noise_multiplier: float, rounds: int, delta: float) -> tuple[float, float]:
    ends = [
        contour.epsilon([(sampled(rate, noise_multiplier, direction), rounds)], math.log(delta))
        for direction in ("remove", "add")
    ]
    return max(end.lower for end in ends), max(end.upper for end in ends)


@pytest.mark.parametrize(
    ("case", "published"),
    [
        ((0.01, 1.0, 1000, 1e-6), 2.124515171120119),
        ((0.01, 1.0, 1000, 1e-12), 3.914298156037466),
        ((0.01, 1.0, 1000, 1e-30), 9.34189563270514),
        ((0.001, 0.6, 100000, 1e-6), 6.960843884221424),
    ],
)
def test_published_epsilon_of_add_or_remove(case: tuple[float, float, int, float], published: float) -> None:
    lower, upper = add_or_remove_epsilon(*case)
    assert lower <= upper
    assert upper - lower <= 1e-9 * upper
    assert abs(upper - published) <= 1e-9 * published


def test_published_epsilon_in_fewer_digits() -> None:
    assert add_or_remove_epsilon(0.01, 1.0, 1000, 1e-14)[1] == pytest.approx(4.5437, abs=5e-5)
    replace = contour.epsilon([(sampled(0.01, 1.0, "replace"), 1000)], math.log(1e-6))
    assert replace.upper == pytest.approx(3.214, abs=5e-4)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(
    ("rate", "noise_multiplier", "log_delta"),
    [(0.3, 2.0, -5.0), (0.7, 4.0, -40.0), (0.9, 1.5, -11.0), (0.999, 3.0, -70.0), (0.2, 3.0, -30.0)],
)
def test_one_step_against_its_closed_form(
    rate: float, noise_multiplier: float, log_delta: float, direction: str
) -> None:
    law = sampled(rate, noise_multiplier, direction)
    step = Step(law.rate, law.shift, direction)
    with mp.workdps(150):
        found = contour.epsilon([(law, 1)], log_delta)
        assert mp.log(one_step(step, found.upper)) <= log_delta
        assert found.lower == 0.0 or mp.log(one_step(step, found.lower)) > log_delta
        for epsilon in (found.upper, 0.8 * found.upper):
            enclosure = contour.log_delta([(law, 1)], epsilon)
            assert enclosure.lower <= mp.log(one_step(step, epsilon)) <= enclosure.upper
            assert enclosure.upper - enclosure.lower <= 1e-7


@pytest.mark.parametrize(
    ("mus", "epsilon"),
    [
        (((0.3, 5), (0.01, 1000)), 1.0),
        (((1.0, 1),), 30.0),
        (((1.0, 1),), 37.0),
        (((5.0, 1),), 0.0),
        (((0.05, 1),), 0.3),
    ],
)
def test_gaussian_composition_against_its_closed_form(mus: tuple[tuple[float, int], ...], epsilon: float) -> None:
    enclosure = contour.log_delta([(GaussianLaw(mu), count) for mu, count in mus], epsilon)
    with mp.workdps(40):
        exact_mu = mp.sqrt(mp.fsum(mp.mpf(count) * mp.mpf(mu) ** 2 for mu, count in mus))
    with mp.workdps(700):
        a = mp.mpf(epsilon) / exact_mu - exact_mu / 2
        truth = mp.log(mp.ncdf(-a) - mp.exp(epsilon) * mp.ncdf(-a - exact_mu))
    assert enclosure.lower <= truth <= enclosure.upper
    assert enclosure.upper - enclosure.lower <= 1e-10


def test_gaussian_epsilon_at_1e_minus_300() -> None:
    found = contour.epsilon([(GaussianLaw(0.5), 4)], math.log(1e-300))
    with mp.workdps(400):
        assert mp.log(theta(found.upper, 1.0)[0]) <= math.log(1e-300) < mp.log(theta(found.lower, 1.0)[0])
    assert found.upper - found.lower < 1e-10


def test_a_rate_of_one_is_a_gaussian() -> None:
    whole = contour.log_delta([(SampledGaussianLaw(1.0, 0.25, "replace"), 7)], 1.0)
    gaussian = contour.log_delta([(GaussianLaw(0.5), 7)], 1.0)
    assert whole == gaussian
    assert contour.log_delta([(SampledGaussianLaw(1.0, 0.5, "add"), 7)], 1.0) == gaussian


def test_repetition_is_a_list_and_order_does_not_matter() -> None:
    first, second = sampled(0.02, 1.0, "remove"), sampled(0.01, 2.0, "remove")
    together = contour.log_delta([(first, 40), (second, 60)], 0.7)
    assert contour.log_delta([(second, 30), (first, 40), (second, 30)], 0.7) == pytest.approx(together, abs=1e-12)


def test_losses_that_are_zero() -> None:
    nothing = [
        (GaussianLaw(0.0), 9),
        (SampledGaussianLaw(0.0, 1.0, "add"), 3),
        (SampledGaussianLaw(0.5, 0.0, "remove"), 2),
    ]
    assert contour.log_delta(nothing, 0.0) == (-math.inf, -math.inf)
    lower, upper = contour.log_delta(nothing, -0.5)
    assert lower <= math.log(1 - math.exp(-0.5)) <= upper
    assert contour.epsilon(nothing, -5.0) == (0.0, 0.0)
    real = [(sampled(0.1, 1.0, "remove"), 10)]
    assert contour.log_delta([*real, *nothing], 1.0) == contour.log_delta(real, 1.0)
    assert contour.epsilon(real, 0.0) == (0.0, 0.0)


def test_delta_is_exactly_zero_from_the_supremum_of_a_bounded_loss_on() -> None:
    laws = [(sampled(0.1, 1.0, "add"), 3), (sampled(0.2, 1.0, "add"), 2)]
    supremum = -3 * math.log1p(-0.1) - 2 * math.log1p(-0.2)
    assert contour.log_delta(laws, supremum * (1 + 1e-14)) == (-math.inf, -math.inf)
    assert contour.log_delta(laws, 0.5 * supremum).lower > -math.inf


def test_an_epsilon_of_zero_is_recognised() -> None:
    assert contour.epsilon([(sampled(1e-6, 1e4, "replace"), 1000)], math.log(0.5)) == (0.0, 0.0)
    assert contour.epsilon([(GaussianLaw(1e-3), 1)], math.log(1e-2)) == (0.0, 0.0)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_negative_and_zero_epsilon(direction: str) -> None:
    law = sampled(0.2, 1.0, direction)
    other = law.reverse()
    for epsilon in (0.0, -0.4):
        here = contour.log_delta([(law, 20)], epsilon)
        # E_γ(P‖Q) = 1 − γ + γ E_{1/γ}(Q‖P)
        there = contour.log_delta([(other, 20)], -epsilon)
        expected = [-math.expm1(epsilon) + math.exp(epsilon + end) for end in there]
        assert math.exp(here.lower) <= expected[1] * (1 + 1e-12)
        assert expected[0] <= math.exp(here.upper) * (1 + 1e-12)


def test_the_enclosure_of_epsilon_is_certified_on_both_sides() -> None:
    laws = [(sampled(0.02, 1.1, "remove"), 300), (GaussianLaw(0.2), 3)]
    found = contour.epsilon(laws, -23.0)
    assert contour.log_delta(laws, found.upper).upper <= -23.0 + 1e-9
    assert contour.log_delta(laws, found.lower).lower > -23.0 - 1e-9
    assert 0 < found.upper - found.lower < 1e-9


@pytest.mark.parametrize("rounds", [10**3, 10**6])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_relative_width_is_far_below_1e_minus_7_at_any_delta(rounds: int, direction: str) -> None:
    for log_delta in (-13.8, -138.0, -690.0):
        found = contour.epsilon([(sampled(0.01, 1.0, direction), rounds)], log_delta)
        enclosure = contour.log_delta([(sampled(0.01, 1.0, direction), rounds)], found.upper)
        assert enclosure.upper - enclosure.lower < 1e-8


def test_refusals_carry_their_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    laws = [(sampled(0.01, 1.0, "remove"), 1000)]
    with monkeypatch.context() as patch:
        patch.setattr(noise_steps, "MOST_NODES", 40)
        with pytest.raises(ContourRefused) as refused:
            contour.log_delta(laws, 2.0)
    assert refused.value.reason is RefusalReason.BEYOND_BUDGET
    with pytest.raises(ContourRefused) as refused:
        contour.log_delta(laws, 2.0, widest=1e-15)
    assert refused.value.reason is RefusalReason.TOO_WIDE
    with pytest.raises(ContourRefused):
        contour.log_delta([(SampledGaussianLaw(1e-120, 1.0, "remove"), 5)], 2.0)
    copied = pickle.loads(pickle.dumps(refused.value))
    assert (copied.reason, copied.detail) == (refused.value.reason, refused.value.detail)


def test_what_is_not_a_number_is_no_question() -> None:
    laws = [(sampled(0.1, 1.0, "remove"), 10)]
    with pytest.raises(ValueError):
        contour.log_delta(laws, math.nan)
    with pytest.raises(ValueError):
        contour.epsilon(laws, math.nan)
    assert contour.log_delta(laws, math.inf) == (-math.inf, -math.inf)


@pytest.mark.parametrize(
    ("field", "build"),
    [
        ("/mu", lambda: GaussianLaw(-1.0)),
        ("/mu", lambda: GaussianLaw(math.nan)),
        ("/rate", lambda: SampledGaussianLaw(1.5, 1.0, "add")),
        ("/shift", lambda: SampledGaussianLaw(0.5, math.inf, "add")),
        ("/direction", lambda: SampledGaussianLaw(0.5, 1.0, "sideways")),
    ],
)
def test_laws_refuse_impossible_numbers(field: str, build) -> None:
    with pytest.raises(InvalidInput) as refused:
        build()
    assert refused.value.faults[0].pointer == field


def test_laws_reverse() -> None:
    law = sampled(0.1, 2.0, "remove")
    assert law.reverse().direction == "add"
    assert law.reverse().reverse() == law
    assert GaussianLaw(1.0).reverse() == GaussianLaw(1.0)
    assert sampled(0.1, 2.0, "replace").reverse() == sampled(0.1, 2.0, "replace")
