"""Test what is computed from benchmark rows: errors, ratios, tables, findings, and rows without a value."""

import math
from dataclasses import replace

import pytest

from benchmarks import cases, environments, findings, peers, tables
from benchmarks.environments import ACCOUNTANTS, KERNEL, PEER, REFERENCE, Unavailable, shorten
from benchmarks.rows import Row, certified_rows, geometric_mean, pair_rows, ratios, read_csv, relative_error, write_csv
from benchmarks.runners import epsilond
from benchmarks.runners.serving import Question, Run


def row(accountant=REFERENCE.name, case="a", group="epsilon", **known):
    given = {"outcome": "answered", "cpu": 0.5, "first": 0.5, "megabytes": 50.0}
    return Row(**{**given, "case": case, "group": group, "accountant": accountant, **known})


OURS = row(value=2.0, lower=1.0, upper=2.0)


# Rows -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("value", "error"),
    [(1.0, 0.0), (1.5, 0.0), (2.0, 0.0), (3.0, 0.5), (0.5, -0.5), (-1.0, -2.0), (math.inf, math.inf)],
)
def test_errors_are_distances_from_the_nearer_bound(value, error):
    assert relative_error(row("peer", value=value), OURS) == error


def test_an_error_is_nan_for_nan_and_none_without_a_value():
    assert math.isnan(relative_error(row("peer", value=math.nan), OURS))
    assert relative_error(row("peer", outcome="refused"), OURS) is None


def test_the_kernel_certifies_before_the_reference_and_each_has_ratios():
    rows = [row(KERNEL.name, cpu=0.1, lower=1.0, upper=1.5), OURS, row("peer", value=1.7, cpu=1.0)]
    assert certified_rows(rows)["a"] is rows[0]
    assert certified_rows(rows[1:])["a"] is OURS
    assert ratios(rows, "peer", KERNEL.name) == [10.0]
    assert ratios(rows, "peer", REFERENCE.name) == [2.0]


def test_means_are_over_what_both_answered():
    rows = [OURS, row("peer", value=2.0), row(case="b", outcome="over"), row("peer", case="b", value=1.0)]
    assert [ours.case for _, ours in pair_rows(rows, "peer")] == ["a"]
    assert geometric_mean([1.0, 4.0]) == pytest.approx(2.0)
    assert geometric_mean([]) is None


@pytest.mark.parametrize("result", [{"over": "20 s"}, {"refused": "ValueError: no"}, {"absent": "cannot be installed"}])
def test_a_result_without_a_value_is_a_row_that_says_why(result):
    ((outcome, reason),) = result.items()
    known = Row.of(result, case="a", group="epsilon", accountant="peer")
    assert (known.outcome, known.reason) == (outcome, reason)


def test_rows_are_read_as_they_were_written(tmp_path):
    rows = [OURS, row("peer", value=math.inf, load=0.5), row("peer", "b", outcome="over", cpu=None, reason="20 s")]
    write_csv(rows, tmp_path / "rows.csv")
    assert read_csv(tmp_path / "rows.csv") == rows
    assert read_csv(tmp_path / "none.csv") == []


# Tables ---------------------------------------------------------------------------------------------------------------
def summary_of(rows):
    return {line[0]: dict(zip(peers.SUMMARY_HEAD[2:], line[2:], strict=True)) for line in peers.summary(rows)}


def test_a_summary_has_ratios_widths_errors_and_values_below():
    rows = [
        row(KERNEL.name, cpu=0.1, lower=1.0, upper=2.0),
        OURS,
        row("low", value=0.5, cpu=2.0),
        row("high", value=3.0),
    ]
    told = summary_of(rows)
    assert (told["low"]["over the kernel"], told["low"]["over the reference"]) == ("20×", "4×")
    assert (told["low"]["below"], told["high"]["below"], told[KERNEL.name]["below"]) == ("1", "0", "")
    assert [told[name]["width, or worst error"] for name in (KERNEL.name, "low", "high")] == [
        "width 5e-01", "-50 %", "+50 %",
    ]  # fmt: skip
    assert told[REFERENCE.name]["over the kernel"] == "5×"


def test_headlines_are_the_ratios_of_one_peer():
    rows = [OURS, row(PEER.name, value=2.0, cpu=50.0), row(PEER.name, case="b", value=2.0)]
    assert list(peers.headline(rows)) == [
        f"forward: CPU of {PEER.name} over {REFERENCE.name}: mean 100×, least 100×, of 1"
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "inside"), (math.inf, "unbounded"), (-0.5, "-50 %"), (1e-6, "+1.0e-06"), (20.0, "+2.0e+01")],
)
def test_an_error_is_told(value, text):
    assert tables.error(value) == text


def test_sections_are_written_where_they_belong(tmp_path):
    path = tmp_path / "document.md"
    path.write_text("<!-- begin a -->\nold\n<!-- end a -->\n<!-- begin b -->\nkept\n<!-- end b -->\n", encoding="utf-8")
    tables.write_section("a", "new \\1", path)
    text = path.read_text(encoding="utf-8")
    assert text == "<!-- begin a -->\nnew \\1\n<!-- end a -->\n<!-- begin b -->\nkept\n<!-- end b -->\n"
    with pytest.raises(ValueError, match="markers"):
        tables.write_section("c", "", path)


