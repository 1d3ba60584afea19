"""What is said of rows: errors, ratios, tables, the document, and rows that have no value."""

import csv
import math

import pytest

from benchmarks import cases, document, driver, peers, report, tables, targets
from benchmarks.environments import PEERS, Accountant, Peer, Unavailable, shortened
from benchmarks.rows import Row, Store, geometric_mean, paired, read_csv, relative_error, write_csv


def row(accountant="epsilond", **known):
    given = {"case": "a", "group": "epsilon", "outcome": "answered", "cpu": 0.5, "first": 0.5, "peak_megabytes": 50.0}
    return Row(**{**given, "accountant": accountant, **known})


OURS = row(value=2.0, lower=1.0, upper=2.0)


@pytest.mark.parametrize(
    ("value", "error"),
    [(1.0, 0.0), (1.5, 0.0), (2.0, 0.0), (3.0, 0.5), (0.5, -0.5), (-1.0, -2.0), (math.inf, math.inf)],
)
def test_errors_are_distances_from_the_nearer_end(value, error):
    assert relative_error(row("peer", value=value), OURS) == error


def test_an_error_is_nan_for_nan_and_none_without_a_value():
    assert math.isnan(relative_error(row("peer", value=math.nan), OURS))
    assert relative_error(row("peer", outcome="refused"), OURS) is None


def test_means_are_over_what_both_answered():
    rows = [OURS, row("peer", value=2.0), row(case="b", outcome="over"), row("peer", case="b", value=1.0)]
    assert [mine.case for mine, _ in paired(rows, "peer")] == ["a"]
    assert geometric_mean([1.0, 4.0]) == pytest.approx(2.0)
    assert geometric_mean([]) is None


def test_outcomes_without_a_value_are_rows_that_say_why():
    for said, words in (
        ({"over": "20 s"}, "over the limit: 20 s"),
        ({"refused": "ValueError: no"}, "refused: ValueError: no"),
        ({"absent": "cannot be installed"}, "not asked: cannot be installed"),
        ({"killed": "ended"}, "refused: ended"),
    ):
        known = Row.of(said, case="a", group="epsilon", accountant="peer")
        assert tables.said(known) == words
        assert words in tables.rows_in_full([OURS, known])[1][2]


def test_values_below_our_interval_are_counted():
    rows = [OURS, row("peer", value=0.5, cpu=1.0), row("other", value=3.0)]
    mine, peer, other = (dict(zip(tables.SUMMARY_HEAD, line, strict=True)) for line in tables.summary(rows))
    assert (peer["below ours"], other["below ours"], mine["below ours"]) == ("1", "0", "")
    assert (peer["CPU over ours"], peer["error, worst"], other["error, worst"]) == ("2×", "-50 %", "+50 %")


def test_rows_are_kept_between_runs(tmp_path):
    Store(tmp_path / "rows.jsonl").put("key", row(value=math.inf))
    again = Store(tmp_path / "rows.jsonl")
    assert again.get("key") == row(value=math.inf)
    again.put("theirs", row("peer", value=1.0))
    again.forget(["epsilond"])
    later = Store(tmp_path / "rows.jsonl")
    assert (later.get("key"), later.get("theirs")) == (None, row("peer", value=1.0))
    later.forget()
    assert Store(tmp_path / "rows.jsonl").get("theirs") is None


def test_every_group_has_a_title_and_every_case_its_own_id():
    asked = cases.everything()
    assert {case.group for case in asked} | {"short"} == report.TITLES.keys()
    assert len({case.id for case in asked}) == len(asked)
    named = {name for peer in PEERS for each in peer.accountants for name in each.only}
    assert named <= {case.id for case in asked}


def test_a_case_is_harder_than_the_same_with_fewer_steps():
    grid = {case.id: case for case in cases.forward()}
    fewer, more = grid["ε q=0.01 z=1 T=1e3"], grid["δ q=0.01 z=1 T=1e5"]
    assert more.harder_than(fewer)
    assert not fewer.harder_than(more)
    assert not grid["ε q=0.1 z=1 T=1e6"].harder_than(fewer)
    assert not cases.different()[1].harder_than(cases.different()[0])


def test_the_mechanisms_of_a_mixture_differ():
    for case in cases.different():
        assert len(set(case.parts)) == len(case.parts)
        assert sum(part.times for part in case.parts) == 1000


