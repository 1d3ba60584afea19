"""Steps of a loop that are paid for in a ledger: what is committed, handed out, given back and refused."""

import doctest
from contextlib import suppress

import pytest

import epsilond
from epsilond import Gaussian, InvalidInput, LedgerExhausted, Repeated, RunDiffers, Subsampled
from epsilond.accountants.errors import Observation
from epsilond.integrations import budget as module
from epsilond.integrations.budget import LedgerBudget
from epsilond.ledgers.client.errors import Unanswered

STEP = Subsampled(sampling="poisson", rate=0.01, mechanism=Gaussian(noise_multiplier=1.0))
LOUDER = Subsampled(sampling="poisson", rate=0.01, mechanism=Gaussian(noise_multiplier=0.5))


@pytest.fixture
def books(tmp_path):
    with epsilond.ledger(tmp_path / "ledger.db") as opened:
        yield opened


ASKED = {
    "name": "survey",
    "dataset": "survey",
    "unit": "record",
    "relation": "add-or-remove-one",
    "observer": "server",
    "delta": 1e-6,
    "sealed": True,
}


def planned(books, times=25):
    return books.open(**ASKED, epsilon=3.0, plan={"train": Repeated(times=times, mechanism=STEP)})


def slotted(books):
    return books.open(**ASKED, epsilon=1.0, slots=["gdp"])


def test_the_example_of_the_docstring():
    for example in doctest.DocTestFinder(exclude_empty=True).find(module):
        assert doctest.DocTestRunner().run(example).failed == 0


