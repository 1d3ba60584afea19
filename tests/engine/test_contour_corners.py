"""Parameters at which a tilted contour is easily wrong, each once."""

from __future__ import annotations

import math
import tracemalloc
from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.facts import GaussianLaw, SampledGaussianLaw
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.engine.contour import noise_steps
from epsilond.accountants.engine.contour.chernoff import ChernoffBounds, log_chernoff_factor
from epsilond.accountants.engine.contour.grouped_laws import build_parts
from epsilond.accountants.engine.contour.line import build_integrand_at
from epsilond.accountants.engine.contour.part import Line
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason
from epsilond.accountants.engine.contour.saddle import epsilon_target, find_saddle, measure_saddle
from tests.oracles.contour import Step, by_contour, one_step


def law(rate: float, noise_multiplier: float, direction: str) -> SampledGaussianLaw:
    return SampledGaussianLaw(rate, 1.0 / noise_multiplier, direction)


def epsilon_or_refusal(laws: list[tuple[SampledGaussianLaw, int]], log_delta: float) -> Interval | ContourRefused:
    try:
        return contour.epsilon(laws, log_delta)
    except ContourRefused as refused:
        return refused


def test_a_giant_shift_is_refused_before_its_panels_are_laid() -> None:
    """Panels as narrow as 3/s over the noise would take gigabytes."""
    refused = epsilon_or_refusal([(law(0.5, 1e-7, "remove"), 100)], -11.5)
    assert isinstance(refused, ContourRefused)
    assert refused.reason == RefusalReason.BEYOND_BUDGET
    assert "panels" in refused.detail


# Near a first-order transition of K a tilt search may stop anywhere. What is certified must not depend on it.

TRANSITION = (
    ((0.0071635795220509136, 1.8133691090929016, "replace"), 2341, 5.0409700010221705, 18.0, 9.0, 420),
    ((0.00795, 2.339, "replace"), 2239, 5.7094, 26.0, 12.0, 800),
)


@pytest.mark.parametrize(("parameters", "rounds", "epsilon", "tilt", "period", "count"), TRANSITION)
def test_a_first_order_transition_is_answered_correctly(
    parameters: tuple[float, float, str], rounds: int, epsilon: float, tilt: float, period: float, count: int
) -> None:
    rate, noise_multiplier, direction = parameters
    enclosure = contour.log_delta([(law(*parameters), rounds)], epsilon)
    with mp.workdps(60):
        step = Step(rate, 1.0 / noise_multiplier, direction, rounds)
        truth = mp.log(by_contour([step], epsilon, tilt=tilt, period=period, count=count, spacing=0.07))
    assert enclosure.lower <= truth <= enclosure.upper
    assert enclosure.upper - enclosure.lower < 1e-7


def test_the_known_value_at_a_transition() -> None:
    enclosure = contour.log_delta([(law(*TRANSITION[0][0]), TRANSITION[0][1])], TRANSITION[0][2])
    assert enclosure.lower <= -89.3915520447230 + 1e-12
    assert enclosure.upper >= -89.3915520447230 - 1e-12


def test_a_third_transition_from_the_other_side() -> None:
    laws = [(law(0.009843, 2.950, "replace"), 427)]
    found = contour.epsilon(laws, -70.76)
    enclosure = contour.log_delta(laws, found.upper)
    assert enclosure.upper <= -70.76 + 1e-7
    assert enclosure.lower > -70.76 - 1e-6


@pytest.mark.parametrize("tilt", [0.3, 1.5, 9.0, 15.0, 22.0, 40.0])
def test_any_tilt_whatever_gives_a_true_enclosure_or_a_refusal(tilt: float) -> None:
    parameters, rounds, epsilon = TRANSITION[0][:3]
    parts = build_parts([(law(*parameters), rounds)])
    saddle = measure_saddle([part.resolve(60.0, 0.0) for part in parts], tilt)
    try:
        enclosure = build_integrand_at(parts, saddle, epsilon, -89.0).enclosure(epsilon)
    except ContourRefused:
        return
    assert enclosure.lower <= -89.3915520447230 <= enclosure.upper


def test_a_sum_above_the_chernoff_bound_is_refused() -> None:
    parts = build_parts([(law(0.01, 1.0, "remove"), 1000)])
    saddle = find_saddle(parts, epsilon_target(2.0))
    integrand = build_integrand_at(parts, saddle, 2.0, saddle.log_delta)
    lowered = ChernoffBounds(integrand.chernoff.tilts, integrand.chernoff.log_bounds - 20)
    with pytest.raises(ContourRefused) as refused:
        replace(integrand, chernoff=lowered).enclosure(2.0)
    assert refused.value.reason is RefusalReason.INCONSISTENT


