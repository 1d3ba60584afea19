"""The library's words at the service itself."""

import pytest

import epsilond
from epsilond.accountants.errors import Observation
from epsilond.app.main import create_app
from epsilond.ledgers.book.restore import ACCOUNTED_FOR
from epsilond.ledgers.client.auditing import audited
from epsilond.ledgers.client.errors import ReceiptUsed, Refused
from epsilond.ledgers.log.canonical import canonical
from tests.app.conftest import PATIENT, serving
from tests.ledgers.client.places import ASKED, QUERY


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """Serve the ledgers of all tests here; return the address."""
    folder = tmp_path_factory.mktemp("service")
    keys = {"store_path": str(folder / "store.db"), "ledger_keys": str(folder / "keys.d")}
    settings = PATIENT.model_copy(update=keys)
    with serving(settings, create_app(settings=settings)) as client:
        yield str(client.base_url)


@pytest.fixture
def books(url, tmp_path):
    with epsilond.ledger(url, runs=tmp_path / "runs") as found:
        yield found


@pytest.fixture
def own(request):
    """Return a ledger's fields, with a name and a data set that no other test has."""
    return ASKED | {"name": request.node.name, "dataset": request.node.name}


def test_from_open_to_verify(books, own, tmp_path):
    ledger = books.open(**own | {"sealed": False})
    ledger.seal()
    assert books.ledger(own["name"]).id == ledger.id
    assert ledger.what_if("train", count=3).fits
    with ledger.reserve("train", count=10) as run:
        receipt = run.commit(4)
    with pytest.raises(ReceiptUsed):
        books.begin(receipt)
    with ledger.reserve("query", spec=QUERY, slot="gdp") as run:
        assert run.charge.parts["mu_squared"].startswith("0.01")
        run.commit()
    (item,) = ledger.show().plan
    assert (item["reserved"], item["committed"], item["credit"]) == (0, 4, 6)
    with pytest.raises(epsilond.LedgerExhausted) as refused:
        ledger.reserve("loud", spec=epsilond.Gaussian(noise_multiplier=0.5), slot="gdp")
    assert refused.value.nearest["smallest_noise_multiplier"] > 2.0
    with pytest.raises(Refused):
        books.run("reservation_nobody")
    assert "6 of them credit" in str(ledger)
    ledger.close()
    kinds = "opened sealed reserved committed cancelled reserved committed closed"
    assert [each.kind for each in ledger.entries()] == kinds.split()
    assert [each.kind for each in ledger.entries(order="newest")] == kinds.split()[::-1]
    assert [each.kind for each in ledger.entries(order="newest", limit=2)] == kinds.split()[:-3:-1]
    (tmp_path / "bundle").write_bytes(books.bundle(ledger).to_bytes())
    (tmp_path / "keys").write_bytes(canonical(books.keys()))
    found = audited(tmp_path / "bundle", tmp_path / "keys")
    assert found.holds, found.sentences()
    assert any("were computed again" in each.sentence for each in found.findings)


def test_a_calibration_within_what_is_left(books, own, tmp_path):
    asked = own | {"plan": {}}
    ledger = books.open(**asked)
    rounds = {"sampling": "full", "rounds": 200}
    found = ledger.calibrate("gaussian", rounds, slot="gdp")
    answer = epsilond.calibrate("gaussian", given=ledger, **rounds)
    assert answer.parameters.noise_multiplier == found.calibration["parameters"]["noise_multiplier"]
    assert found.slack == 0.001
    with epsilond.ledger(tmp_path / "here.db") as here:
        assert epsilond.calibrate("gaussian", given=here.open(**asked), **rounds) == answer
    with ledger.reserve("train", spec=found.spec, slot="gdp") as run:
        run.commit()
    with pytest.raises(epsilond.LedgerExhausted):
        epsilond.calibrate("gaussian", given=ledger, **rounds)
    with pytest.raises(epsilond.ConditionViolated) as refused:
        epsilond.calibrate("ppsgd", given=ledger, clients=5, rounds=1, clipping_norm=1.0, shared_dimension=1)
    assert refused.value.condition.id == "epsilond.ledger-unit"
    with pytest.raises(epsilond.InvalidInput):
        epsilond.calibrate("nothing", given=ledger)


def test_more_ledgers_than_a_page_has(books, own):
    before = [each.id for each in books.ledgers()]
    block = {"plan": {}, "slots": {"gdp": {"mu_squared": "0.011"}}}
    made = [books.open(**own | block | {"name": f"n{place}", "block": f"b{place}"}).id for place in range(21)]
    assert [each.id for each in books.ledgers()] == before + made
    with books.reserve([books.ledger("n0"), books.ledger("n1")], spec=QUERY, slot="gdp") as run:
        run.commit()
    assert len(run.receipts) == 2


def test_the_page_and_the_comparison_with_what_was_kept(books, own, tmp_path):
    ledger = books.open(**own)
    kept = books.checkpoint()
    with ledger.reserve("train", count=10) as run:
        run.commit(4)
    page = ledger.report()
    found = epsilond.verify(page, keys=books.keys())
    assert (found.outcome, found.name) == ("signed", own["name"])
    assert "accepted" not in books.reconcile(kept)
    with pytest.raises(Refused, match="no checkpoint to compare with"):
        books.reconcile()
    with pytest.raises(Refused):  # who has no scope admin accepts nothing
        books.reconcile(declared=ACCOUNTED_FOR)
    with epsilond.ledger(tmp_path / "other.db") as other, pytest.raises(Refused, match="not this log's"):
        books.reconcile(other.checkpoint())


def test_a_contradiction_comes_back_as_the_same_error(books, own, tmp_path):
    ledger = books.open(**own)
    seen = Observation("noise", "a step had no noise", remedy="Call the private optimizer.", count=2)
    run, other = (ledger.reserve("train", count=10) for _ in range(2))
    run.commit(4)
    other.commit(1)
    ledger.contradict([seen], [run])
    for move in (run.commit, ledger.seal, lambda: ledger.amend(lower={"train": 100}), lambda: ledger.reserve("train")):
        with pytest.raises(epsilond.RunDiffers) as refused:
            move()
        assert refused.value.observations == (seen,)
    assert str(seen) in ledger.what_if("train").reason
    assert "run-differs" in {each["code"] for each in run.show().warnings}
    assert [each.get("contradicted") for each in ledger.entries() if each.kind == "committed"] == [True, None]
    run.cancel()
    ledger.close()
    assert (ledger.show().state, str(seen) in str(ledger)) == ("contradicted", True)
    assert books.warnings.keys() == {"run-differs"}
    (tmp_path / "bundle").write_bytes(books.bundle(ledger).to_bytes())
    (tmp_path / "keys").write_bytes(canonical(books.keys()))
    found = audited(tmp_path / "bundle", tmp_path / "keys")
    assert found.holds, found.sentences()
    contradicted = [each.sentence for each in found.findings if each.outcome == "contradicted"]
    assert str(seen) in contradicted[0]
    assert len(contradicted) == 2  # the ledger, and the receipt of the run