def test_new_rows_take_the_place_of_old_ones_and_others_stay():
    first, second = (case.id for case in cases.everything()[:2])
    kept = [row("Opacus", second), row(PEER.name, first, cpu=1.0), row(case=first), row("riskcal", first)]
    new = [row(PEER.name, first, cpu=2.0), row(case=second)]
    assert peers.merge_rows(kept, new) == [kept[2], new[0], new[1], kept[0]]


def test_the_document_is_that_of_the_rows():
    rows = read_csv(peers.CSV)
    assert {each.accountant for each in rows} >= {KERNEL.name, REFERENCE.name, PEER.name}
    text = tables.DOCUMENT.read_text(encoding="utf-8")
    written = text.partition("<!-- begin peers -->\n")[2].partition("\n<!-- end peers -->")[0]
    assert written.splitlines()[1:] == peers.markdown(rows).splitlines()[1:]  # below the line of the machine
    assert len(text.splitlines()) <= 400
    assert peers.readme_sentence(rows) in peers.README.read_text(encoding="utf-8")


# Findings -------------------------------------------------------------------------------------------------------------
def test_the_worst_shortfall_of_a_table_is_told():
    rows = [
        *(row(case=case, value=2.0, lower=1.0, upper=2.0) for case in "abc"),
        row("peer", "a", value=0.5),
        row("peer", "b", value=1.0 - 1e-9),
        row("peer", "c", value=9.0),
        row("careful", "a", value=2.5),
    ]
    assert list(findings.below(rows)) == [("peer", "epsilon", "2 of 3", "1", "-50 %", "a", "0.5", "[1, 2]")]
    assert "Values below" in peers.markdown([replace(each, date="2026-01-01") for each in rows])
    assert "Values below" not in peers.markdown([replace(each, date="2026-01-01") for each in (rows[0], rows[-1])])


def test_nan_is_below():
    assert [line[2:4] for line in findings.below([OURS, row("peer", value=math.nan)])] == [("1 of 1", "1")]


@pytest.mark.parametrize(("ends", "told"), [((0.0, 0.9), True), ((0.5, 1.0), False), ((2.1, 3.0), True)])
def test_intervals_that_do_not_meet_are_told(ends, told):
    lower, upper = ends
    rows = [OURS, row("peer", value=upper, lower=lower, upper=upper)]
    assert bool(list(findings.apart(rows))) is told


def test_twins_are_compared():
    (case, part), *_ = cases.TWINS.items()
    exact, once = findings.exact_epsilon(part), findings.exact_epsilon(replace(part, times=1))
    values = (("ours", exact, exact), ("peer", once, exact), ("low", exact / 2, exact), ("other", None, 1.0))
    rows = [
        row(name, each, "plain", value=value) for name, *both in values for each, value in zip(case, both, strict=True)
    ]
    assert {line[0]: line[-1] for line in findings.twins(rows)} == {
        "ours": "covers it",
        "peer": "**is that of one run: the count is forgotten**",
        "low": "**too little**",
    }


def test_small_releases_are_enumerated():
    """Six of three answers at p = 0.8 and δ = 1e-5: a figure enumerated elsewhere. One answer: less what δ buys."""
    assert findings.exact_epsilon(cases.SIX, 1e-5) == pytest.approx(3.356726, abs=5e-7)
    true, other = 1.0 - 0.8 + 0.8 / 3, 0.8 / 3
    assert findings.exact_epsilon(replace(cases.SIX, times=1)) == pytest.approx(
        math.log((true - 1e-6) / other), rel=1e-12
    )


def test_what_is_enumerated_is_what_we_certify():
    plain = {case.id: case for case in cases.plain()}
    for ids, part in cases.TWINS.items():
        for case in (plain[each] for each in ids):
            parts = [Run(*each) for each in case.body()["parts"]]
            answer = epsilond.answer(Question("epsilon", parts, None, case.delta, case.relation))
            assert answer.lower * (1 - 1e-12) <= findings.exact_epsilon(part) <= answer.upper * (1 + 1e-12)


# Accountants ----------------------------------------------------------------------------------------------------------
def test_what_is_installed_is_pinned():
    for each in ACCOUNTANTS:
        assert all(package.count("==") == 1 for package in (*each.packages, *each.bare))


def test_an_accountant_that_cannot_be_installed_is_a_row_that_says_so(tmp_path, monkeypatch):
    def refuse(accountant, cache):
        raise Unavailable("cannot be installed: no such release")

    monkeypatch.setattr(environments, "interpreter", refuse)
    (found,) = peers.measure_rows(cases.short()[:1], [PEER], "2026-11-20", tmp_path)
    assert (found.outcome, found.reason) == ("absent", "cannot be installed: no such release")


def test_reasons_tell_no_addresses():
    printed = (
        "WARNING: slow\nERROR: No matching distribution for x==9 at https://me:key@host.example/simple/ in /root/x\n"
    )
    assert shorten(printed) == "No matching distribution for x==9 at … in …"


def test_our_runner_asks_for_what_the_plain_cases_say():
    for case in cases.plain():
        parts = [Run(*part) for part in case.body()["parts"]]
        spec = epsilond.spec_of(parts)
        each = spec.mechanisms[0] if len(parts) > 1 else spec.mechanism
        if parts[0].mechanism == "randomised response":
            # 3/4 the truth and 1/4 the other answer; 7/15 the truth and 4/15 each other one
            assert math.exp(each.epsilon) == pytest.approx({2: 3.0, 3: 7 / 4}[each.categories])
        else:
            assert each.scale_multiplier == parts[0].noise
