"""What is left of a with-statement is what its block has committed: on a file, by the words of the library."""

from decimal import Decimal

import pytest

import epsilond
from epsilond.accountants.errors import BlockHasLedger, LedgerClosed, NotInPlan, NotSealed, ReservationEnded
from epsilond.ledgers.client.errors import ReceiptUsed, Refused
from epsilond.ledgers.log import receipts
from epsilond.ledgers.log.signing import published_keys
from tests.ledgers.client.places import ASKED, QUERY, STEP, TRAINING, opened


@pytest.fixture
def budget(tmp_path):
    books, ledger = opened(tmp_path)
    with books:
        yield books, ledger


def counts(ledger, name="train"):
    (item,) = [each for each in ledger.show().plan if each["name"] == name]
    return {part: item[part] for part in ("reserved", "committed", "credit")}


def test_left_without_a_commit_everything_returns(budget):
    _, ledger = budget
    with ledger.reserve("train", count=600):
        assert counts(ledger) == {"reserved": 600, "committed": 0, "credit": 0}
    assert counts(ledger) == {"reserved": 0, "committed": 0, "credit": 0}


def test_after_a_part_the_rest_is_credit(budget):
    _, ledger = budget
    with ledger.reserve("train", count=600) as run:
        run.commit(100)
        run.commit(50)
    assert counts(ledger) == {"reserved": 0, "committed": 150, "credit": 450}
    with ledger.reserve("train", count=850) as run:
        run.commit()
    assert counts(ledger) == {"reserved": 0, "committed": 1000, "credit": 0}
    with pytest.raises(epsilond.LedgerExhausted):
        ledger.reserve("train", count=1)


def test_an_error_in_the_block_is_told_and_what_was_held_returns(budget):
    _, ledger = budget
    with pytest.raises(ZeroDivisionError), ledger.reserve("train", count=600):
        _ = 1 / 0
    assert counts(ledger)["reserved"] == 0


def test_a_slot_is_charged_what_the_definition_says_and_no_less(budget):
    _, ledger = budget
    (slot,) = ledger.show().slots
    before = Decimal(slot["remaining"]["mu_squared"])
    with ledger.reserve("weekly", spec=epsilond.Repeated(times=4, mechanism=QUERY), slot="gdp") as run:
        assert Decimal(run.charge.parts["mu_squared"]) >= 4 / Decimal(100)
        run.commit(3)
    (slot,) = ledger.show().slots
    spent = before - Decimal(slot["remaining"]["mu_squared"])
    assert Decimal(3) / 100 <= spent < Decimal("0.03000000001")
    assert Decimal(slot["reserved"]["mu_squared"]) == 0


def test_a_refusal_has_what_would_fit_and_it_fits(budget):
    _, ledger = budget
    loud = epsilond.Gaussian(noise_multiplier=0.5)
    assert not ledger.what_if(spec=loud, slot="gdp").fits
    with pytest.raises(epsilond.LedgerExhausted) as refused:
        ledger.reserve("query", spec=loud, slot="gdp")
    noise = refused.value.nearest["smallest_noise_multiplier"]
    assert ledger.what_if(spec=epsilond.Gaussian(noise_multiplier=noise), slot="gdp").fits
    assert not ledger.what_if(spec=epsilond.Gaussian(noise_multiplier=0.98 * noise), slot="gdp").fits
    assert [each.kind for each in ledger.entries()] == ["opened"]


def test_what_the_plan_does_not_have_is_refused(budget):
    _, ledger = budget
    with pytest.raises(NotInPlan):
        ledger.reserve("inference")
    with pytest.raises(NotInPlan):
        ledger.reserve(spec=QUERY)


def test_a_receipt_verifies_with_the_published_keys(budget):
    books, ledger = budget
    with ledger.reserve("train", count=10) as run:
        receipt = run.commit()
    keys = [each.key for each in published_keys(books.keys())]
    assert receipts.verify(receipt, keys[0].name, keys).size == 3
    assert receipt.entry["reservation"] == run.id
    assert receipt.entry["count"] == 10


def test_a_receipt_is_good_for_one_run(budget):
    books, ledger = budget
    with ledger.reserve("train", count=10) as run:
        used = run.commit(4)
        with pytest.raises(ReceiptUsed):
            books.begin(used)
        handed_over = run.commit(4, begin=False)
        books.begin(handed_over)
        with pytest.raises(ReceiptUsed):
            run.begin(handed_over)


def test_the_same_key_debits_once_and_gives_no_second_run(budget):
    _, ledger = budget
    first, again = (ledger.reserve("train", count=10, key="r") for _ in range(2))
    assert first.id == again.id
    first.commit(5, key="c")
    with pytest.raises(ReceiptUsed):
        again.commit(5, key="c")
    assert counts(ledger) == {"reserved": 5, "committed": 5, "credit": 0}
    with pytest.raises(Refused, match="another request"):
        again.commit(4, key="c")
    assert [each.entry["count"] for each in first.receipts] == [5]


