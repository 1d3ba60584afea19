"""Lists of many laws in the lattice engine: laws much like one another are looked at as one kind."""

from __future__ import annotations

import math

import numpy as np

from epsilond.accountants.curve.facts import SampledGaussianLaw
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.engine.lattice import survey
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.engine.lattice.product import ComposedProfile
from epsilond.accountants.engine.lattice.survey import Kinds, LatticePart, Survey
from epsilond.accountants.profiles.amplification import Share, drawn_or_not, with_and_without
from epsilond.accountants.profiles.binned import finite_pair
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.laplace import laplace_pair

RATE = 0.05
SHIFTS = tuple(0.8 + 0.1 * place / 80 for place in range(80))


def gaussians() -> list[tuple[Pair, int]]:
    """Gaussian pairs drawn with probability 1/20, no two alike."""
    return [(with_and_without(gaussian_pair(shift), RATE), 1) for shift in SHIFTS]


def survey_of(pairs: list[tuple[Pair, int]]) -> Survey:
    """What the engine looks at."""
    return Survey(tuple(LatticePart(pair.forward, pair.backward, count) for pair, count in pairs), math.log(1e-4))


def test_laws_that_share_cells_enclose_what_the_contour_engine_finds() -> None:
    assert len(survey_of(gaussians()).kinds.chosen) < 40
    composed = compose(gaussians())
    for direction, order in (("remove", composed.forward), ("add", composed.backward)):
        laws = [(SampledGaussianLaw(RATE, shift, direction), 1) for shift in SHIFTS]
        exact, found = contour.log_delta(laws, 1.0), order.log_delta(np.asarray([1.0]))
        assert found.lower[0] <= exact.upper
        assert exact.lower <= found.upper[0]
        assert found.upper[0] - found.lower[0] <= 0.02


def test_sharing_cells_makes_an_answer_no_wider() -> None:
    at = np.asarray([2.0])
    shared = compose(gaussians()).forward.log_delta(at)
    before = survey._MANY
    survey._MANY = 10**9
    try:
        apart = compose(gaussians()).forward.log_delta(at)
    finally:
        survey._MANY = before
    assert shared.lower <= apart.upper
    assert apart.lower <= shared.upper
    assert shared.upper - shared.lower <= 1.05 * (apart.upper - apart.lower)


def test_every_law_is_of_a_kind_whose_tails_are_like_its_own() -> None:
    pairs = [*gaussians(), (laplace_pair(0.7), 1), (laplace_pair(0.7), 2)]
    parts = survey_of(pairs).parts
    kinds = Kinds.of(parts)
    at = np.asarray([0.0, 0.02, 0.1])
    for place, owner in enumerate(kinds.owners.tolist()):
        chosen = parts[kinds.chosen[owner]]
        assert type(chosen.first) is type(parts[place].first)
        assert chosen.count == parts[place].count
        assert np.abs(chosen.first.log_tails(at).log_p - parts[place].first.log_tails(at).log_p).max() <= 0.5
    assert kinds.copies.sum() == len(parts)
    assert survey_of(pairs).kind_counts.sum() == len(parts) + 1


def drawn_laplace(rate: float, shift: float) -> Pair:
    """A Laplace pair drawn at a rate: the larger the rate, the more likely and the smaller the largest losses."""
    return drawn_or_not(laplace_pair(shift), Share(rate, 1.0 - rate))[0]


def test_no_law_has_losses_beyond_the_cells_that_it_shares() -> None:
    pairs = [
        (drawn_laplace(rate, shift), 1)
        for rate, shift in zip(np.linspace(0.9, 0.3, 70).tolist(), np.linspace(0.6, 1.6, 70).tolist(), strict=True)
    ]
    found = survey_of(pairs)
    assert 1 < len(found.kinds.chosen) < 70
    assert math.isfinite(found.supremum)
    ends = compose(pairs).epsilon(math.log(1e-6))
    assert ends.upper - ends.lower <= 1e-3 * ends.upper


def test_laws_whose_losses_are_few_share_cells_with_none_that_has_them_elsewhere() -> None:
    pairs = [
        (
            finite_pair(
                np.asarray([0.0, -loss]) - math.log1p(math.exp(-loss)),
                np.asarray([-loss, 0.0]) - math.log1p(math.exp(-loss)),
            ),
            1,
        )
        for loss in np.linspace(0.5, 0.8, 70).tolist()
    ]
    assert len(survey_of(pairs).kinds.chosen) > 8
    ends = compose(pairs).epsilon(math.log(1e-6))
    assert ends.upper - ends.lower <= 1e-3 * ends.upper


def test_a_few_laws_are_each_looked_at() -> None:
    found = survey_of(gaussians()[:60])
    assert found.kinds.chosen == tuple(range(60))
    assert found.kind_counts.tolist() == [1.0] * 60


def test_the_supremum_of_a_list_is_none_or_beyond_every_loss() -> None:
    found = survey_of([(laplace_pair(shift), 1) for shift in SHIFTS])
    assert math.fsum(SHIFTS) <= found.supremum


def test_a_coupling_is_said_to_meet_a_target_only_where_it_does() -> None:
    order = compose([(laplace_pair(1e-4), 3), (laplace_pair(1e-9), 1)]).forward
    assert isinstance(order, ComposedProfile)
    bound = order.coupled_log_delta
    assert order.coupled_meets(bound)
    assert not order.coupled_meets(bound - 1e-9)
    assert not order.coupled_meets(-30.0)
