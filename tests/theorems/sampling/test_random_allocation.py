"""Random allocation: against integrals from the definition, a transform, and adaptive runs that the spec admits."""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from epsilond.accountants.account import account
from epsilond.accountants.errors import ConditionViolated, InvalidInput
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.profiles.allocation.gaussian_ratio import gaussian_ratio
from epsilond.accountants.profiles.allocation.pairs import allocation_pairs
from epsilond.accountants.profiles.allocation.ratios import sum_copies
from epsilond.accountants.profiles.allocation.statistics import several_batches_law
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.specs import Composed, Gaussian, RandomAllocation, Repeated, Subsampled
from tests.oracles.allocation import adaptive_run, by_transform, divergence, mixture, two_batches
from tests.oracles.hostile_kinds import _normal

ONE = pytest.mark.compares("epsilond.allocation-one-of-t")
SEVERAL = pytest.mark.compares("epsilond.allocation-k-of-t")
BOTH: tuple[Any, ...] = ("add-or-remove-one", "zero-out-one")


def allocated(noise: float, steps: int, *, chosen: int = 1, kept: bool = False, epochs: int = 1) -> RandomAllocation:
    mechanism = Gaussian(noise_multiplier=noise)
    return RandomAllocation(steps=steps, times_chosen=chosen, kept=kept, epochs=epochs, mechanism=mechanism)


@functools.cache
def guarantee(spec: Any, relation: Any = "add-or-remove-one", **setting: Any) -> Guarantee:
    setting.setdefault("observer", "released-models")
    return account(spec, relation=relation, **setting).guarantee


PAIRS = functools.cache(allocation_pairs)


def directions(shift: float, steps: int, epsilon: float) -> list[tuple[float, float]]:
    """The certified bounds on δ, of removing and of adding."""
    pairs = PAIRS(shift, steps, 600)
    return [
        (
            math.exp(getattr(pairs.attained, name).log_delta_bounds(epsilon).lower),
            math.exp(getattr(pairs.upper, name).log_delta_bounds(epsilon).upper),
        )
        for name in ("forward", "backward")
    ]


@ONE
@pytest.mark.parametrize(("shift", "epsilon"), list(itertools.product((0.1, 1.0, 3.0), (0.0, 0.05, 0.5, 2.0))))
def test_two_batches_by_an_integral(shift: float, epsilon: float) -> None:
    for (lower, upper), truth in zip(directions(shift, 2, epsilon), two_batches(shift, epsilon), strict=True):
        if truth > 1e-12:
            assert lower <= truth <= upper
            assert upper <= 1.01 * truth
            assert lower >= 0.99 * truth


@ONE
@pytest.mark.parametrize(("shift", "steps", "epsilon"), [(1.0, 100, 0.5), (0.5, 20, 0.2), (0.8, 60, 0.3)])
def test_many_batches_by_a_transform(shift: float, steps: int, epsilon: float) -> None:
    for (lower, upper), truth in zip(
        directions(shift, steps, epsilon), by_transform(shift, steps, epsilon), strict=True
    ):
        assert lower <= truth <= upper
        assert upper <= 1.02 * lower


@ONE
def test_golden_figures_of_one_in_a_hundred() -> None:
    pairs = allocation_pairs(1.0, 100, 1000)
    for name, golden in (("forward", 4.4089e-5), ("backward", 5.9253e-7)):
        upper = math.exp(getattr(pairs.upper, name).log_delta_bounds(0.5).upper)
        lower = math.exp(getattr(pairs.attained, name).log_delta_bounds(0.5).lower)
        assert lower < golden < upper < 1.006 * lower


@ONE
def test_ten_epochs_redrawn_and_kept() -> None:
    redrawn = guarantee(allocated(1.0, 100, epochs=10)).curve.epsilon(math.log(1e-6))
    assert redrawn.lower <= 1.9643 <= redrawn.upper <= redrawn.lower + 1e-3
    kept = guarantee(allocated(1.0, 100, epochs=10, kept=True)).curve.epsilon(math.log(1e-6))
    assert 14.81 < kept.lower < kept.upper < 14.83
    sampled = Subsampled(sampling="poisson", rate=0.01, mechanism=Gaussian(noise_multiplier=1.0))
    poisson = guarantee(Repeated(times=1000, mechanism=sampled)).curve.epsilon(math.log(1e-6))
    assert redrawn.upper < poisson.lower < kept.lower