# Bounded losses near their supremum, and single steps, ask for enormous tilts and node counts.


@pytest.mark.parametrize(
    ("rate", "noise_multiplier", "direction", "rounds", "log_delta"),
    [
        (0.0013428874, 0.8316, "add", 2, -104.9),
        (0.22, 0.47, "add", 2, -27.9),
        (0.357, 56.6, "replace", 1, -503.8),
        (0.0037, 0.0991, "add", 677625160, -53.54),
        (2.1e-5, 0.05, "remove", 7, -600.0),
    ],
)
def test_memory_is_bounded_whatever_is_asked(
    rate: float, noise_multiplier: float, direction: str, rounds: int, log_delta: float
) -> None:
    tracemalloc.start()
    try:
        found = epsilon_or_refusal([(law(rate, noise_multiplier, direction), rounds)], log_delta)
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()
    assert isinstance(found, ContourRefused) or found.lower <= found.upper


def test_too_many_nodes_are_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise_steps, "MOST_NODES", 60)
    tracemalloc.start()
    try:
        with pytest.raises(ContourRefused) as refused:
            contour.epsilon([(law(0.22, 0.47, "add"), 2)], -27.9)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()
    assert refused.value.reason is RefusalReason.BEYOND_BUDGET


# Rates near one move the tilted law away from [0, 1 + λ].


@pytest.mark.parametrize(
    ("rate", "noise_multiplier", "direction", "epsilon"),
    [
        (0.999997067, 1.2713, "add", 11.45),
        (0.999999, 1.0, "add", 12.67),
        (0.99993, 2.381, "replace", 11.21),
        (0.999987, 0.648, "replace", 25.81),
        (0.9999, 3.0, "remove", 4.0),
        (1 - 1e-12, 2.0, "add", 5.0),
    ],
)
def test_rates_near_one(rate: float, noise_multiplier: float, direction: str, epsilon: float) -> None:
    enclosure = contour.log_delta([(law(rate, noise_multiplier, direction), 1)], epsilon)
    with mp.workdps(200):
        truth = mp.log(one_step(Step(rate, 1.0 / noise_multiplier, direction), epsilon))
    assert enclosure.lower <= truth <= enclosure.upper
    assert enclosure.upper - enclosure.lower < 1e-8


@pytest.mark.parametrize(
    ("rate", "noise_multiplier", "direction", "rounds", "epsilon", "tilt", "period", "count"),
    [
        (0.999999, 1.0, "add", 5, 14.0, 3.2, 40.0, 60),
        (0.95, 12.0, "replace", 3, 7.154, 75.0, 5.0, 200),
    ],
)
def test_rates_near_one_over_several_steps(
    rate: float,
    noise_multiplier: float,
    direction: str,
    rounds: int,
    epsilon: float,
    tilt: float,
    period: float,
    count: int,
) -> None:
    enclosure = contour.log_delta([(law(rate, noise_multiplier, direction), rounds)], epsilon)
    with mp.workdps(60):
        step = Step(rate, 1.0 / noise_multiplier, direction, rounds)
        truth = mp.log(by_contour([step], epsilon, tilt=tilt, period=period, count=count, reach=30.0, spacing=0.1))
    assert enclosure.lower <= truth <= enclosure.upper
    assert enclosure.upper - enclosure.lower < 1e-9


# A million steps: roundings add up like their square root.


def test_a_million_steps_keep_eleven_digits() -> None:
    step = Step(0.01, 1.0, "remove", 10**6)
    epsilon = 148.6
    enclosure = contour.log_delta([(SampledGaussianLaw(step.rate, step.shift, step.direction), step.count)], epsilon)
    with mp.workdps(60):
        truth = mp.log(by_contour([step], epsilon, tilt=0.3, period=260.0, count=110))
    assert enclosure.lower <= truth <= enclosure.upper
    assert abs(0.5 * (enclosure.lower + enclosure.upper) - truth) < 1e-11
    assert enclosure.upper - enclosure.lower < 1e-9


# Where θ = arg r is multiplied by a large exponent, dropped nodes and the bound's own quadrature must be charged.


