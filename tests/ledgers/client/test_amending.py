"""A plan is amended: freely before the first commit, later on a declaration that the ledger shows for ever."""

import math

import pytest

import epsilond
from epsilond.accountants.errors import LedgerClosed
from epsilond.ledgers.client.auditing import audited
from epsilond.ledgers.mathematics.replay import DoesNotReplay, replay_entries
from epsilond.ledgers.store.specs import spec_of, text_of
from tests.ledgers.client.places import ASKED, QUERY, STEP, TRAINING, opened

INDEPENDENT = "ledger-independent-of-outputs"
SHORTER = epsilond.Repeated(times=300, mechanism=STEP)
LOUD = epsilond.Repeated(times=100, mechanism=epsilond.Gaussian(noise_multiplier=2.0))


@pytest.fixture
def books(tmp_path):
    found, _ = opened(tmp_path, slots=[], epsilon=2.3)
    with found:
        yield found


@pytest.fixture
def ledger(books):
    return books.ledger("hospital")


def planned(ledger):
    return {item["name"]: (item["planned"], item["committed"], item["credit"]) for item in ledger.show().plan}


def conditions(ledger):
    return [each["id"] for each in ledger.show().declared_conditions]


def gaussian_delta(epsilon, mu):
    """δ(ε) of the Gaussian mechanism, from its definition."""
    upper, lower = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    tail = [0.5 * math.erfc(-place / math.sqrt(2)) for place in (upper, lower)]
    return tail[0] - math.exp(epsilon) * tail[1]


def test_before_the_first_commit_nothing_is_declared(ledger):
    held = ledger.reserve("train", count=5)
    ledger.amend(lower={"train": 5}, add={"query": QUERY})
    assert planned(ledger) == {"train": (5, 0, 0), "query": (1, 0, 0)}
    assert not ledger.show().conditional
    assert INDEPENDENT not in conditions(ledger)
    assert held.commit().entry["count"] == 5


def test_after_a_commit_the_decision_is_declared_and_shown_for_ever(ledger):
    with ledger.reserve("train", count=600) as run:
        run.commit(500)
    change = {"lower": {"train": 500}, "add": {"more": SHORTER}}
    with pytest.raises(epsilond.ConditionViolated) as refused:
        ledger.amend(**change)
    assert refused.value.condition.id == "epsilond.ledger-amended"
    assert (refused.value.condition.left, refused.value.condition.right) == (500.0, 0.0)
    assert not ledger.show().conditional
    ledger.amend(**change, declared="independent-of-outputs", key="once")
    ledger.amend(**change, declared="independent-of-outputs", key="once")
    assert planned(ledger) == {"train": (500, 500, 0), "more": (300, 0, 0)}
    assert ledger.show().conditional
    assert INDEPENDENT in conditions(ledger)
    assert "as long as what its owner declared is so" in ledger.show()["guarantee"]["in_words"]
    (entry,) = [each for each in ledger.entries() if each.kind == "amended"]
    assert entry.declared == "independent-of-outputs"
    assert [item["name"] for item in entry["add"]] == ["more"]
    with ledger.reserve("more") as run:
        run.commit()


def test_what_is_committed_or_held_cannot_be_taken_out(ledger):
    held = ledger.reserve("train", count=20)
    held.commit(10)
    for fewer in (0, 10, 19, 1001):
        with pytest.raises(epsilond.InvalidInput, match="/lower"):
            ledger.amend(lower={"train": fewer}, declared="independent-of-outputs")
    with pytest.raises(epsilond.InvalidInput, match="more runs of it are an item of another name"):
        ledger.amend(add={"train": SHORTER}, declared="independent-of-outputs")
    ledger.amend(lower={"train": 20}, declared="independent-of-outputs")
    assert held.commit().entry["count"] == 10


def test_the_whole_product_stays_within_the_target(tmp_path):
    books, ledger = opened(tmp_path, plan={"a": LOUD.mechanism}, slots=[], epsilon=3.0, delta=1e-5)
    with books:
        with ledger.reserve("a") as run:
            run.commit()
        most = max(n for n in range(1, 100) if gaussian_delta(3.0, math.sqrt(n + 1) / 2.0) <= 1e-5)
        more = epsilond.Repeated(times=most + 1, mechanism=LOUD.mechanism)
        with pytest.raises(epsilond.Infeasible) as refused:
            ledger.amend(add={"b": more}, declared="independent-of-outputs")
        assert refused.value.nearest["epsilon"] > 3.0
        fewer = epsilond.Repeated(times=most, mechanism=LOUD.mechanism)
        ledger.amend(add={"b": fewer}, declared="independent-of-outputs")
        assert planned(ledger)["b"][0] == most


def test_an_amended_ledger_replays_and_a_forged_amendment_does_not(books, ledger, tmp_path):
    with ledger.reserve("train", count=500) as run:
        run.commit()
    ledger.amend(lower={"train": 500}, add={"more": SHORTER}, declared="independent-of-outputs")
    (tmp_path / "bundle").write_bytes(books.bundle().to_bytes())
    assert audited(tmp_path / "bundle", tmp_path / "ledger.db.keys").holds
    entries = [dict(each) for each in ledger.entries()]
    assert replay_entries(entries, spec_of, text_of).conditional
    *before, amendment = entries
    forged = [
        {name: value for name, value in amendment.items() if name != "declared"},
        amendment | {"declared": "because"},
        amendment | {"lower": [{"name": "train", "planned": 499}]},
        amendment | {"lower": []},
        amendment | {"add": [amendment["add"][0] | {"planned": 10**5}]},
    ]
    for entry in forged:
        with pytest.raises(DoesNotReplay):
            replay_entries([*before, entry], spec_of, text_of)


def test_a_closed_ledger_keeps_its_plan(ledger):
    ledger.close()
    with pytest.raises(LedgerClosed):
        ledger.amend(add={"query": QUERY})


def test_the_default_is_no_amendment(ledger):
    with pytest.raises(epsilond.InvalidInput, match="/add"):
        ledger.amend()
    assert ASKED["plan"] == {"train": TRAINING}
