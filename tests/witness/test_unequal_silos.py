"""Silos of unequal size in the experiments of Lowy and Razaviyayn: their noise is for the gradients that they take."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import epsilond
from epsilond.simulators.silos.silos import SiloRecords
from epsilond.witness.experiments.own_data import lowy_protocol
from epsilond.witness.experiments.own_data.lowy_insurance import InsuranceArm
from epsilond.witness.experiments.own_data.lowy_protocol import Algorithm, ArmSettings, log_delta

SIZES = (214, 214, 214, 214, 212)
"""Training records of the five silos of medical costs."""


def settings_of(algorithm: Algorithm) -> ArmSettings:
    """Return the settings with certified noise at ε = 1, where the silos would take 19 and 18 gradients."""
    settings = ArmSettings(algorithm=algorithm, noise="certified", epsilon=1.0, participants=5)
    assert [settings.gradients(size) for size in (214, 212)] == [19, 18]
    return settings


def training(settings: ArmSettings, monkeypatch: pytest.MonkeyPatch) -> tuple[int, Any]:
    """Return the number of gradients that all silos take in a round, and each silo's noise for clipping norm 1."""
    monkeypatch.setattr(
        lowy_protocol, "choose", lambda *_, **given: SimpleNamespace(search=given["search"], noise=given["noise_stds"])
    )
    silos = SiloRecords(
        features=tuple(np.zeros((size, 2)) for size in SIZES),
        targets=tuple(np.zeros(size) for size in SIZES),
        test_features=np.zeros((1, 2)),
        test_targets=np.zeros(1),
    )
    chosen: Any = settings.choose(
        silos,
        value=np.subtract,
        slope=np.subtract,
        lipschitz=None,
        lipschitz_ratio=1.0,
        step_sizes=(0.1,),
        clipping_norms=(1.0,),
        seed=0,
    )
    return chosen.search.gradients, chosen.noise(1.0)


def upper_log_delta(algorithm: Algorithm, gradients: int, size: int, noise_std: float) -> float:
    """Return log δ at ε = 1 of 35 rounds with this many gradients, from the public account of the spec."""
    batch, times = (gradients, 35) if algorithm == "mini-batch" else (1, 35 * gradients)
    vectors = epsilond.Subsampled(
        sampling="with-replacement",
        batch_size=batch,
        population=size,
        mechanism=epsilond.Gaussian(noise_multiplier=noise_std * batch),
    )
    account = epsilond.account(
        epsilond.Repeated(times=times, mechanism=vectors), relation="replace-one", unit="record", observer="server"
    )
    return math.log(10.0) * account.guarantee.curve.log10_delta(epsilon=1.0).upper


@pytest.mark.parametrize("algorithm", ["mini-batch", "local"])
def test_the_noise_of_every_silo_is_enough_and_hardly_more(
    algorithm: Algorithm, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(algorithm)
    gradients, noise_stds = training(settings, monkeypatch)
    assert gradients == 18
    for size, noise_std in zip(SIZES, noise_stds, strict=True):
        assert upper_log_delta(algorithm, gradients, size, noise_std) <= log_delta(size)
        assert upper_log_delta(algorithm, gradients, size, 0.999 * noise_std) > log_delta(size)


def test_noise_for_more_gradients_is_not_enough_for_the_mean_of_fewer() -> None:
    noise_std = settings_of("mini-batch").noise_std(214, 1.0, 1.0, gradients=19)
    assert upper_log_delta("mini-batch", 18, 214, noise_std) > log_delta(214)


@pytest.mark.parametrize("algorithm", ["mini-batch", "local"])
def test_the_certificate_is_for_the_gradients_of_the_smallest_silo(algorithm: Algorithm) -> None:
    settings = settings_of(algorithm)
    certified = InsuranceArm(settings, silos=5).certify({})
    assert certified == settings.certify(214, 1.0, smallest_client=212)
    assert certified is not None
    assert math.isclose(certified.upper, 1.0, rel_tol=1e-5)
