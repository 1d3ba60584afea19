"""The variance alone and the bias at q = 1/N, against the bound over a grid of α and a run."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf, sqrt

from epsilond.accountants.theorems.risk.bietti.parts_of_the_bound import BIAS, VARIANCE_ALONE
from epsilond.accountants.theorems.risk.bietti.sampled_participation import THEOREM_B_4


@pytest.mark.compares("epsilond.personalization-by-variance")
@pytest.mark.parametrize("noise", [0.0, 0.02, 0.05, 0.3])
@pytest.mark.parametrize("shared", [0.3, 1.0, 30.0])
def test_no_alpha_has_less_variance(shared: float, noise: float) -> None:
    """σ²‖z*‖² at the minimiser of least norm, from Theorem B.4's own variance, over a grid of α and in the limits."""
    n, rounds, q, m, v, d, local = 50, 200, mpf("0.5"), 10, mpf(3), 20, mpf(1)
    fields = {
        "clients": n, "rounds": rounds, "participation_rate": 0.5, "batch_size": m, "optimum_norm": 3.0,
        "shared_gradient_std": shared, "local_gradient_std": 1.0, "shared_dimension": d, "noise_std": noise,
    }  # fmt: skip
    found = VARIANCE_ALONE.evaluate(VARIANCE_ALONE.request(**fields)).outputs

    def term(alpha: Any) -> Any:
        variance = (alpha * mpf(shared) ** 2 + local**2) / (q * n * m) + alpha * d * mpf(noise) ** 2
        return 3 * sqrt(variance * n * v**2 / (alpha * n + 1) / rounds)

    with mp.workdps(40):
        ends = {"local_variance_term": term(mpf(0)), "global_variance_term": term(mpf(10) ** 30)}
        least = min(ends.values())
        grid = [term(mpf(10) ** (mpf(k) / 10)) for k in range(-80, 80)]
        threshold = max(local**2 / (q * m) - mpf(shared) ** 2 / (n * q * m), mpf(0)) / d
    assert min(grid) >= least * (1 - mpf(10) ** -20)
    assert found["variance_term"] == pytest.approx(float(least), rel=1e-13)
    for name, value in ends.items():
        assert found[name] == pytest.approx(float(value), rel=1e-13)
    assert found["threshold_noise_variance"] == pytest.approx(float(threshold), rel=1e-12)
    assert (found["personalization"] == 0.0) == (ends["local_variance_term"] <= ends["global_variance_term"])
    assert (found["personalization"] == 0.0) == (noise**2 >= found["threshold_noise_variance"])


def bias(reading: Any, **changes: Any) -> Any:
    return BIAS.evaluate(BIAS.request(**{**BIAS.examples[0], **changes}), reading).outputs


@pytest.mark.compares("bietti.section-5-bias")
@pytest.mark.parametrize("reading", ["printed", "corrected"])
@pytest.mark.parametrize("alpha", [0.0, 1e-3, 0.5, 7.0])
def test_the_bias_is_the_first_term_of_theorem_b_4(alpha: float, reading: Any) -> None:
    n, clients, batch = 600, 40, 3
    fields = {"clients": clients, "samples_per_client": n, "batch_size": batch, "smoothness": 2.0, "optimum_norm": 3.0}
    found = bias(reading, **fields, personalization=alpha)
    group = {"clients": clients, "batch_size": batch, "shared_gradient_std": 0.0, "local_gradient_std": 0.0}

    def term(at: float) -> float:
        v, share = 3.0, at * clients / (at * clients + 1.0)
        norm = math.sqrt(((share * v) ** 2 / at if at else 0.0) + clients * ((1.0 - share) * v) ** 2)
        inputs = THEOREM_B_4.request(
            client_groups=[group], rounds=n * clients // batch, participation_rate=1.0 / clients, smoothness=2.0,
            personalization=at, weighted_optimum_norm=norm, shared_dimension=1, noise_std=0.0,
        )  # fmt: skip
        return float(THEOREM_B_4.evaluate(inputs, reading).outputs["optimisation_term"])

    assert found["rounds"] == pytest.approx(n * clients / batch)
    assert found["optimisation_term"] == pytest.approx(term(alpha), rel=1e-12)
    assert found["local_optimisation_term"] == pytest.approx(term(0.0), rel=1e-12)
    assert found["global_optimisation_term"] == pytest.approx(term(1e12), rel=1e-9)
    grid = [term(at) for at in np.geomspace(1e-4, 1e2, 400)]
    assert found["balanced_optimisation_term"] == pytest.approx(term(found["balanced_personalization"]), rel=1e-12)
    assert found["balanced_optimisation_term"] <= min(grid) * (1 + 1e-12)
    assert found["ratio_to_claim"] * 4.0 * 2.0 * 9.0 * batch / (clients * n) == pytest.approx(term(alpha), rel=1e-12)


@pytest.mark.erratum("E-B12")
@pytest.mark.parametrize("alpha", [1e-3, 0.1, 0.5, 1.0, 30.0])
def test_the_remark_holds_for_every_fixed_alpha(alpha: float) -> None:
    """At q = 1/N and T = nN the bias is at most max{2, 1/α} 4L‖v‖²/(Nn), whatever N."""
    for clients in (2, 10, 1000, 10**6):
        fields = {"clients": clients, "smoothness": 2.0, "optimum_norm": 3.0, "samples_per_client": 100}
        found = bias("corrected", **fields, personalization=alpha)
        share = mpf(alpha) * clients / (mpf(alpha) * clients + 1)
        factor = max((2 - mpf(1) / clients) * share, (1 - share) * clients)
        assert found["optimisation_term"] == pytest.approx(float(4 * 2 * 9 * factor / (100 * clients)), rel=1e-12)
        assert found["ratio_to_claim"] <= max(2.0, 1.0 / alpha)


def test_at_small_alpha_the_bias_does_not_fall_with_the_clients() -> None:
    """α → 0 is local learning, whose bias is 4L‖v‖²/n whatever N; as printed it would fall with N."""
    for clients in (10, 1000, 10**6):
        fields = {"clients": clients, "smoothness": 2.0, "optimum_norm": 3.0, "samples_per_client": 100}
        true, claimed = (bias(reading, **fields, personalization=0.0) for reading in ("corrected", "printed"))
        assert true["optimisation_term"] == pytest.approx(4 * 2 * 9 / 100)
        assert claimed["optimisation_term"] == pytest.approx(4 * 2 * 9 / 100 / clients)
        assert true["ratio_to_claim"] == pytest.approx(clients)
        shared = bias("corrected", **fields, personalization=1.0)
        assert shared["ratio_to_claim"] <= 2.0 + 1e-9
