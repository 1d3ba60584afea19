"""The page of a ledger: whatever stands in it is signed, byte for byte, and it shows what the ledger says."""

import json
from datetime import UTC, datetime
from fractions import Fraction

import pytest

import epsilond
from epsilond.commands.exits import BAD_INPUT, BROKEN
from epsilond.ledgers.book import reports
from epsilond.ledgers.client.auditing import audited
from epsilond.ledgers.log.canonical import canonical
from epsilond.ledgers.log.errors import NotVerified
from epsilond.ledgers.log.key_files import open_keyring, rotate
from epsilond.ledgers.pages import page as pages
from epsilond.ledgers.pages.bars import WIDTH, bars
from tests.ledgers.client.places import QUERY, opened
from tests.ledgers.commands.test_command import OPEN, PLAN, run  # noqa: F401 (a fixture)

NOW = datetime(2026, 11, 23, tzinfo=UTC)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a ledger in use, its keys, its page and what it shows."""
    folder = tmp_path_factory.mktemp("page")
    books, ledger = opened(folder, name="<b> & \\u003c <signature/> {{ 7 * 7 }}")
    with books:
        run = ledger.reserve("train", count=300)
        run.commit(100)
        with ledger.reserve("query", spec=QUERY, slot="gdp", count=3) as query:
            query.commit(2)
        (folder / "page").write_text(ledger.report(), encoding="utf-8")
        (folder / "keys").write_bytes(canonical(books.keys()))
        (folder / "bundle").write_bytes(books.bundle().to_bytes())
        (folder / "shown").write_text(json.dumps(ledger.show()))
    return folder


@pytest.fixture(scope="module")
def page(made):
    return (made / "page").read_text(encoding="utf-8")


def test_it_says_what_the_ledger_says(made, page):
    found = epsilond.verify(page, keys=made / "keys")
    shown = json.loads((made / "shown").read_text())
    assert (found.outcome, found.name) == ("signed", shown["name"])
    assert found.headline == (shown["guarantee"]["in_words"],)
    assert "&lt;b&gt; &amp; \\u003c &lt;signature/&gt; {{ 7 * 7 }}" in page
    assert "<b>" not in page
    report, _ = pages.open_page(page, [each.key for each in pages_keys(made)])
    assert report["entries"] == {
        "count": 6,
        "first": 0,
        "last": 5,
        "kinds": {"cancelled": 1, "committed": 2, "opened": 1, "reserved": 2},
    }
    for each in shown["declared_conditions"]:
        assert each["id"] in page
    assert page.count("<figure>") == 1 + len(shown["plan"]) + sum(len(slot["capacity"]) for slot in shown["slots"])


def pages_keys(folder):
    from epsilond.ledgers.log.signing import published_keys

    return published_keys(json.loads((folder / "keys").read_text()))


def test_bars_are_as_long_as_what_they_show(made):
    shown = json.loads((made / "shown").read_text())
    train, squares, eta = bars(shown)
    assert (train.used, train.held) == (WIDTH * 100 / 1000, WIDTH * 300 / 1000)
    assert train.words == "700 of 1000 runs left; 200 held, 100 committed"
    slot = shown["slots"][0]
    assert squares.used == pytest.approx(
        WIDTH * float(Fraction(slot["used"]["mu_squared"]) / Fraction(slot["capacity"]["mu_squared"])), abs=0.01
    )
    assert squares.used == squares.held > 0.0 == eta.used


def test_a_compartment_of_nothing_is_full():
    slot = {"kind": "pure", **{name: {"epsilon": "0"} for name in ("capacity", "used", "reserved", "remaining")}}
    (bar,) = bars({"plan": [], "slots": [slot]})
    assert bar.used == bar.held == WIDTH


def test_no_byte_of_it_can_be_another(made, page):
    keys = [each.key for each in pages_keys(made)]
    pages.open_page(page, keys)
    for place in range(0, len(page), 7):
        other = "0" if page[place] != "0" else "1"
        with pytest.raises(NotVerified):
            pages.open_page(page[:place] + other + page[place + 1 :], keys)
    for other in (
        page + " ",
        page[1:],
        page.replace("\n", "\r\n"),
        page.replace("</main>", "<!-- -->", 1),
        page * 2,
        "",
    ):
        with pytest.raises(NotVerified):
            pages.open_page(other, keys)


def test_a_second_signature_or_the_word_for_it_is_refused(made, page):
    keys = [each.key for each in pages_keys(made)]
    signature = page.partition(pages.BEFORE)[2].partition(pages.AFTER)[0]
    for other in (
        page.replace("</main>", f"{signature}</main>", 1),
        page.replace("</main>", f"{pages.UNSIGNED}</main>", 1),
        page.replace(signature, pages.UNSIGNED),
        page.replace(signature, ""),
    ):
        with pytest.raises(NotVerified):
            pages.open_page(other, keys)


def test_the_signature_of_the_record_alone_is_not_the_pages_nor_the_other_way_round(made, page):
    keyring = open_keyring(made / "ledger.db.keys", pages_keys(made)[0].key.name, NOW)
    report, _ = pages.open_page(page, keyring.keys)
    alone = reports.sign_report(report, keyring.signing)
    assert reports.verify_report(alone, keyring.keys) == keyring.signing.public
    signature = page.partition(pages.BEFORE)[2].partition(pages.AFTER)[0]
    with pytest.raises(NotVerified):
        pages.open_page(page.replace(signature, alone["signature"]), keyring.keys)
    with pytest.raises(NotVerified):
        reports.verify_report({**alone, "signature": signature}, keyring.keys)
    with pytest.raises(NotVerified):
        reports.verify_report({**alone, "report": {**report, "format": "epsilond-statement-1"}}, keyring.keys)


def test_its_checkpoint_is_compared_with_the_log(made, tmp_path):
    assert audited(made / "bundle", made / "keys", [made / "page"]).holds
    books, _ = opened(tmp_path)
    with books:
        (tmp_path / "bundle").write_bytes(books.bundle().to_bytes())
    assert not audited(tmp_path / "bundle", made / "keys", [made / "page"]).holds


def test_keys_are_needed_and_anothers_do_not_do(page, tmp_path):
    with pytest.raises(epsilond.InvalidInput, match="keys"):
        epsilond.verify(page)
    other = open_keyring(tmp_path / "keys", "other", NOW)
    found = epsilond.verify(page, keys=other.document())
    assert found.outcome == "broken"
    assert "signature" in found.reason


def test_it_holds_after_its_key_was_exchanged(made, tmp_path):
    books, ledger = opened(tmp_path)
    with books:
        old = ledger.report()
    folder = tmp_path / "ledger.db.keys"
    rotate(folder, pages_name(folder), NOW.replace(year=2100))
    with epsilond.ledger(tmp_path / "ledger.db") as books:
        new = books.ledger("hospital").report()
    by = [epsilond.verify(each, keys=folder).signed_by for each in (old, new)]
    assert None not in by
    assert by[0] != by[1]


def pages_name(folder):
    return json.loads((folder / "keys.json").read_text())["keys"][0]["name"]


def test_on_the_command_line(run, tmp_path):  # noqa: F811
    from typer.testing import CliRunner

    from epsilond.commands.line import line

    run(*OPEN, "--plan", PLAN, "--sealed")
    run("report", "hospital", "--out", tmp_path / "page.html")
    run("keys", "--out", tmp_path / "keys")
    arguments = ["verify", str(tmp_path / "page.html")]
    told = CliRunner().invoke(line, [*arguments, "--keys", str(tmp_path / "keys")])
    assert told.exit_code == 0, told.output
    assert "signed" in told.stdout
    assert CliRunner().invoke(line, arguments).exit_code == BAD_INPUT
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    (tmp_path / "page.html").write_text(page.replace("ε = 3", "ε = 1"), encoding="utf-8")
    assert CliRunner().invoke(line, [*arguments, "--keys", str(tmp_path / "keys")]).exit_code == BROKEN
