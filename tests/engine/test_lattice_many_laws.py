"""Lists of many different laws in the lattice engine."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np

from epsilond.accountants.curve.facts import SampledGaussianLaw
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.engine.lattice.discretise import LatticeDistribution
from epsilond.accountants.engine.lattice.laws import LatticeComposition
from epsilond.accountants.engine.lattice.powers import Factor, raise_to_counts
from epsilond.accountants.engine.lattice.product import ComposedProfile
from epsilond.accountants.engine.lattice.survey import LatticePart, Survey
from epsilond.accountants.engine.lattice.tilted import TiltCoordinate
from epsilond.accountants.engine.lattice.tilted_line import TiltedLine
from epsilond.accountants.profiles.amplification import subsample_at, subsample_pair
from epsilond.accountants.profiles.binned import finite_pair
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.laplace import laplace_pair
from epsilond.accountants.profiles.sampling.inclusion import Share

RATE = 0.05
SHIFTS = tuple(0.8 + 0.1 * place / 80 for place in range(80))


def gaussians() -> list[tuple[Pair, int]]:
    """Gaussian pairs drawn with probability 1/20, no two alike."""
    return [(subsample_at(gaussian_pair(shift), RATE), 1) for shift in SHIFTS]


def survey_of(pairs: list[tuple[Pair, int]]) -> Survey:
    """What the engine looks at."""
    return Survey(tuple(LatticePart(pair.forward, pair.backward, count) for pair, count in pairs), math.log(1e-4))


def test_many_laws_are_enclosed_as_the_contour_engine_finds_them() -> None:
    composed = compose(gaussians())
    for direction, order in (("remove", composed.forward), ("add", composed.backward)):
        laws = [(SampledGaussianLaw(RATE, shift, direction), 1) for shift in SHIFTS]
        exact, found = contour.log_delta(laws, 1.0), order.log_delta(np.asarray([1.0]))
        assert found.lower[0] <= exact.upper
        assert exact.lower <= found.upper[0]
        assert found.upper[0] - found.lower[0] <= 0.02


def drawn_laplace(rate: float, shift: float) -> Pair:
    """A Laplace pair drawn at a rate: the larger the rate, the more likely and the smaller the largest losses."""
    return subsample_pair(laplace_pair(shift), Share(rate, 1.0 - rate))[0]


def test_many_drawn_laplace_laws_are_enclosed_closely() -> None:
    pairs = [
        (drawn_laplace(rate, shift), 1)
        for rate, shift in zip(np.linspace(0.9, 0.3, 70).tolist(), np.linspace(0.6, 1.6, 70).tolist(), strict=True)
    ]
    found = survey_of(pairs)
    assert math.isfinite(found.supremum)
    ends = compose(pairs).epsilon(math.log(1e-6))
    assert ends.upper - ends.lower <= 1e-3 * ends.upper


def test_many_laws_of_two_losses_each_are_enclosed_closely() -> None:
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
    ends = compose(pairs).epsilon(math.log(1e-6))
    assert ends.upper - ends.lower <= 1e-3 * ends.upper


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


def test_the_rounding_of_adding_many_small_angles_is_charged() -> None:
    """Two thousand angles just below zero must not each be added as just below 2π."""
    values = [complex(0.99, -1e-6 * (1.0 + place / 2000.0)) for place in range(2000)]
    laws = LatticeComposition.of(
        [LatticeDistribution(np.zeros(1, dtype=np.int64), np.zeros(1), -math.inf)] * 2000, [1] * 2000, 1.0
    )
    line = TiltedLine.of(laws, TiltCoordinate(0.0, direct=True))
    power = raise_to_counts(
        line.laws.counts, np.ones(1, dtype=np.int64), (Factor(np.asarray([value]), 0.0) for value in values), 0.0
    )
    with mp.workdps(40):
        product = mp.fprod(mp.mpc(value) for value in values)
        found = mp.expj(mp.mpf(float(power.angle[0]))) * mp.exp(mp.mpf(float(power.log_size[0])))
        assert abs(found / product - 1) <= power.growth[0] <= 1e-11
