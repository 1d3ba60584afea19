"""The Laplace mechanism against the integral of its densities, in one and two dimensions, and published figures."""

from __future__ import annotations

import itertools
import math

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.kinds.laplace import EXACT, LaplaceInputs
from epsilond.accountants.profiles.laplace import LaplaceProfile, OppositeLaplaceProfile
from epsilond.accountants.specs import Composed, Laplace, Repeated, Subsampled
from tests.oracles.enclosure import encloses
from tests.oracles.hockey_stick import Density, hockey_stick
from tests.oracles.peers import peer


def density(*parts: tuple[float, float]) -> Density:
    """Σ w Laplace(mean) of scale 1."""
    return lambda x: mp.fsum(mp.mpf(w) * mp.exp(-abs(x - mp.mpf(mean))) / 2 for w, mean in parts)


def pieces(p: Density, q: Density, epsilon: float, shift: float) -> mp.mpf:
    """The hockey-stick divergence with kinks at −s, 0 and s."""
    ends = (-60.0, -shift, 0.0, shift, 60.0)
    return mp.fsum(hockey_stick(p, q, epsilon, low, high) for low, high in itertools.pairwise(ends))


@pytest.mark.parametrize(("shift", "epsilon"), [(0.3, 0.0), (0.3, 0.2), (2.0, 0.5), (2.0, 1.7), (5.0, 3.0)])
def test_one_release_is_the_integral_of_its_densities(shift: float, epsilon: float) -> None:
    truth = pieces(density((1, shift)), density((1, 0)), epsilon, shift)
    assert encloses(LaplaceProfile(shift), epsilon, truth, width=1e-11)


@pytest.mark.parametrize("shift", [1e-12, 0.7, 3.0, 700.0])
def test_the_closed_form_keeps_its_digits(shift: float) -> None:
    for epsilon in (0.0, 1e-3 * shift, 0.5 * shift, shift * (1 - 1e-6)):
        with mp.workdps(40):
            truth = -mp.expm1((mp.mpf(epsilon) - mp.mpf(shift)) / 2)
        assert encloses(LaplaceProfile(shift), epsilon, truth, width=1e-8)


def test_the_loss_ends_at_the_sensitivity() -> None:
    beyond = np.asarray([3.0 * (1 + 1e-15), 4.0, 1e9])
    assert np.isneginf(LaplaceProfile(3.0).log_delta(beyond).upper).all()
    assert np.isneginf(LaplaceProfile(3.0).log_tails(beyond).log_p).all()
    assert LaplaceProfile(3.0).log_tails(np.asarray([3.0 * (1 - 1e-12)])).log_p[0] == pytest.approx(
        -math.log(2), abs=1e-9
    )


@pytest.mark.parametrize("split", [0.1, 0.5])
def test_one_axis_is_worst(split: float) -> None:
    """Two dimensions, by a grid of cells: a lower bound of the divergence of the split shift, and its own error."""
    shift, epsilon, step = 1.5, 0.4, 0.02
    x = np.arange(-12, 12, step) + step / 2
    first = np.exp(-np.abs(x - shift * split)) / 2 * step
    second = np.exp(-np.abs(x - shift * (1 - split))) / 2 * step
    plain = np.exp(-np.abs(x)) / 2 * step
    gap = np.outer(first, second) - math.exp(epsilon) * np.outer(plain, plain)
    assert gap[gap > 0].sum() < math.exp(LaplaceProfile(shift).log_delta(np.asarray(epsilon)).lower) - 1e-3


@pytest.mark.parametrize("rate", [0.05, 0.6])
@pytest.mark.parametrize("epsilon", [0.0, 0.02, 0.5])
def test_opposite_contributions(rate: float, epsilon: float) -> None:
    shift = 1.2
    p, q = density((1 - rate, 0), (rate, shift)), density((1 - rate, 0), (rate, -shift))
    assert encloses(OppositeLaplaceProfile(rate, shift), epsilon, pieces(p, q, epsilon, shift))


def test_the_relation_sets_the_sensitivity() -> None:
    spec = Laplace(scale_multiplier=0.5)
    assert account(spec, relation="replace-one").guarantee.curve.epsilon(-1e6).upper == pytest.approx(4.0)
    for relation in ("add-or-remove-one", "zero-out-one"):
        guarantee = account(spec, relation=relation).guarantee  # type: ignore[arg-type]
        assert guarantee.curve.epsilon(-1e6).upper == pytest.approx(2.0)
        assert guarantee.tight == "proved"


