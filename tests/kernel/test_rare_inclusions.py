"""Test short runs with rare inclusions in the kernel against closed forms, an integral, the lattice and a bound on weights."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.curve.facts import SampledGaussianLaw
from epsilond.accountants.engine.lattice.composition import compose
from tests.engine.pairs import poisson
from tests.engine.random_questions import rare_questions
from tests.oracles.contour import Step, by_contour, one_step
from tests.oracles.two_steps import log_delta_of_two

if TYPE_CHECKING:
    from types import ModuleType

TRUTH = 1e-7
"""What the integral over two steps' noise may be wrong by, in log δ."""

RUNS = [
    (1e-4, 0.8),
    (1e-3, 0.4),
    (1e-3, 1.25),
    (5e-3, 2.0),
    (0.01, 0.35),
    (0.3, 1.0),
    (1e-5, 1.0),
    (1e-12, 0.5),
    (0.5, 4.0),
]
"""Rates and shifts."""


def epsilon_at(rate: float, shift: float, noise: float) -> float:
    """Return the loss at a noise."""
    return math.log1p(rate * math.expm1(shift * noise - 0.5 * shift * shift))


@pytest.mark.parametrize("noise", [2.5, 4.0, 6.0, 7.5])
@pytest.mark.parametrize(("rate", "shift"), RUNS)
def test_a9_one_step_lies_within(module: ModuleType, rate: float, shift: float, noise: float) -> None:
    epsilon = epsilon_at(rate, shift, noise)
    found = module.Composition(((rate, shift, 0, 1.0),), 0.0, ()).log_delta(epsilon)
    with mp.workdps(40):
        truth = float(mp.log(one_step(Step(rate, shift, "remove"), epsilon)))
    assert found is not None
    assert found[0] <= truth <= found[1] <= found[0] + 1e-4


@pytest.mark.parametrize("noise", [3.0, 5.0, 6.5])
@pytest.mark.parametrize(("rate", "shift"), [(2e-3, 0.5), (5e-3, 1.0), (0.02, 1.4), (0.1, 0.8)])
def test_a9_two_steps_lie_within(module: ModuleType, rate: float, shift: float, noise: float) -> None:
    epsilon, law = epsilon_at(rate, shift, noise), SampledGaussianLaw(rate, shift, "remove")
    found = module.Composition(((rate, shift, 0, 2.0),), 0.0, ()).log_delta(epsilon)
    truth = log_delta_of_two(law, law, epsilon)
    assert found is not None
    assert found[0] - TRUTH <= truth <= found[1] + TRUTH
    assert found[1] - found[0] <= 1e-4


@pytest.mark.parametrize(
    ("rate", "shift", "count", "noise"),
    [(1.5e-3, 1.44, 8, 6.2), (4e-3, 1.0, 20, 5.0), (2e-4, 1.3, 60, 6.0), (9e-3, 0.5, 5, 5.5), (3e-3, 0.4, 40, 7.0)],
)
def test_a9_enclosures_meet_the_lattice(
    module: ModuleType, rate: float, shift: float, count: int, noise: float
) -> None:
    epsilon = epsilon_at(rate, shift, noise)
    found = module.Composition(((rate, shift, 0, float(count)),), 0.0, ()).log_delta(epsilon)
    bounds = compose([(poisson(rate, 1.0 / shift), count)]).forward.log_delta(np.asarray([epsilon]))
    assert found is not None
    assert found[1] - found[0] <= 1e-4
    assert float(bounds.lower[0]) - 1e-9 <= found[1]
    assert found[0] <= float(bounds.upper[0]) + 1e-9


@pytest.mark.parametrize(
    ("rate", "shift", "count", "epsilon"), [(0.01, 1.0, 1024, 0.3), (0.01, 1.0, 300, 0.8), (0.02, 0.5, 64, 0.1)]
)
def test_a9_long_runs_lie_within(module: ModuleType, rate: float, shift: float, count: int, epsilon: float) -> None:
    found = module.Composition(((rate, shift, 0, float(count)),), 0.0, ()).log_delta(epsilon)
    steps = [Step(rate, shift, "remove", count)]
    truth = float(mp.log(by_contour(steps, epsilon, tilt=4.0, period=12.0, count=500, spacing=0.1, reach=12.0)))
    assert found is not None
    assert found[0] - TRUTH <= truth <= found[1] + TRUTH


def test_a9_a_weight_stays_below_its_bound() -> None:
    """Check |1/(1 + e^{−sinh z})| for all Im z up to 1 against the bound of the certificate."""
    growth = -math.log(-math.expm1(-math.cos(1.0) * math.sqrt(math.pi**2 / (4.0 * math.sin(1.0) ** 2) - 1.0)))
    along, across = np.meshgrid(np.linspace(-6.0, 6.0, 2401), np.linspace(0.0, 1.0, 101))
    risen = np.sinh(along + 1j * across)
    log_weight = np.where(risen.real < 0.0, risen.real, 0.0) - np.log(
        np.abs(1.0 + np.exp(-np.sign(risen.real) * risen))
    )
    assert np.all(log_weight <= growth + np.minimum(np.cos(across) * np.sinh(along), 0.0) + 1e-12)


def test_a9_rare_steps_are_answered(module: ModuleType) -> None:
    """Ask as a monitor of a training loop does in its first steps; the lattice takes seconds for what is refused."""
    answered = 0
    for asked in rare_questions(11, 60):
        ((law, count),) = asked.laws
        assert isinstance(law, SampledGaussianLaw)
        composition = module.Composition(((law.rate, law.shift, 0, float(count)),), 0.0, ())
        found = composition.epsilon(asked.log_delta, 0.0)
        if found is None:
            continue
        answered += 1
        there = composition.log_delta(found[1])
        assert there is not None
        assert there[0] <= asked.log_delta
        assert found[1] - found[0] <= 2e-4 * found[1]
    assert answered >= 57
