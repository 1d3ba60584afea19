"""A plan within a ledger: what applies fits alone and has the ledger's setting, and refusals name what fails."""

import math
from decimal import Decimal

import pytest

import epsilond
from tests.ledgers.client.places import opened

FEDERATION = {
    "clients": 50,
    "samples_per_client": 1000,
    "rounds": 20,
    "batch_size": 1000,
    "dimension": 5,
    "lipschitz": 1.0,
    "diameter": 2.0,
    "smoothness": 1.0,
    "sampling": "full",
}
ALGORITHMS = ["mb-sgd", "one-pass-accelerated-mb-sgd", "mu2-sgd", "gaussian", "ppsgd"]


@pytest.fixture
def ledger(tmp_path):
    books, found = opened(tmp_path, plan={}, epsilon=2.0, relation="replace-one")
    with books:
        yield found


def test_what_applies_takes_what_is_left_and_the_rest_says_why(ledger):
    left = Decimal(ledger.show().slots[0]["remaining"]["mu_squared"])
    told = []
    found = epsilond.plan(given=ledger, algorithms=ALGORITHMS, progress=lambda *at: told.append(at), **FEDERATION)
    entries = {(entry.algorithm, entry.variant): entry for entry in found.entries}
    assert told[-1] == (len(entries), len(entries))
    full = entries["mb-sgd", None]
    assert full.applies == "yes"
    least = 2.0 * math.sqrt(20 / left)  # twenty full batches, each of sensitivity 2 under replace-one
    assert least <= full.calibration.parameters.noise_multiplier <= 1.0002 * least
    assert (full.guarantee.observer, full.guarantee.unit) == ("server", "record")
    assert full.rank is not None
    refused = {
        name: entry.why[0].condition.id
        for (name, _), entry in entries.items()
        if entry.applies == "no" and entry.why and entry.why[0].condition
    }
    assert refused["gaussian"] == "epsilond.ledger-observer"
    assert entries["ppsgd", None].applies == "no"
    assert entries["mu2-sgd", "untrusted server"].applies == "yes"
    trusted = entries["mu2-sgd", "trusted server"]
    assert trusted.applies == "no"
    assert "server" in trusted.why[0].condition.statement
    assert ledger.what_if(
        spec=epsilond.Gaussian(noise_multiplier=2.0 / math.sqrt(float(left)) * 1.001), slot="gdp"
    ).fits


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"epsilon": 1.0}, "/epsilon"),
        ({"delta": 1e-6}, "/delta"),
        ({"relation": "add-or-remove-one"}, "/relation"),
        ({"unit": "client"}, "/unit"),
        ({"observers": ["server"]}, "/observers"),
        ({"reach": {"risk": 1.0, "solve_for": "epsilon"}}, "/reach"),
    ],
)
def test_what_the_ledger_says_is_left_out(ledger, fields, pointer):
    with pytest.raises(epsilond.InvalidInput) as refused:
        epsilond.plan(given=ledger, **FEDERATION | fields)
    assert [fault.pointer for fault in refused.value.faults] == [pointer]


def test_nothing_fits_a_ledger_that_is_closed(ledger):
    ledger.close()
    found = epsilond.plan(given=ledger, algorithms=["mb-sgd"], **FEDERATION)
    assert found.entries[0].applies == "no"
    assert "closed" in found.entries[0].why[0].message