def test_poisson_subsampled_laplace_agrees_with_a_peer() -> None:
    case = peer(3)
    base = Subsampled(sampling="poisson", rate=case["params"]["q"], mechanism=Laplace(scale_multiplier=0.5))
    curve = account(Repeated(times=3, mechanism=base), relation="add-or-remove-one").guarantee.curve
    epsilon = curve.epsilon(math.log(case["params"]["delta"]))
    assert epsilon.upper == pytest.approx(case["expected"], abs=case["tolerance"])
    assert epsilon.lower <= 3 * math.log1p(0.2 * math.expm1(2.0)) * (1 + 1e-9)


@pytest.mark.parametrize(("rate", "epsilon"), [(0.2, 0.1), (0.2, 0.8), (0.01, 1e-3)])
def test_poisson_subsampled_laplace_is_its_mixture(rate: float, epsilon: float) -> None:
    spec = Subsampled(sampling="poisson", rate=rate, mechanism=Laplace(scale_multiplier=0.5))
    curve = account(spec, relation="add-or-remove-one").guarantee.curve
    removed, added = density((1 - rate, 0), (rate, 2)), density((1, 0))
    assert encloses(curve.upper.forward, epsilon, pieces(removed, added, epsilon, 2.0))
    assert encloses(curve.upper.backward, epsilon, pieces(added, removed, epsilon, 2.0))
    assert curve.tight


def test_ten_releases_agree_with_published_figures() -> None:
    scale = peer(12)
    times, epsilon = scale["params"]["steps"], scale["params"]["epsilon"]
    spec = Laplace(scale_multiplier=scale["expected"] / scale["params"]["sensitivity"])
    curve = account(Composed(mechanisms=(spec,) * times), relation="add-or-remove-one").guarantee.curve
    assert curve.epsilon(math.log(1e-300)).upper == pytest.approx(epsilon, rel=1e-8)

    trap = peer(114)
    spec = Laplace(scale_multiplier=trap["params"]["b"])
    curve = account(
        Repeated(times=trap["params"]["steps"], mechanism=spec), relation="add-or-remove-one"
    ).guarantee.curve
    assert curve.epsilon(math.log(trap["params"]["delta"])).upper == pytest.approx(
        trap["expected"], abs=trap["tolerance"]
    )


@pytest.mark.parametrize("batch", [{"rate": 0.2}, {"batch_size": 2, "population": 10}])
def test_fixed_size_batches_have_a_one_sided_instance(batch: dict[str, float]) -> None:
    spec = Subsampled(sampling="without-replacement", mechanism=Laplace(scale_multiplier=1.0), **batch)  # type: ignore[arg-type]
    curve = account(spec, relation="replace-one").guarantee.curve
    for epsilon in (0.0, 0.3, 0.8):
        assert curve.log_delta(epsilon).lower == pytest.approx(curve.log_delta(epsilon).upper, abs=1e-9)


def test_batches_with_replacement_move_a_sum_by_multiples() -> None:
    spec = Subsampled(sampling="with-replacement", batch_size=2, population=10, mechanism=Laplace(scale_multiplier=2.0))
    curve = account(spec, relation="replace-one").guarantee.curve
    epsilon, absent = 0.1, 0.9**2
    weights = {1: 2 * 0.1 * 0.9, 2: 0.1**2}
    inner = math.log1p(math.expm1(epsilon) / (1 - absent))
    truth = math.fsum(w * -math.expm1((inner - k) / 2) for k, w in weights.items())
    assert math.exp(curve.log_delta(epsilon).upper) == pytest.approx(truth, rel=1e-12)


@pytest.mark.compares("epsilond.laplace")
def test_the_formula() -> None:
    outputs = EXACT.evaluate(LaplaceInputs(epsilon=1.0, scale_multiplier=0.5, relation="add-or-remove-one")).outputs
    assert outputs["delta"] == pytest.approx(-math.expm1(-0.5), rel=1e-14)
    assert outputs["pure_epsilon"] == 2.0


@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf])
def test_scales_that_no_run_can_have(scale: float) -> None:
    with pytest.raises(InvalidInput):
        Laplace(scale_multiplier=scale)
