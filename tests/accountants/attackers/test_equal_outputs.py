"""Noise on integers with a sensitivity below 1: neighbours have equal outputs, so every divergence and μ are 0."""

from __future__ import annotations

from typing import Any

import pytest

from epsilond import account
from epsilond.accountants import specs
from epsilond.accountants.attackers.renyi import concentration
from epsilond.accountants.profiles.gaussian import ZeroProfile, gaussian_pair
from epsilond.accountants.profiles.integers.skellam import skellam_pairs

GAUSSIAN = specs.DiscreteGaussian(scale=3.5, l2_sensitivity=0.5, dimension=1)
GAUSSIAN_VECTOR = specs.DiscreteGaussian(scale=3.5, l2_sensitivity=0.5, dimension=3)
SKELLAM = specs.Skellam(variance=2.0, l1_sensitivity=0.5, l2_sensitivity=0.5, dimension=1)
SKELLAM_VECTOR = specs.Skellam(variance=2.0, l1_sensitivity=0.5, l2_sensitivity=0.5, dimension=3)
LEAST_ANSWERED = 1e-290
"""Least upper bound of a Rényi divergence that is answered."""


def batch(mechanism: Any) -> specs.Subsampled:
    """A Poisson batch with a tenth of the records."""
    return specs.Subsampled(sampling="poisson", rate=0.1, mechanism=mechanism)


@pytest.mark.parametrize("relation", ["replace-one", "add-or-remove-one", "zero-out-one"])
@pytest.mark.parametrize(
    "spec",
    [
        GAUSSIAN,
        GAUSSIAN_VECTOR,
        SKELLAM,
        SKELLAM_VECTOR,
        batch(GAUSSIAN),
        batch(SKELLAM_VECTOR),
        specs.Repeated(times=5, mechanism=GAUSSIAN),
        specs.Repeated(times=5, mechanism=batch(SKELLAM)),
        specs.Composed(mechanisms=(GAUSSIAN, SKELLAM_VECTOR)),
        specs.RandomAllocation(steps=10, times_chosen=1, kept=False, epochs=1, mechanism=SKELLAM),
    ],
    ids=lambda spec: spec.kind,
)
def test_equal_outputs_have_no_divergence(spec: Any, relation: Any) -> None:
    answer = account(
        spec,
        relation=relation,
        unit="record",
        observer="released-models",
        orders=[1.5, 2.0, 64.0],
        false_positive_rates=[0.1],
        delta=1e-9,
    )
    mu = answer.gaussian_dp_mu
    assert (mu.lower, mu.upper) == (0.0, 0.0)
    assert all(each.divergence.upper <= LEAST_ANSWERED for each in answer.renyi_divergences)
    assert [each.divergence.lower for each in answer.renyi_divergences] == [0.0] * 3


def test_a_part_without_a_shift_adds_nothing() -> None:
    """A product with Gaussian noise keeps the μ of the Gaussian noise, and two equal distributions have no loss."""
    nothing = skellam_pairs(2.0, 0).upper
    assert isinstance(nothing.forward, ZeroProfile)
    assert nothing.epsilon(-float("inf")) == (0.0, 0.0)
    assert concentration(nothing) <= LEAST_ANSWERED
    assert concentration(gaussian_pair(1.0)) > LEAST_ANSWERED
    answer = account(
        specs.Composed(mechanisms=(GAUSSIAN, specs.Gaussian(noise_multiplier=2.0))),
        relation="add-or-remove-one",
        unit="record",
        observer="released-models",
        orders=[2.0],
        false_positive_rates=[0.1],
    )
    assert answer.gaussian_dp_mu.lower <= 0.5 <= answer.gaussian_dp_mu.upper <= 0.5 * (1.0 + 1e-9)
    assert abs(answer.renyi_divergences[0].divergence.upper - 0.25) <= 1e-9
