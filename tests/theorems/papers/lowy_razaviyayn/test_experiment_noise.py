"""Appendix H: what the experiments' noise and batch really give."""

import math

import pytest
from mpmath import ceil, log, mp, mpf, sqrt

from epsilond.accountants.account import account
from epsilond.accountants.curve.enclosure import Enclosure
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.theorems.papers.lowy_razaviyayn.experiments import (
    APPENDIX_H,
    ExperimentInputs,
)
from epsilond.accountants.verdict import Verdict

ROUNDS = 35


def true_epsilon(n: int, batch: int, noise_multiplier: float) -> Enclosure:
    """Return the enclosure of ε at δ = n⁻² of 35 rounds whose batches are drawn without replacement."""
    batches = Subsampled(
        sampling="without-replacement",
        batch_size=batch,
        population=n,
        mechanism=Gaussian(noise_multiplier=noise_multiplier),
    )
    spec = Repeated(times=ROUNDS, mechanism=batches)
    return account(spec, relation="replace-one").guarantee.curve.epsilon(math.log(n**-2.0))


def prescription(n: int, epsilon: float) -> tuple[int, float]:
    """Return K and σK/L of Appendix H, from its text: σ² = 8L² ln(1/δ)R/(nε)² and K = n√ε/(2√R)."""
    with mp.workdps(30):
        batch = int(ceil(n * sqrt(mpf(epsilon)) / (2 * sqrt(mpf(ROUNDS)))))
        return batch, float(sqrt(8 * 2 * log(n) * ROUNDS) / (n * mpf(epsilon)) * batch)


@pytest.mark.erratum("E-19")
@pytest.mark.compares("lowy.appendix-h")
@pytest.mark.parametrize(
    ("n", "epsilon", "low", "high"),
    [
        (1238, 0.75, 0.673, 0.698),
        (1238, 1.5, 1.526, 1.593),
        (1238, 18.0, 37.35, 39.13),
        (356, 1.0, 0.901, 0.945),
        (356, 2.0, 2.13, 2.26),
        (356, 3.0, 3.586, 3.797),
    ],
)
def test_the_noise_of_the_regression_is_not_private_from_two_on(
    n: int, epsilon: float, low: float, high: float
) -> None:
    """E-19: brackets of an independent accountant, for gradients that reach the norm L of the noise."""
    inputs = ExperimentInputs(epsilon=epsilon, delta=n**-2.0, samples_per_client=n, rounds=ROUNDS, lipschitz=2.0)
    outputs = APPENDIX_H.evaluate(inputs).outputs
    batch, multiplier = prescription(n, epsilon)
    assert outputs["batch_size"] == batch
    assert outputs["noise_multiplier"] == pytest.approx(multiplier, rel=1e-12)
    assert outputs["squared_rate_times_rounds"] == pytest.approx(inputs.real_batch**2 / n**2 * ROUNDS, rel=1e-12)
    true = true_epsilon(n, batch, multiplier)
    assert true.lower <= high * 1.001
    assert low * 0.999 <= true.upper <= high * 1.001
    assert (true.lower > epsilon) == (epsilon >= 1.5)


@pytest.mark.parametrize("epsilon", [0.75, 1.5, 3.0, 6.0, 12.0, 18.0])
def test_the_noise_of_the_classification_is_private(epsilon: float) -> None:
    """With L = 2 max‖x‖ gradients have norm at most L/2, so that the noise multiplier is 2σK/L."""
    batch, multiplier = prescription(1238, epsilon)
    assert true_epsilon(1238, batch, 2.0 * multiplier).upper <= 0.7 * epsilon


def test_the_batch_must_fit() -> None:
    (condition,) = (one for one in APPENDIX_H.conditions if one.checked)
    for epsilon, holds in ((4.0, True), (4.0 * (1 + 1e-12), False)):
        inputs = ExperimentInputs(epsilon=epsilon, delta=0.1, samples_per_client=64, rounds=1, lipschitz=1.0)
        assert condition.at(inputs).holds == Verdict.of(holds)
        assert APPENDIX_H.evaluate(inputs).outputs["batch_size"] == 64