@ONE
def test_kept_epochs_are_one_epoch_of_less_noise() -> None:
    kept, single = allocated(3.0, 30, epochs=4, kept=True), allocated(1.5, 30)
    for epsilon in (0.1, 1.0):
        ends = [guarantee(spec).curve.log_delta(epsilon) for spec in (kept, single)]
        assert ends[0].upper == pytest.approx(ends[1].upper, abs=1e-9)


@ONE
@pytest.mark.parametrize(
    ("relation", "spec"), list(itertools.product(BOTH, (allocated(1.5, 40), allocated(2.0, 8, epochs=3))))
)
def test_both_relations_have_one_pair_and_compose(relation: Any, spec: RandomAllocation) -> None:
    curve = guarantee(spec, relation).curve
    assert curve.epsilon(math.log(1e-5)) == guarantee(spec, "zero-out-one").curve.epsilon(math.log(1e-5))
    with_gaussian = Composed(mechanisms=(spec, Gaussian(noise_multiplier=5.0)))
    ends = guarantee(with_gaussian, relation).curve.epsilon(math.log(1e-5))
    assert curve.epsilon(math.log(1e-5)).lower < ends.lower <= ends.upper


@ONE
@pytest.mark.parametrize("shift", [0.3, 1.0, 4.0])
def test_finite_ratios_have_the_mean_one_and_are_ordered(shift: float) -> None:
    for steps in (1, 7, 64):
        sums = {side: sum_copies(gaussian_ratio(shift, 300, side), steps, 300) for side in ("above", "below")}  # type: ignore[arg-type]
        for ratio in sums.values():
            assert ratio.weights.sum() == pytest.approx(1.0, rel=1e-9)
            assert ratio.weights @ ratio.places == pytest.approx(steps, rel=1e-9)
        calls = [
            [ratio.weights @ np.maximum(ratio.places - steps * strike, 0.0) for strike in (0.5, 0.9, 1.0, 1.5, 4.0)]
            for ratio in (sums["above"], sums["below"])
        ]
        rounding = 1e-12  # of the weighted sums, which depends on the machine
        assert all(above >= below * (1.0 - rounding) for above, below in zip(*calls, strict=True))


HOSTILE_NOISE = Fraction(1)
GAMMAS = tuple(map(Fraction, ("1", "9/8", "3/2", "2", "4")))


def adaptive_laws(steps: int, sets: list[tuple[int, ...]]) -> tuple[Any, Any]:
    """A run whose contributions depend on earlier outputs, with and without the unit.

    The unit contributes 1 if the last output was below the middle, and −1 otherwise; the others follow the first output.
    """

    def with_unit(batches: tuple[int, ...]) -> Any:
        def total(step: int, outputs: tuple[int, ...]) -> Fraction | None:
            if step == steps:
                return None
            of_others = Fraction(1 if outputs and outputs[0] > 12 else 0)
            sign = -1 if outputs and outputs[-1] > 9 else 1
            return of_others + (sign if step in batches else 0)

        return adaptive_run(total, lambda centre: _normal(centre, HOSTILE_NOISE))

    return mixture([with_unit(batches) for batches in sets]), with_unit(())


@ONE
@SEVERAL
@pytest.mark.parametrize(("steps", "chosen"), [(2, 1), (3, 2), (2, 2)])
def test_no_adaptive_run_exceeds_the_upper_bound(steps: int, chosen: int) -> None:
    present, absent = adaptive_laws(steps, list(itertools.combinations(range(steps), chosen)))
    curve = guarantee(allocated(float(HOSTILE_NOISE), steps, chosen=chosen)).curve
    for gamma in GAMMAS:
        upper = math.exp(curve.log_delta(math.log(gamma)).upper)
        for first, second in ((present, absent), (absent, present)):
            assert float(divergence(first, second, gamma)) <= upper * (1 + 1e-9) + 1e-13


