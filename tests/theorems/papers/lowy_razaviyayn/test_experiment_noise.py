"""Appendix H: what the experiments' noise and batch really give."""

import math

import pytest

from epsilond.accountants.account import account
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.theorems.papers.lowy_razaviyayn.experiments import (
    APPENDIX_H,
    ExperimentInputs,
)


@pytest.mark.compares("lowy.appendix-h")
@pytest.mark.parametrize(
    ("n", "epsilon", "batch", "low", "high"),
    [
        (1238, 0.75, 91, 0.673, 0.698),
        (1238, 1.5, 129, 1.526, 1.593),
        (1238, 18.0, 444, 37.35, 39.13),
        (356, 1.0, 31, 0.901, 0.945),
        (356, 3.0, 53, 3.586, 3.797),
    ],
)
def test_the_experiments_noise_is_not_private(n: int, epsilon: float, batch: int, low: float, high: float) -> None:
    """E-19, table 2 of the errata (brackets of an independent accountant, to the digits they are printed with)."""
    inputs = ExperimentInputs(epsilon=epsilon, delta=n**-2.0, samples_per_client=n, rounds=35, lipschitz=2.0)
    found = APPENDIX_H.evaluate(inputs).outputs
    assert found["batch_size"] == batch
    assert found["squared_rate_times_rounds"] == pytest.approx(inputs.real_batch**2 / n**2 * 35, rel=1e-12)
    spec = Repeated(
        times=35,
        mechanism=Subsampled(
            sampling="without-replacement",
            batch_size=batch,
            population=n,
            mechanism=Gaussian(noise_multiplier=found["noise_multiplier"]),
        ),
    )
    true = account(spec, relation="replace-one").guarantee.curve.epsilon(math.log(n**-2.0))
    assert true.lower <= high * 1.001
    assert low * 0.999 <= true.upper <= high * 1.001
    assert (true.lower > epsilon) == (epsilon >= 1.5)


def test_the_batch_must_fit() -> None:
    (condition,) = (one for one in APPENDIX_H.conditions if one.checked)
    for epsilon, holds in ((4.0, True), (4.0 * (1 + 1e-12), False)):
        inputs = ExperimentInputs(epsilon=epsilon, delta=0.1, samples_per_client=64, rounds=1, lipschitz=1.0)
        assert condition.at(inputs).holds is holds
        assert APPENDIX_H.evaluate(inputs).outputs["batch_size"] == 64