def test_steps_are_committed_before_they_are_handed_out_and_the_rest_returns(books):
    ledger = planned(books)
    with LedgerBudget(ledger, "train", hold=20, chunk=5) as budget:
        for taken in range(1, 8):
            budget.pay(STEP)
            assert sum(receipt.entry["count"] for receipt in budget.receipts) == 5 * -(-taken // 5)
        assert budget.taken == 7
        item = ledger.show().plan[0]
        assert (item["committed"], item["reserved"]) == (10, 10)
    item = ledger.show().plan[0]
    assert (item["committed"], item["reserved"]) == (10, 0)


def test_every_step_of_the_plan_is_used_and_not_one_more(books):
    ledger = planned(books, times=23)
    budget = LedgerBudget(ledger, "train", chunk=10)
    for _ in range(23):
        assert not budget.would_exceed(STEP)
        budget.pay(STEP)
    assert budget.would_exceed(STEP)
    with pytest.raises(LedgerExhausted) as refused:
        budget.pay(STEP)
    assert budget.refused is refused.value
    assert budget.taken == 23
    assert ledger.show().plan[0]["committed"] == 23


def test_asking_changes_nothing(books):
    ledger = planned(books)
    budget = LedgerBudget(ledger, "train", chunk=10)
    before = ledger.show()
    assert not budget.would_exceed(STEP, 25)
    assert budget.would_exceed(STEP, 26)
    assert ledger.show() == before
    budget.pay(STEP)
    assert not budget.would_exceed(STEP, 24)
    assert budget.would_exceed(STEP, 25)


def test_a_louder_step_than_the_plans_is_refused_and_nothing_is_spent(books):
    ledger = planned(books)
    budget = LedgerBudget(ledger, "train")
    with pytest.raises(epsilond.NoCertificate):
        budget.pay(LOUDER)
    assert ledger.show().plan[0]["committed"] == 0


def test_a_slot_pays_for_whatever_comes_until_it_is_used_up(books):
    ledger = slotted(books)
    quiet, loud = Gaussian(noise_multiplier=10.0), Gaussian(noise_multiplier=8.0)
    taken = {quiet: 0, loud: 0}
    with LedgerBudget(ledger, slot="gdp", hold=4, chunk=2) as budget:
        while budget.refused is None:
            for step in (quiet, loud):
                with suppress(LedgerExhausted):
                    budget.pay(step)
                    taken[step] += 1
    used = float(ledger.show().slots[0]["used"]["mu_squared"])
    spent = sum(count / step.noise_multiplier**2 for step, count in taken.items())
    assert spent <= used * (1 + 1e-12) <= spent + 2 / 10.0**2 + 2 / 8.0**2
    assert sum(receipt.entry["count"] for receipt in budget.receipts) >= budget.taken == sum(taken.values())
    assert not ledger.what_if(spec=quiet, slot="gdp", count=2).fits


def test_an_expired_reservation_is_made_anew(books):
    ledger = planned(books)
    budget = LedgerBudget(ledger, "train", hold=10, chunk=2)
    budget.pay(STEP, 2)
    books.run(budget._run.id).cancel()
    budget.pay(STEP, 2)
    assert budget.taken == ledger.show().plan[0]["committed"] == 4


@pytest.mark.parametrize(
    "words", [{}, {"item": "train", "slot": "gdp"}, {"item": "train", "chunk": 0}, {"item": "train", "hold": 0}]
)
def test_what_says_nothing_to_pay_from_is_refused(words):
    with pytest.raises(InvalidInput):
        LedgerBudget(None, **words)


def test_rounds_are_reserved_ahead_as_far_as_they_fit_and_then_paid_for(books):
    ledger = planned(books, times=25)
    with LedgerBudget(ledger, "train") as budget:
        assert budget.reserve(STEP, 10) == 10
        assert ledger.show().plan[0]["reserved"] == 10
        assert budget.reserve(STEP, 40) == 25
        budget.pay(STEP)
        item = ledger.show().plan[0]
        assert (item["reserved"], item["committed"]) == (24, 1)
        assert budget.reserve(STEP, 24) == 24
    item = ledger.show().plan[0]
    assert (item["reserved"], item["committed"]) == (0, 1)
    with LedgerBudget(ledger, "train") as budget:
        budget.pay(STEP, 24)
        assert budget.reserve(STEP, 1) == 0


REPEATED = Observation("fresh-draw", "batches repeat", remedy="Use the loader.", count=3)


def test_a_contradicted_run_pays_nothing_more_and_marks_its_own_commits(books):
    ledger = planned(books)
    other = ledger.reserve("train", count=2)
    other.commit(1)
    with LedgerBudget(ledger, "train", hold=10, chunk=2) as budget:
        for _ in range(3):
            budget.pay(STEP)
        budget.contradict([REPEATED])
        for refused in (lambda: budget.pay(STEP), lambda: budget.reserve(STEP, 1), other.commit):
            with pytest.raises(RunDiffers) as error:
                refused()
            assert error.value.observations == (REPEATED,)
        assert budget.would_exceed(STEP)
    assert budget.taken == 3
    assert ledger.show().state == "contradicted"
    assert [each.get("contradicted") for each in ledger.entries() if each.kind == "committed"] == [None, True, True]
    assert ledger.show().plan[0]["reserved"] == 1  # of the other run; what this one held has returned


def test_another_budget_of_the_ledger_is_refused_too(books):
    ledger = planned(books)
    with LedgerBudget(ledger, "train") as first, LedgerBudget(ledger, "train") as second:
        second.pay(STEP)
        first.contradict([REPEATED])
        with pytest.raises(RunDiffers):
            second.pay(STEP)
        assert second.would_exceed(STEP)
        second.contradict([REPEATED])
    assert len(ledger.show().observations) == 2
    assert [each.get("contradicted") for each in ledger.entries() if each.kind == "committed"] == [True]


def test_a_contradiction_that_is_not_answered_is_sent_again_under_its_key(books, monkeypatch):
    ledger = planned(books)
    sent, contradict = [], ledger._place.contradict

    def lost(*arguments):
        sent.append(arguments)
        if len(sent) == 1:
            raise Unanswered("the service does not answer")
        contradict(*arguments)

    budget = LedgerBudget(ledger, "train", hold=5)
    budget.pay(STEP)
    monkeypatch.setattr(ledger._place, "contradict", lost)
    with pytest.raises(Unanswered):
        budget.contradict([REPEATED])
    with pytest.raises(RunDiffers):
        budget.pay(STEP)
    budget.close()
    budget.close()
    assert sent == [sent[0]] * 2
    assert [each.kind for each in ledger.entries()].count("contradicted") == 1
    assert ledger.show().plan[0]["reserved"] == 0
