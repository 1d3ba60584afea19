"""Test every refusal: it starts with an alternative, names each theorem that was tried, and similar requests are answered."""

from __future__ import annotations

import itertools
import pickle
from typing import Any, get_args

import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import ConditionViolated
from epsilond.accountants.quantities import Observer, Relation, Unit
from epsilond.accountants.specs import Gaussian, Repeated, Shuffled, Subsampled
from epsilond.accountants.theorems import RULES

NOISE = Gaussian(noise_multiplier=4.0)
POISSON = Repeated(times=2000, mechanism=Subsampled(sampling="poisson", rate=0.01, mechanism=NOISE))
SPECS = {
    "poisson": POISSON,
    "fixed": Subsampled(sampling="without-replacement", batch_size=3, population=30, mechanism=NOISE),
    "shuffled": Shuffled(clients=100, mechanism=NOISE),
    "twice": Subsampled(sampling="with-replacement", batch_size=3, population=30, level="clients", mechanism=NOISE),
}
ASKED = list(itertools.product(SPECS, get_args(Relation), get_args(Unit), get_args(Observer)))
LONGEST = 200


def refusal(spec: Any, **setting: Any) -> ConditionViolated | None:
    try:
        account(spec, **setting)
    except ConditionViolated as error:
        return error
    return None


@pytest.mark.parametrize(("name", "relation", "unit", "observer"), ASKED)
def test_a_refusal_is_short_and_what_it_proposes_passes(
    name: str, relation: Relation, unit: Unit, observer: Observer
) -> None:
    setting: dict[str, Any] = {"relation": relation, "unit": unit, "observer": observer}
    refused = refusal(SPECS[name], **setting)
    if refused is None:
        return
    assert len(refused.message) <= LONGEST
    kinds = {rule.theorem.id: rule.kind for rule in RULES}
    (kind,) = {kinds[tried.theorem] for tried in refused.considered}
    assert {tried.theorem for tried in refused.considered} == {rule.theorem.id for rule in RULES if rule.kind == kind}
    assert all(tried.reason and tried.applies == "no" for tried in refused.considered)
    assert all(str(tried.reason) in str(refused) for tried in refused.considered)
    for field, value in refused.nearest.items():
        assert refused.message.startswith(f"ask for the {field} {value}")
        assert refusal(SPECS[name], **{**setting, field: value}) is None
    # What no other observer and no other relation helps is told without a proposal.
    alone = [{"observer": each} for each in get_args(Observer)] + [{"relation": each} for each in get_args(Relation)]
    helped = [change for change in alone if refusal(SPECS[name], **{**setting, **change}) is None]
    assert bool(refused.nearest) == bool(helped)


def test_the_observer_who_does_not_see_the_draw_is_proposed() -> None:
    error = refusal(POISSON, relation="add-or-remove-one", unit="client", observer="server")
    assert error is not None
    assert error.nearest == {"observer": "released-models"}
    assert error.message.startswith("ask for the observer released-models")
    assert "epsilond.visible-selection" in {tried.theorem for tried in error.considered}


def test_a_refusal_crosses_a_process_whole() -> None:
    refused = refusal(POISSON, relation="add-or-remove-one", unit="client", observer="server")
    assert refused is not None
    again = pickle.loads(pickle.dumps(refused))
    assert (again.message, again.nearest, again.considered) == (refused.message, refused.nearest, refused.considered)
