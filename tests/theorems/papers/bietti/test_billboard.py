"""Joint privacy: the billboard lemma, and why a fixed number of participants hides nobody from the others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from mpmath import binomial, exp, fsum, log, mpf
from scipy.stats import binom

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.theorems.papers.bietti.billboard import (
    BILLBOARD,
    COALITION,
    PUBLIC_BILLBOARD,
    SECTION_6,
    to_other_clients,
)

BASE: dict[str, Any] = {"clients": 500, "participants": 10, "rounds": 2000, "noise_multiplier": 1.0, "delta": 1e-4}


def epsilon_of(sampling: Any, relation: Any, **rate: Any) -> float:
    batch = Subsampled(sampling=sampling, level="clients", mechanism=Gaussian(noise_multiplier=1.0), **rate)
    found = account(
        Repeated(times=2000, mechanism=batch), relation=relation, unit="client", observer="other-clients"
    ).guarantee
    return to_other_clients(found).curve.epsilon(math.log(1e-4)).upper


def moment_of_draws(order: int, rate: Any) -> Any:
    """Return the Rényi divergence of one round at an integer order, of noise multiplier 1 and independent draws."""
    terms = (
        binomial(order, drawn) * (1 - rate) ** (order - drawn) * rate**drawn * exp(mpf(drawn * drawn - drawn) / 2)
        for drawn in range(order + 1)
    )
    return log(fsum(terms)) / (order - 1)


@pytest.mark.erratum("E-B8")
@pytest.mark.compares("epsilond.coalition-participation")
def test_a_fixed_number_of_participants_is_not_amplified() -> None:
    """E-B8: 42.7 and 126 for a client of 40 rounds, where independent draws give 4.84 and 8.32.

    The moments accountant for independent draws, at integer orders, gives 5.40, and 6.15 by the older conversion.
    """
    moments = [(order, moment_of_draws(order, mpf("0.02"))) for order in range(2, 65)]
    slack = -log(mpf("1e-4"))
    older = min(2000 * moment + slack / (order - 1) for order, moment in moments)
    newer = min(
        2000 * moment + log(mpf(order - 1) / order) + (slack - log(order)) / (order - 1) for order, moment in moments
    )
    assert (float(newer), float(older)) == pytest.approx((5.40, 6.15), abs=5e-3)
    for relation, exact, unseen in (("zero-out-one", 42.7, 4.84), ("replace-one", 126.0, 8.32)):
        found = COALITION.evaluate(COALITION.request(**BASE, relation=relation)).outputs  # type: ignore[arg-type]
        assert found["rounds_of_client"] == 40.0
        assert found["epsilon"] == pytest.approx(exact, rel=2e-3)
        assert epsilon_of("poisson", relation, rate=0.02) == pytest.approx(unseen, rel=2e-3)
        assert epsilon_of("without-replacement", relation, batch_size=10, population=500) > found["epsilon"]


def test_the_random_number_of_rounds_is_a_mixture_that_is_seen() -> None:
    """What the rules certify for a draw of fixed size is the mean of δ over the client's number of rounds."""
    epsilon, rounds, rate, noise = 3.0, 60, 0.1, 2.0
    counts = np.arange(rounds + 1)
    deltas = [
        COALITION.evaluate(
            COALITION.request(
                clients=100, participants=10, rounds=rounds, noise_multiplier=noise, rounds_of_client=int(count),
                epsilon=epsilon,
            )
        ).outputs["delta"]
        for count in counts[1:]
    ]  # fmt: skip
    mean = float(np.dot(binom.pmf(counts[1:], rounds, rate), deltas))
    batch = Subsampled(
        sampling="without-replacement", batch_size=10, population=100, level="clients",
        mechanism=Gaussian(noise_multiplier=noise),
    )  # fmt: skip
    curve = account(
        Repeated(times=rounds, mechanism=batch), relation="replace-one", unit="client", observer="other-clients"
    ).guarantee.curve
    ends = curve.log_delta(epsilon)
    assert math.exp(ends.lower) * (1 - 1e-9) <= mean <= math.exp(ends.upper) * (1 + 1e-9)


def test_a_client_of_no_rounds_is_perfectly_private() -> None:
    found = COALITION.evaluate(COALITION.request(**BASE, rounds_of_client=0, epsilon=1.0)).outputs
    assert (found["gaussian_dp_mu"], found["epsilon"], found["delta"]) == (0.0, 0.0, 0.0)


def test_the_billboard_lemma_keeps_the_curve_and_declares_what_it_needs() -> None:
    spec = Gaussian(noise_multiplier=2.0)
    shared = account(spec, relation="replace-one", unit="client", observer="other-clients").guarantee
    joint = to_other_clients(shared)
    assert joint.curve is shared.curve
    assert joint.setting == shared.setting
    assert joint.theorems()[0] == BILLBOARD.id
    assert PUBLIC_BILLBOARD in joint.declared


@pytest.mark.parametrize(("unit", "observer"), [("record", "other-clients"), ("client", "server")])
def test_the_billboard_lemma_is_about_a_client_and_the_others(unit: Any, observer: Any) -> None:
    shared = account(Gaussian(noise_multiplier=2.0), relation="replace-one", unit=unit, observer=observer).guarantee
    with pytest.raises(InvalidInput):
        to_other_clients(shared)


@pytest.mark.erratum("E-B10")
def test_the_experiments_noise_is_on_the_average() -> None:
    """E-B10: σC/N gives 7.41 and 18.2, σC itself about 0.002."""
    for relation, exact in (("zero-out-one", 7.411), ("replace-one", 18.21)):
        inputs = SECTION_6.request(clients=1000, rounds=300, noise_multiplier=10.0, delta=1e-4, relation=relation)  # type: ignore[arg-type]
        assert SECTION_6.evaluate(inputs, "corrected").outputs["epsilon"] == pytest.approx(exact, rel=2e-4)
        assert SECTION_6.evaluate(inputs).outputs["epsilon"] < 0.006


@pytest.mark.parametrize(
    ("sigma", "zeroed", "replaced"),
    [(30.0, 2.003, 4.517), (100.0, 0.5117, 1.118), (300.0, 0.1484, 0.3244), (1.0, 213.5, 727.9)],
)
def test_the_experiments_epsilons(sigma: float, zeroed: float, replaced: float) -> None:
    for relation, exact in (("zero-out-one", zeroed), ("replace-one", replaced)):
        inputs = SECTION_6.request(clients=1000, rounds=300, noise_multiplier=sigma, delta=1e-4, relation=relation)  # type: ignore[arg-type]
        assert SECTION_6.evaluate(inputs, "corrected").outputs["epsilon"] == pytest.approx(exact, rel=3e-4)


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"participants": 501}, "/participants"),
        ({"rounds_of_client": 2001}, "/rounds_of_client"),
        ({"delta": None}, "/delta"),
        ({"log10_delta": -3.0}, "/delta"),
    ],
)
def test_inputs_that_no_run_can_have(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        COALITION.request(**{**BASE, **changes})
    assert pointer in {fault.pointer for fault in caught.value.faults}