@pytest.mark.parametrize("direction", ["add", "replace"])
def test_large_tilts_keep_the_decay_bound_true(direction: str) -> None:
    part = build_parts([(law(0.01, 2.0, direction), 300)])[0]
    tilt = 150.0 if direction == "add" else 25.0
    actual = part.resolve(tilt, 60.5).on_line(Line(tilt, 0.5, 121)).log_modulus
    bounds = part.resolve(tilt, 0.0).log_decay(tilt, np.asarray([1.0, 10.0, 30.0, 60.0]))
    for t, bound in zip((1.0, 10.0, 30.0, 60.0), bounds.tolist(), strict=True):
        assert actual[int(2 * t) :].max() <= bound + 1e-8


# Where the noise must be cut, the leak is charged to the upper end only.


@pytest.mark.parametrize(
    ("rate", "noise_multiplier", "direction", "rounds", "delta", "epsilon"),
    [
        (0.009192013673867122, 4.0, "remove", 286, 2.3207603082516214e-24, 0.40744565440),
        (0.0022400278302959187, 2.0, "replace", 2274, 4.141096209060555e-14, 0.74621898915),
        (0.002215744596155136, 2.0, "remove", 4168, 1.0370593066185241e-15, 0.58210336),
        (0.001011306357481173, 2.0, "remove", 48264, 2.833109803414472e-34, 1.42249041),
    ],
)
def test_rare_giant_losses(
    rate: float, noise_multiplier: float, direction: str, rounds: int, delta: float, epsilon: float
) -> None:
    found = contour.epsilon([(law(rate, noise_multiplier, direction), rounds)], math.log(delta))
    assert found.upper == pytest.approx(epsilon, rel=1e-7)
    assert found.upper - found.lower < 1e-8 * found.upper


def test_a_cut_answer_against_another_tilt() -> None:
    # Below the transition the whole transform can still be inverted in high precision.
    step = Step(0.009192013673867122, 0.25, "remove", 286)
    epsilon = 0.407445654
    enclosure = contour.log_delta([(SampledGaussianLaw(step.rate, step.shift, step.direction), step.count)], epsilon)
    with mp.workdps(60):
        truth = mp.log(by_contour([step], epsilon, tilt=125.0, period=2.0, count=160, reach=22.0))
    assert enclosure.lower <= truth <= enclosure.upper
    assert enclosure.upper - enclosure.lower < 1e-6


def test_what_single_jumps_decide_is_refused_or_enclosed() -> None:
    honest = {RefusalReason.BEYOND_BUDGET, RefusalReason.NO_DECAY, RefusalReason.TOO_WIDE, RefusalReason.NOT_POSITIVE}
    for rounds in (46, 350):
        found = epsilon_or_refusal([(law(0.0036, 1.5, "remove"), rounds)], -68.0)
        assert found.reason in honest if isinstance(found, ContourRefused) else found.lower <= found.upper


def test_the_squares_of_many_gaussian_laws_are_added_up_exactly() -> None:
    """Each of a thousand small squares is 0.6 units in the last place of a large one, to which a float rounds it."""
    small = [GaussianLaw(math.sqrt(0.6 * 2.0**-52) * (1.0 + k * 2.0**-40)) for k in range(1000)]
    laws = [(GaussianLaw(1.0), 1), *((each, 1) for each in small)]
    with mp.workdps(400):
        distance = mp.sqrt(mp.fsum(mp.mpf(each.mu) ** 2 for each, _ in laws))
        truth = mp.log(one_step(Step(1.0, distance, "remove"), 30.0))
    enclosure = contour.log_delta(laws, 30.0)
    assert enclosure.lower <= truth <= enclosure.upper
    assert enclosure.upper - enclosure.lower < 2e-11


# δ near one and near nothing.


def test_delta_near_one_stays_below_one() -> None:
    enclosure = contour.log_delta([(law(0.9978, 1.1, "replace"), 19640)], 100.0)
    assert enclosure.upper <= 0.0
    assert enclosure.lower > -1e-8
    assert isinstance(enclosure, Interval)


@pytest.mark.parametrize("epsilon", [-1e-300, -1e-20, -0.5, -5.0, -20.0, -36.0, -50.0, -700.0, -740.0, -800.0])
def test_without_a_loss_delta_is_one_less_e_to_the_epsilon(epsilon: float) -> None:
    enclosure = contour.log_delta((), epsilon)
    with mp.workdps(700):
        truth = mp.log(-mp.expm1(mp.mpf(epsilon)))
        assert enclosure.lower <= truth <= enclosure.upper <= 0.0
        assert enclosure.upper - enclosure.lower <= -truth * mp.mpf(10) ** -14 + mp.mpf(10) ** -322


def test_the_chernoff_factor_is_one_at_zero() -> None:
    assert log_chernoff_factor(np.zeros(1))[0] == 0.0
