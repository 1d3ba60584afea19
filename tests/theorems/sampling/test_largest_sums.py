"""The largest of several noisy batch sums, with shifts at which its tails leave the range of doubles."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.profiles.allocation import maxima
from epsilond.accountants.specs import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, RandomAllocation


def log_mass_of_cell(start: float, end: float, shift: float, others: int) -> Any:
    """Return the log probability that the largest of 1 + `others` normal variables is between two bounds.

    Args:
        start: lower bound of the cell.
        end: upper bound, which may be infinite.
        shift: mean of the first variable; the others have mean 0.
        others: number of the other variables.
    """

    def below(x: Any) -> Any:
        return mp.ncdf(x - shift) * mp.ncdf(x) ** others

    def above(x: Any) -> Any:
        if x == mp.inf:
            return mp.mpf(0)
        other_above = -mp.expm1(others * mp.log1p(-mp.ncdf(-x)))
        return other_above + mp.ncdf(shift - x) * (1 - other_above)

    first, second = mp.mpf(start), mp.mpf(end)
    if above(first) > 0.5 and above(second) > 0.5:
        return mp.log(below(second) - below(first))
    return mp.log(above(first) - above(second))


@pytest.mark.parametrize("steps", [1, 2, 100, 10_000_000])
@pytest.mark.parametrize(
    ("shift", "other_shift"), [(5.0, 0.0), (30.0, 0.0), (39.9, 0.0), (100.0, 0.0), (800.0, 0.0), (800.0, 400.0)]
)
def test_cells_have_their_masses_within_their_errors(shift: float, other_shift: float, steps: int) -> None:
    bounds = maxima._cell_bounds(shift, other_shift)
    compared = 0
    for mean in (shift, other_shift):
        log_masses, errors = maxima._cell_masses(bounds, mean, steps, 1)
        with mp.workdps(60):
            for cell in [*range(0, bounds.size - 1, 173), bounds.size - 2]:
                if errors[cell] < 1e-6:
                    truth = log_mass_of_cell(bounds[cell], bounds[cell + 1], mean, steps - 1)
                    assert abs(float(truth - mp.mpf(log_masses[cell]))) <= errors[cell]
                    compared += 1
    assert compared >= 12


@pytest.mark.parametrize("noise", [1e-4, 1e-3, 0.01, 0.02, 0.03, 0.04, 0.05])
def test_one_of_many_batches_with_little_noise_is_enclosed_closely(noise: float) -> None:
    """A removed unit gives the pair (1/t) Σ N(c e_i, I) against N(0, I), whose loss at the unit's batch is known.

    The true ε is at least that of the test that rejects if the largest output exceeds c minus 6 standard deviations.
    """
    spec = RandomAllocation(steps=100, times_chosen=1, kept=False, epochs=1, mechanism=Gaussian(noise_multiplier=noise))
    setting = {"relation": "add-or-remove-one", "unit": "record", "observer": "server"}
    ends = account(spec, **setting).guarantee.curve.epsilon(math.log(1e-6))
    assert ends.lower <= ends.upper <= 1.02 * ends.lower
    shift = 1 / mp.mpf(noise)
    with mp.workdps(60):
        attained = max(
            mp.log(mp.ncdf(shift - x) - mp.mpf("1e-6")) - mp.log(100 * mp.ncdf(-x))
            for x in (shift - mp.mpf(place) / 100 for place in range(300, 475))
        )
        assert ends.upper >= attained
        assert ends.lower >= 0.99 * attained


@pytest.mark.parametrize("relation", ["add-or-remove-one", "zero-out-one", "replace-one"])
@pytest.mark.parametrize("noise", [1e-6, 1e-3, 0.03, 0.04, 0.06])
@pytest.mark.parametrize(("times_chosen", "kept", "epochs"), [(1, False, 1), (1, True, 10), (5, False, 2)])
def test_little_noise_is_answered_with_ordered_bounds(
    noise: float, relation: Any, times_chosen: int, kept: bool, epochs: int
) -> None:
    spec = RandomAllocation(
        steps=20,
        times_chosen=times_chosen,
        kept=kept,
        epochs=epochs,
        mechanism=Gaussian(noise_multiplier=noise),
    )
    guarantee = account(spec, relation=relation, unit="record", observer="server").guarantee
    ends = guarantee.curve.epsilon(math.log(1e-6))
    assert 0.0 < ends.lower <= ends.upper < math.inf


@pytest.mark.parametrize("relation", ["add-or-remove-one", "zero-out-one", "replace-one"])
@pytest.mark.parametrize(
    "mechanism",
    [
        Laplace(scale_multiplier=1e-6),
        Laplace(scale_multiplier=1e-3),
        DiscreteLaplace(decay_rate=100.0, sensitivity=1),
        DiscreteGaussian(scale=0.01, l2_sensitivity=1.0, dimension=1),
        DiscreteGaussian(scale=0.05, l2_sensitivity=1.0, dimension=1),
    ],
)
def test_mechanisms_that_nearly_always_reveal_the_unit_have_bounds(mechanism: Any, relation: Any) -> None:
    spec = RandomAllocation(steps=20, times_chosen=3, kept=False, epochs=2, mechanism=mechanism)
    ends = account(spec, relation=relation, unit="record", observer="server").guarantee.curve.epsilon(math.log(1e-6))
    assert 0.0 < ends.lower <= ends.upper
