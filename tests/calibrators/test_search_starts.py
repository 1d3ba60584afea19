"""Test the start of a search at noises that were found before: no answer depends on it."""

from __future__ import annotations

import math

import pytest

import epsilond
from epsilond.accountants.estimates.trails import FURTHEST, POINTS_KEPT, TRAILS_KEPT, Trail, TrailPoint, Trails
from epsilond.calibrators.shuffled_mb_sgd.calibrator import CALIBRATOR
from epsilond.calibrators.shuffled_mb_sgd.trials import STEP


def curve(log_mu: float) -> float:
    return 1.3 - 0.9 * log_mu + 0.2 * log_mu * log_mu


def trail(*places: float) -> Trail:
    made = Trail()
    for place in places:
        made.add(TrailPoint(place, curve(place), -4.0, 1))
    return made


def test_a_place_on_a_parabola_is_met_from_three_points() -> None:
    found = trail(0.1, 0.25, 0.4).likely(0.55)
    assert found is not None
    assert found.log_noise == pytest.approx(curve(0.55), rel=1e-12)
    assert (found.log_mu, found.slope, found.way) == (0.55, -4.0, 1)


def test_the_nearest_points_decide_and_a_later_one_takes_the_place_of_an_earlier() -> None:
    made = trail(-0.3, 0.1, 0.2, 0.3)
    made.add(TrailPoint(0.2, curve(0.2) + 1.0, -4.0))
    made.add(TrailPoint(0.2, curve(0.2), -4.0))
    found = made.likely(0.25)
    assert found is not None
    assert found.log_noise == pytest.approx(curve(0.25), rel=1e-12)


def test_one_point_or_far_ones_are_no_guide() -> None:
    assert trail().likely(0.0) is None
    assert trail(0.0).likely(0.1) is None
    assert trail(0.0, 0.1).likely(0.1 + 1.01 * FURTHEST) is None
    assert trail(0.0, 0.1).likely(0.1 + 0.99 * FURTHEST) is not None


def test_what_is_kept_is_bounded() -> None:
    made = trail(*(0.01 * place for place in range(3 * POINTS_KEPT)))
    found = made.likely(0.01 * (3 * POINTS_KEPT - 1))
    assert found is not None
    assert made.likely(0.0) is None or 0.01 * 2 * POINTS_KEPT < FURTHEST
    trails = Trails()
    first = trails.of("release")
    assert trails.of("release") is first
    for place in range(TRAILS_KEPT):
        trails.of(place)
    assert trails.of("release") is not first


def test_the_answers_of_a_sweep_are_those_of_single_questions_in_any_order() -> None:
    """Their searches start elsewhere; the noise is a whole multiple of the step all the same."""
    run = {
        **CALIBRATOR.example,
        "clients": 400,
        "participants": 100,
        "rounds": 20,
        "readings": (),
        "relation": "replace-one",
        "unit": "record",
        "observer": "shuffled-server",
    }
    del run["epsilon"]
    values = [1.0, 1.15, 1.3, 1.45]
    swept = [each.answer for each in epsilond.sweep("shuffled-mb-sgd", "epsilon", values, **run).answers]
    turned = [each.answer for each in epsilond.sweep("shuffled-mb-sgd", "epsilon", values[::-1], **run).answers]
    noises = [each.parameters.noise_multiplier for each in swept if each]
    assert noises == [each.parameters.noise_multiplier for each in turned[::-1] if each]
    assert noises == sorted(noises, reverse=True)
    for noise in noises:
        steps = math.log(noise) / STEP
        assert abs(steps - round(steps)) < 1e-6