def test_a_section_is_replaced_and_the_other_kept(tmp_path):
    path = tmp_path / "benchmarks.md"
    document.write("service", "fast", path)
    document.write("peers", "slow", path)
    document.write("everyday", "often", path)
    document.write("service", r"faster \1", path)
    text = path.read_text(encoding="utf-8")
    assert "<!-- begin service -->\nfaster \\1\n<!-- end service -->" in text
    assert "<!-- begin peers -->\nslow\n<!-- end peers -->" in text
    assert "Not measured yet" not in text


def test_new_rows_take_the_place_of_old_ones_and_others_stay():
    first, second = (case.id for case in cases.everything()[:2])
    kept = [row("riskcal CTD", case=second), row("dp-accounting PLD", case=first, cpu=1.0), row("epsilond", case=first)]
    new = [row("dp-accounting PLD", case=first, cpu=2.0), row("epsilond", case=second)]
    assert [(each.case, each.accountant, each.cpu) for each in peers.merged(kept, new)] == [
        (first, "epsilond", kept[2].cpu),
        (first, "dp-accounting PLD", 2.0),
        (second, "epsilond", new[1].cpu),
        (second, "riskcal CTD", kept[0].cpu),
    ]


def test_the_document_says_what_is_missing(tmp_path):
    rows = [OURS, row("dp-accounting PLD", value=3.0, cpu=5.0), row("riskcal CTD", outcome="over", reason="20 s")]
    text = report.markdown(rows, limits="20 s")
    questions = len(cases.everything())
    assert f"prv-accountant {questions}," in text
    assert f"riskcal CTD {questions}," in text
    assert "autodp AFA 1," in text
    assert "| dp-accounting PLD | 10× | a | +50 % | a | 50 MB |" in text
    assert "The 3 rows stand" in text
    assert next(line[0] for line in targets.lines(rows)).startswith("slowest")
    write_csv(rows, tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(encoding="utf-8") as file:
        assert [line["relative_error"] for line in csv.DictReader(file)] == ["0", "0.5", ""]
    assert read_csv(tmp_path / "rows.csv") == rows


def test_the_document_is_short_and_its_rows_are_in_the_data_file():
    rows = read_csv(report.CSV)
    assert {each.accountant for each in rows} >= {"epsilond", "dp-accounting PLD"}
    text = document.DOCUMENT.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 400
    assert f"The {len(rows)} rows stand" in text


def test_a_peer_that_cannot_be_had_is_a_row_that_says_so(tmp_path, monkeypatch):
    def refuse(peer, cache):
        if peer.packages:
            raise Unavailable("cannot be installed: no such release")
        raise Unavailable("not today")

    monkeypatch.setattr(driver, "interpreter", refuse)
    peer = Peer("riskcal", (Accountant("nobody", "nothing"),), ("nobody==0",))
    session = peers.Session(Store(tmp_path / "rows.jsonl"), tmp_path, peers.Limits(), "2026-11-20")
    found = list(session.rows(cases.short()[:1], (peer,)))
    assert [(each.outcome, each.reason) for each in found] == [
        ("absent", "not today"),
        ("absent", "cannot be installed: no such release"),
    ]
    assert not (tmp_path / "rows.jsonl").exists()


def test_reasons_tell_no_addresses():
    said = "WARNING: slow\nERROR: No matching distribution for x==9 at https://me:key@host.example/simple/ in /root/x\n"
    assert shortened(said) == "No matching distribution for x==9 at … in …"


def test_a_run_of_ours_starts_no_peer_and_counts_what_it_left(tmp_path, monkeypatch):
    def refuse(peer, cache):
        raise Unavailable(peer.name)

    monkeypatch.setattr(driver, "interpreter", refuse)
    store, accountant = Store(tmp_path / "rows.jsonl"), Accountant("nobody", "nothing")
    session = peers.Session(store, tmp_path, peers.Limits(), "2026-11-20", ours=True)
    found = list(session.rows(cases.short()[:2], (Peer("riskcal", (accountant,), ("nobody==0",)),)))
    assert [each.reason for each in found] == ["epsilond"] * 2
    assert session.pending == 2


def test_a_run_without_time_left_asks_nothing(tmp_path):
    session = peers.Session(Store(tmp_path / "rows.jsonl"), tmp_path, peers.Limits(until=-math.inf), "2026-11-20")
    assert not list(session.rows(cases.short(), ()))
    assert session.pending == len(cases.short())
