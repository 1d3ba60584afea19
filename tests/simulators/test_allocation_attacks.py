"""Attacks on random allocation and on shuffled epochs: mean gains against integrals and certified bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Gaussian, Laplace, RandomAllocation, Subsampled
from epsilond.simulators.audits.build import target
from epsilond.simulators.audits.worlds import FIRST, SECOND, AttackSetting
from tests.oracles.allocation import two_batches

COUNT = 60_000


def allocated(noise: float, steps: int, chosen: int = 1, *, kept: bool = False, epochs: int = 1) -> RandomAllocation:
    mechanism = Gaussian(noise_multiplier=noise)
    return RandomAllocation(steps=steps, times_chosen=chosen, kept=kept, epochs=epochs, mechanism=mechanism)


def shuffled(mechanism: Any, batch_size: int, population: int, epochs: int = 1) -> Subsampled:
    counted = {"batch_size": batch_size, "population": population, "epochs": epochs}
    return Subsampled(sampling="shuffled-epochs", mechanism=mechanism, **counted)


def gains(spec: Any, relation: Any, epsilon: float) -> list[tuple[float, float]]:
    """E(1 − e^{ε − L})₊ in both directions, each with its standard error."""
    attack = target(spec, AttackSetting(relation=relation))
    generator = np.random.default_rng(5)
    found = []
    for world, sign in ((FIRST, 1.0), (SECOND, -1.0)):
        losses = sign * attack.statistics(generator, COUNT, world)
        values = -np.expm1(np.minimum(epsilon - losses, 0.0))
        found.append((float(values.mean()), float(values.std() / math.sqrt(COUNT))))
    return found


@pytest.mark.parametrize(("noise", "epsilon"), [(1.0, 0.3), (0.5, 1.0)])
def test_one_of_two_against_an_integral(noise: float, epsilon: float) -> None:
    for (mean, error), truth in zip(
        gains(allocated(noise, 2), "add-or-remove-one", epsilon), two_batches(1.0 / noise, epsilon), strict=True
    ):
        assert abs(mean - truth) <= 5 * error


@pytest.mark.parametrize(
    ("spec", "relation"),
    [
        (allocated(1.0, 6, epochs=2), "zero-out-one"),
        (allocated(1.5, 5, kept=True, epochs=3), "add-or-remove-one"),
        (allocated(1.5, 6, 3), "add-or-remove-one"),
        (allocated(2.0, 3, 3), "zero-out-one"),
        (shuffled(Gaussian(noise_multiplier=2.0), 5, 20, 2), "replace-one"),
        (shuffled(Gaussian(noise_multiplier=1.0), 5, 20), "zero-out-one"),
    ],
)
def test_no_attack_gains_more_than_is_certified(spec: Any, relation: Any) -> None:
    curve = account(spec, relation=relation, observer="released-models").guarantee.curve
    for epsilon in (0.1, 0.8):
        upper = math.exp(curve.log_delta(epsilon).upper)
        assert all(mean <= upper + 5 * error for mean, error in gains(spec, relation, epsilon))


def test_the_attack_on_an_allocation_comes_near_the_bound() -> None:
    curve = account(allocated(1.0, 6), relation="zero-out-one", observer="released-models").guarantee.curve
    lower = math.exp(curve.log_delta(0.3).lower)
    mean, error = max(gains(allocated(1.0, 6), "zero-out-one", 0.3))
    assert mean >= lower - 5 * error


def test_a_replaced_unit_is_attacked_with_opposite_contributions() -> None:
    forward, backward = gains(allocated(1.0, 4), "replace-one", 0.2)
    assert abs(forward[0] - backward[0]) <= 5 * (forward[1] + backward[1])


@pytest.mark.parametrize(
    ("spec", "relation"),
    [
        (shuffled(Gaussian(noise_multiplier=1.0), 5, 20), "add-or-remove-one"),
        (shuffled(Gaussian(noise_multiplier=1.0), 5, 21), "replace-one"),
        (shuffled(Laplace(scale_multiplier=1.0), 5, 20), "replace-one"),
    ],
)
def test_epochs_without_an_attack_are_named(spec: Any, relation: Any) -> None:
    with pytest.raises(InvalidInput):
        target(spec, AttackSetting(relation=relation))
