"""A calibration within what is left of a ledger fits, hardly less noise does, and what has no such form is refused."""

import math
from decimal import Decimal

import pytest

import epsilond
from tests.ledgers.client.places import opened

SAMPLED = {"sampling": "poisson", "rate": 0.01, "rounds": 500}


@pytest.fixture
def ledger(tmp_path):
    books, found = opened(tmp_path, plan={}, epsilon=2.0)
    with books:
        yield found


def left(ledger):
    return Decimal(ledger.show().slots[0]["remaining"]["mu_squared"])


@pytest.mark.parametrize("rounds", [1, 300])
def test_gaussian_rounds_take_all_that_is_left(ledger, rounds):
    answer = epsilond.calibrate("gaussian", given=ledger, sampling="full", rounds=rounds)
    least = math.sqrt(rounds / left(ledger))
    assert least <= answer.parameters.noise_multiplier <= 1.011 * least
    assert answer.guarantee.epsilon.upper <= 2.0


def test_what_is_answered_is_reserved_and_then_nothing_fits(ledger):
    noise = epsilond.calibrate("gaussian", given=ledger, **SAMPLED).parameters.noise_multiplier

    def job(scale):
        step = epsilond.Subsampled(
            sampling="poisson", rate=0.01, mechanism=epsilond.Gaussian(noise_multiplier=scale * noise)
        )
        return epsilond.Repeated(times=500, mechanism=step)

    assert not ledger.what_if(spec=job(0.96), slot="gdp").fits
    with ledger.reserve("train", spec=job(1.0), slot="gdp") as run:
        run.commit()
    with pytest.raises(epsilond.LedgerExhausted):
        ledger.reserve("again", spec=job(1.0), slot="gdp")


@pytest.mark.parametrize(
    ("algorithm", "fields", "pointer"),
    [
        ("mb-sgd", SAMPLED, "/algorithm"),
        ("gaussian", SAMPLED | {"epsilon": 1.0}, "/epsilon"),
        ("gaussian", SAMPLED | {"delta": 1e-6}, "/delta"),
        ("gaussian", SAMPLED | {"relation": "replace-one"}, "/relation"),
        ("gaussian", SAMPLED | {"solve_for": "rounds"}, "/solve_for"),
    ],
)
def test_what_the_ledger_says_is_not_asked_for_otherwise(ledger, algorithm, fields, pointer):
    with pytest.raises(epsilond.InvalidInput) as refused:
        epsilond.calibrate(algorithm, given=ledger, **fields)
    assert pointer in [fault.pointer for fault in refused.value.faults]


def test_a_ledger_without_a_gaussian_slot_is_refused(tmp_path):
    books, ledger = opened(tmp_path, slots=())
    with books, pytest.raises(epsilond.InvalidInput, match="no Gaussian slot"):
        epsilond.calibrate("gaussian", given=ledger, **SAMPLED)