@SEVERAL
@pytest.mark.parametrize(("noise", "epsilon"), [(1.0, 0.5), (2.0, 0.3), (2.0, 1.5)])
def test_two_of_three_by_a_double_integral(noise: float, epsilon: float) -> None:
    """S = (X₁X₂ + (X₁ + X₂) X₃)/3, with the expectation over X₃ in closed form."""
    c, gamma = 1.0 / noise, math.exp(epsilon)
    nodes, weights = np.polynomial.legendre.leggauss(900)
    z, mass = 9.0 * nodes, 9.0 * weights * np.exp(-40.5 * nodes**2) / math.sqrt(2 * math.pi)
    ratio = np.exp(c * z - c * c / 2)
    product, total = np.multiply.outer(ratio, ratio), np.add.outer(ratio, ratio)
    strike = (3.0 * gamma - product) / total
    edge = np.log(np.maximum(strike, 1e-300)) / c + c / 2
    call = np.where(strike > 0.0, ndtr(c - edge) - strike * ndtr(-edge), 1.0 - strike)
    remove = float(mass @ (total * call) @ mass) / 3.0
    curve = guarantee(allocated(noise, 3, chosen=2)).curve
    lower, upper = (math.exp(end) for end in curve.log_delta(epsilon))
    assert lower <= remove * (1 + 1e-6)
    assert remove <= upper * (1 + 1e-6)


@SEVERAL
@pytest.mark.parametrize(
    ("noise", "steps", "chosen"), [(1e3, 100, 50), (100.0, 100, 50), (1.0, 10**5, 2), (3.0, 100, 5)]
)
def test_the_test_of_several_batches_does_not_know_the_batches(noise: float, steps: int, chosen: int) -> None:
    """The blocks' bound is nearly attained for k = t/2 and small c: a statistic that depends on the set exceeds it."""
    for effort in ("coarse", "default"):
        curve = guarantee(allocated(noise, steps, chosen=chosen), effort=effort).curve
        for deviations in (0.0, 0.1, 1.0, 3.0, 4.0, 5.0, 6.0):
            ends = curve.log_delta(deviations * chosen / (noise * math.sqrt(steps)))
            assert ends.lower <= ends.upper


@SEVERAL
@pytest.mark.parametrize("shift", [1e-6, 0.3, 1.0, 4.0, 20.0])
def test_masses_of_a_sum_are_those_of_all_orders(shift: float) -> None:
    """Masses under P and Q of a few coarse steps, added up over all outputs of three batches."""
    law = several_batches_law(shift, 3, 2, 2, 4.0)
    (p_leaf, q_leaf), (p_sum, q_sum) = law.outputs, law.sums
    assert p_sum.masses.sum() + p_sum.left_out >= 1.0 - 1e-9
    for total, leaves in ((p_sum, (q_leaf, p_leaf, p_leaf)), (q_sum, (q_leaf, q_leaf, q_leaf))):
        for order in set(itertools.permutations(range(3))):
            exact: dict[int, float] = {}
            ordered = [leaves[place] for place in order]
            for places in itertools.product(*(range(leaf.masses.size) for leaf in ordered)):
                number = sum(leaf.least + place for leaf, place in zip(ordered, places, strict=True))
                mass = math.prod(float(leaf.masses[place]) for leaf, place in zip(ordered, places, strict=True))
                exact[number] = exact.get(number, 0.0) + mass
            for place, mass in enumerate(total.masses):
                known = exact[total.least + place]
                assert mass <= known * (1 + 1e-9)
                assert known <= mass * (1 + 1e-9) + total.left_out


@SEVERAL
def test_all_batches_are_a_composition() -> None:
    every = guarantee(allocated(3.0, 6, chosen=6, kept=True, epochs=2)).curve.epsilon(math.log(1e-6))
    gaussian = gaussian_pair(math.sqrt(12.0) / 3.0).epsilon(math.log(1e-6))
    assert every.lower <= gaussian.lower * (1 + 1e-12)
    assert every.upper == pytest.approx(gaussian.upper, rel=1e-9)


