"""Whose queue and budget a request counts to where no credentials are asked for."""

from __future__ import annotations

import pytest

from epsilond.app.callers.caller import UNKNOWN, Budgets, Caller, address_of, network_of
from epsilond.app.metrics import Metrics
from epsilond.app.settings import Settings
from tests.app.conftest import PATIENT, application, serving


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:aaaa::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        (UNKNOWN, UNKNOWN),
    ],
)
def test_a_subscriber_is_one_caller(address: str, network: str) -> None:
    assert network_of(address) == network
    caller = Caller.at(address, Budgets(Settings(store_path=":memory:"), Metrics()))
    assert (caller.name, caller.identity, caller.shown) == ("", f"address:{network}", address)
    assert caller.label == "anonymous"


@pytest.mark.parametrize("client", [None, ("not-an-address", 0), ("", 0), ("1.2.3.4, 5.6.7.8", 0)])
def test_what_is_no_address_is_unknown(client: object) -> None:
    assert address_of({"type": "http", "client": client}) == UNKNOWN


@pytest.mark.parametrize(("proxies", "identities"), [("", {"127.0.0.1"}), ("127.0.0.0/8", {"192.0.2.1", "192.0.2.2"})])
def test_a_proxys_word_is_taken_only_if_it_is_named(proxies: str, identities: set[str]) -> None:
    chosen = PATIENT.model_copy(update={"trusted_proxies": proxies})
    app = application(chosen)
    with serving(chosen, app) as client:
        for last in (1, 2):
            headers = {"x-forwarded-for": f"198.51.100.9, 192.0.2.{last}"}
            asked = client.post("/v1/calibrations/busy", json={"seconds": 0.001 * last}, headers=headers)
            assert asked.status_code == 200
    assert set(app.state.budgets._accounts) == {f"address:{each}" for each in identities}