def test_what_was_cancelled_is_not_committed(budget):
    books, ledger = budget
    run = ledger.reserve("train", count=10)
    assert run.cancel().state == "cancelled"
    with pytest.raises(ReservationEnded):
        books.run(run.id).commit()


def test_sealed_closed_and_voided(tmp_path):
    books, ledger = opened(tmp_path, sealed=False)
    with books:
        with pytest.raises(NotSealed):
            ledger.reserve("train")
        ledger.seal()
        with ledger.reserve("train", count=10) as run:
            run.commit()
        ledger.void(run, 10, declared="no-output-observed")
        assert counts(ledger) == {"reserved": 0, "committed": 0, "credit": 10}
        assert ledger.show().conditional
        ledger.close()
        with pytest.raises(LedgerClosed):
            ledger.reserve("train")
        with pytest.raises(BlockHasLedger):
            books.open(**ASKED)
        kinds = [each.kind for each in ledger.entries()]
    assert kinds == ["opened", "sealed", "reserved", "committed", "voided", "closed"]


def test_several_blocks_are_reserved_together_or_not_at_all(tmp_path):
    books, one = opened(tmp_path, block="2025")
    with books:
        other = books.open(**{**ASKED, "block": "2026", "name": "other", "plan": {"train": STEP}})
        with pytest.raises(epsilond.LedgerExhausted):
            books.reserve([one, other], "train", count=2)
        assert counts(one)["reserved"] == counts(other)["reserved"] == 0
        with books.reserve([one, other], "train", count=1) as run:
            run.commit()
        assert [each.entry["ledger"] for each in run.receipts] == sorted([one.id, other.id])
        assert counts(one)["committed"] == counts(other)["committed"] == 1


def test_ledgers_are_found_by_name_and_id_after_a_restart(tmp_path):
    books, ledger = opened(tmp_path)
    books.close()
    with pytest.raises(Refused, match="closed"):
        ledger.show()
    with epsilond.ledger(tmp_path / "ledger.db") as again:
        assert again.ledger("hospital").id == again.ledger(ledger.id).id == ledger.id
        assert [each.name for each in again.ledgers()] == ["hospital"]
        with pytest.raises(epsilond.InvalidInput, match="no such ledger"):
            again.ledger("hospice")


def test_a_file_that_is_open_is_the_same_when_it_is_asked_for_again(tmp_path):
    books, ledger = opened(tmp_path)
    again = epsilond.ledger(tmp_path / "ledger.db")
    with again.ledger("hospital").reserve("train", count=3) as run:
        run.commit()
    assert counts(ledger)["committed"] == 3
    books.close()


def test_the_curve_is_the_plans(budget):
    _, ledger = budget
    account = epsilond.account(TRAINING, relation="add-or-remove-one", unit="record", observer="server").guarantee.curve
    for epsilon, log10_delta in ledger.curve():
        wanted = account.epsilon(log10_delta=log10_delta)
        assert wanted.lower - 1e-9 <= epsilon <= wanted.upper + 1e-6


def test_it_is_shown_as_text_and_in_notebooks(budget):
    _, ledger = budget
    assert "1000 of 1000 left" in str(ledger)
    assert "ε = 3 at δ = 1e-06" in str(ledger)
    assert ledger._repr_html_().startswith("<table><tr><th>name</th><td>hospital</td></tr>")
    with pytest.raises(AttributeError, match="it has fits"):
        _ = ledger.what_if("train").cost


def test_an_older_copy_of_the_file_is_refused(tmp_path):
    books, ledger = opened(tmp_path)
    books.close()
    backup = (tmp_path / "ledger.db").read_bytes()
    with epsilond.ledger(tmp_path / "ledger.db") as books, books.ledger(ledger.id).reserve("train", count=9) as run:
        run.commit()
    (tmp_path / "ledger.db").write_bytes(backup)
    with epsilond.ledger(tmp_path / "ledger.db") as books:
        restored = books.ledger(ledger.id)
        assert counts(restored)["committed"] == 0
        with pytest.raises(Refused, match="newest"):
            restored.reserve("train", count=9)


def test_it_is_no_url_and_no_place(tmp_path):
    for place in ("ftp://127.0.0.1/ledger", "http://"):
        with pytest.raises(epsilond.InvalidInput, match="not a URL"):
            epsilond.ledger(place)
    with pytest.raises(epsilond.InvalidInput, match="cannot be kept"):
        epsilond.ledger(tmp_path)