@SEVERAL
def test_several_batches_are_enclosed_closely_where_noise_is_large() -> None:
    ends = guarantee(allocated(3.0, 100, chosen=5)).curve.epsilon(math.log(1e-6))
    assert 0.70 < ends.lower <= ends.upper < 0.71


@ONE
@SEVERAL
@pytest.mark.parametrize("noise", [1e-6, 1e-2, 0.049, 0.051, 30.0, 1e3, 1e6, 1e7, 1e15])
@pytest.mark.parametrize(("steps", "chosen"), [(1, 1), (2, 1), (1000, 1), (10, 3), (1000, 999)])
def test_extreme_noise_is_answered_in_order(noise: float, steps: int, chosen: int) -> None:
    curve = guarantee(allocated(noise, steps, chosen=chosen), effort="coarse").curve
    without = gaussian_pair(math.sqrt(chosen) / noise)
    for epsilon in (0.0, 1e-9, 0.1, 3.0, 300.0):
        ends = curve.log_delta(epsilon)
        assert ends.lower <= ends.upper <= 0.0
        assert ends.lower <= without.log_delta_bounds(epsilon).upper + 1e-9
    known = curve.epsilon(math.log(1e-9))
    assert known.lower <= known.upper


@ONE
@SEVERAL
@pytest.mark.parametrize("chosen", [1, 3])
@pytest.mark.parametrize("noise", [1e3, 1e4, 1e5, 9.9e5, 1.1e6])
def test_large_noise_is_between_the_sum_of_outputs_and_public_batches(noise: float, chosen: int) -> None:
    curve = guarantee(allocated(noise, 1000, chosen=chosen)).curve
    total, public = (gaussian_pair(mu / noise) for mu in (chosen / math.sqrt(1000), math.sqrt(chosen)))
    for epsilon in (0.0, 1.0 / noise, 4.0 / noise):
        ends = curve.log_delta(epsilon)
        assert ends.lower >= total.log_delta_bounds(epsilon).lower - 1e-9
        assert ends.upper <= public.log_delta_bounds(epsilon).upper + 1e-9
        assert ends.lower <= ends.upper


@ONE
def test_a_million_batches_are_answered() -> None:
    ends = guarantee(allocated(0.5, 10**6), effort="coarse").curve.epsilon(math.log(1e-8))
    assert 0.0 <= ends.lower <= ends.upper < gaussian_pair(2.0).epsilon(math.log(1e-8)).lower


@ONE
def test_a_server_that_sees_the_batches_of_a_client_is_refused() -> None:
    with pytest.raises(ConditionViolated, match="sees in which batches a client is"):
        guarantee(allocated(1.0, 5), unit="client", observer="server")
    assert guarantee(allocated(1.0, 5), unit="client", observer="other-clients").curve.epsilon(-10.0).upper > 0.0


@pytest.mark.parametrize(
    ("change", "pointer"),
    [({"times_chosen": 6}, "/times_chosen"), ({"steps": 0}, "/steps"), ({"epochs": 0}, "/epochs")],
)
def test_impossible_counts_are_rejected(change: dict[str, int], pointer: str) -> None:
    fields: dict[str, Any] = {"steps": 5, "times_chosen": 1, "kept": False, "epochs": 1} | change
    with pytest.raises(InvalidInput) as refused:
        RandomAllocation(**fields, mechanism=Gaussian(noise_multiplier=1.0))
    assert pointer in {fault.pointer for fault in refused.value.faults}


def test_a_batch_is_not_allocated_again() -> None:
    for sampling in ("poisson", "full"):
        rate = {"rate": 0.5} if sampling == "poisson" else {}
        with pytest.raises(InvalidInput, match="divides all units among batches"):
            Subsampled(sampling=sampling, mechanism=allocated(1.0, 5), **rate)  # type: ignore[arg-type]
