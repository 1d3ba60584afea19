"""Random allocation of mechanisms with infinite losses, or with losses beyond the exponentials of doubles."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.profiles.allocation.attained_ratios import ratio_below
from epsilond.accountants.profiles.allocation.products import multiply_copies
from epsilond.accountants.profiles.allocation.ratios import FiniteRatio, sum_copies
from epsilond.accountants.profiles.atoms import AtomicProfile
from epsilond.accountants.specs import DiscreteLaplace, RandomAllocation, TruncatedDiscreteLaplace
from tests.oracles.allocated_atoms import Outcome, allocated, divergences, epochs_of


def truncated(levels: int, decay_rate: float) -> list[Outcome]:
    """Masses of truncated discrete Laplace noise around 1 and around 0, of which the two outer outputs are escapes."""
    weights = [math.exp(-decay_rate * abs(y)) for y in range(-levels, levels + 1)]
    masses = [weight / math.fsum(weights) for weight in weights]
    return list(zip([0.0, *masses], [*masses, 0.0], strict=True))


@pytest.mark.parametrize(("steps", "epochs"), [(2, 1), (2, 2), (3, 1)])
@pytest.mark.parametrize(("levels", "decay_rate"), [(1, 1.0), (2, 0.2), (1, 5.0)])
def test_noise_that_may_escape_by_enumeration(levels: int, decay_rate: float, steps: int, epochs: int) -> None:
    outputs = list(allocated(epochs_of(truncated(levels, decay_rate), epochs), steps))
    noise = TruncatedDiscreteLaplace(
        noise_levels=levels, decay_rate=decay_rate, dimension=1, l1_sensitivity=1.0, linf_sensitivity=1.0
    )
    spec = RandomAllocation(steps=steps, times_chosen=1, kept=True, epochs=epochs, mechanism=noise)
    curve = account(spec, relation="add-or-remove-one").guarantee.curve
    for epsilon in (0.0, 0.1, 0.5, 2.0, 100.0):
        lower, upper = (math.exp(bound) for bound in curve.log_delta(epsilon))
        truth = max(divergences(outputs, epsilon))
        assert lower <= truth * (1.0 + 1e-9)
        assert truth <= upper * (1.0 + 1e-9)


@pytest.mark.parametrize("epochs", [1, 2, 3, 10])
def test_an_infinite_loss_in_any_epoch_is_one(epochs: int) -> None:
    share = 0.25
    profile = AtomicProfile((1.0,), (math.log(0.5),), math.log(share))
    opposite = AtomicProfile((1.0,), (math.log(0.5),))
    ratio = ratio_below(Pair(profile, opposite), 100)
    assert ratio is not None
    product = multiply_copies(ratio, epochs, 100)
    truth = 1.0 - (1.0 - math.exp(ratio.log_infinite)) ** epochs
    assert math.exp(product.log_infinite) <= truth * (1.0 + 1e-14)
    assert math.exp(product.log_infinite) == pytest.approx(truth, rel=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("sensitivity", [300, 350, 400, 826])
@pytest.mark.parametrize("epochs", [1, 2, 100])
def test_losses_beyond_doubles_are_no_infinite_losses(sensitivity: int, epochs: int) -> None:
    noise = DiscreteLaplace(decay_rate=1.0, sensitivity=sensitivity)
    spec = RandomAllocation(steps=25, times_chosen=1, kept=True, epochs=epochs, mechanism=noise)
    curve = account(spec, relation="add-or-remove-one").guarantee.curve
    largest = float(sensitivity * epochs)
    assert curve.log_delta(largest).lower == -math.inf
    assert all(witness.lower_log_delta(largest) == -math.inf for witness in curve.witnesses)
    assert curve.epsilon(math.log(0.5)).lower <= largest


def test_the_cells_of_a_sum_contain_a_value_of_zero() -> None:
    """Nearly all mass of both terms is at zero, so that every other value is far."""
    places, weights = np.append(0.0, np.geomspace(1e-20, 1e20, 1000)), np.append(1.0, np.full(1000, 1e-30))
    term = FiniteRatio(places, weights, -math.inf, 0.0, 0.0, "above")
    total = sum_copies(term, 4, 200)
    assert (total.weights >= 0.0).all()
    assert total.places[0] == 0.0
    assert float(total.weights @ total.places) == pytest.approx(4.0 * float(weights @ places), rel=1e-9)
