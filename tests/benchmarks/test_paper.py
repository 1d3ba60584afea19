"""The methods paper: its numbers are those that its commands compute, its text and figures those that follow."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from benchmarks.paper import __main__ as command
from benchmarks.paper import exhibits
from benchmarks.paper import text as paper_text
from benchmarks.paper.text import FOLDER, PAGE, PLACE, TEMPLATE, fill, places
from benchmarks.paper.truncated import at
from epsilond.accountants.bibliography import WORKS
from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems import THEOREMS
from scripts.pages import paper
from scripts.pages.svg import Axis, Plot, power

STORED = exhibits.read_stored()
TEXT = TEMPLATE.read_text(encoding="utf-8")
SEARCHED = 1e-5
"""A search may stop elsewhere on another processor."""


def assert_same(found: Any, stored: Any, at: str) -> None:
    """Every number that was computed is the stored one; of a list the short form may compute the first entries."""
    if isinstance(found, dict):
        for name, value in found.items():
            assert_same(value, stored[name], f"{at}/{name}")
    elif isinstance(found, list):
        assert len(found) <= len(stored), at
        for place, (one, other) in enumerate(zip(found, stored, strict=False)):
            assert_same(one, other, f"{at}/{place}")
    elif isinstance(found, float):
        assert found == pytest.approx(stored, rel=SEARCHED, abs=1e-9), at
    else:
        assert found == stored, at


def assert_measured(name: str, found: Any) -> None:
    """What an exhibit's command computed is what is stored."""
    stored = STORED[name]
    if name == "models":  # rows are told apart by their targets; the last one's plan stands beside them
        by_target = {one["epsilon"]: one for one in stored["targets"]}
        for one in found["targets"]:
            assert_same(one, by_target[one["epsilon"]], f"models/{one['epsilon']}")
        assert_same(found["one"], stored["one"], "models/one")
        if len(found["targets"]) == len(by_target):
            assert_same(found["plan"], stored["plan"], "models/plan")
    elif name == "engines":
        assert (found["points"], found["inside"]) == (stored["points"], stored["inside"])
        assert found["widest"] == pytest.approx(stored["widest"], rel=1.0)
        for one, other in zip(found["runs"], stored["runs"], strict=False):
            assert one["run"] == other["run"]
            for engine in ("contour", "lattice"):  # widths hang on the last bits
                assert one[engine] == pytest.approx(other[engine], abs=1e-8)
    else:
        assert_same(found, stored, name)


@pytest.mark.parametrize("exhibit", exhibits.EXHIBITS, ids=lambda each: each.name)
def test_an_exhibit_is_what_its_command_computes(exhibit: Any) -> None:
    """If a figure has moved for a reason, `scripts/paper NAME` writes it."""
    assert_measured(exhibit.name, exhibit.measure(True))


@pytest.mark.slow
@pytest.mark.parametrize("exhibit", exhibits.EXHIBITS, ids=lambda each: each.name)
def test_an_exhibit_in_full(exhibit: Any) -> None:
    found = exhibit.measure(False)
    assert_measured(exhibit.name, found)
    for name, rows in found.items():
        assert not isinstance(rows, list) or len(rows) == len(STORED[exhibit.name][name])


def test_the_page_and_its_figures_follow_from_the_numbers() -> None:
    """`python -m benchmarks.paper --render` writes them anew."""
    for path, text in exhibits.files(STORED).items():
        assert path.read_text(encoding="utf-8") == text, path.name
    drawn = {path.name for path in exhibits.files(STORED)}
    assert {path.name for path in FOLDER.iterdir()} == drawn
    assert len(drawn) == 6


def test_every_place_has_its_number_and_every_figure_is_shown_with_its_command() -> None:
    words = exhibits.words(STORED)
    assert places(TEXT) <= {(name, word) for name, said in words.items() for word in said}
    unused = {(name, word) for name, said in words.items() for word in said} - places(TEXT)
    assert not unused
    page = PAGE.read_text(encoding="utf-8")
    assert not PLACE.search(page)
    assert "{references}" not in page
    for path in FOLDER.glob("*.svg"):
        (below,) = re.findall(rf"\]\({path.name}\)\n\n(.*?)\n\n", TEXT, flags=re.DOTALL)
        assert re.search(r"`python\s+-m\s+benchmarks\.paper\s+\w+`", below), path.name
    asked = set(re.findall(r"`python\s+-m\s+benchmarks\.paper\s+([a-z]+)`", TEXT))
    assert asked == {each.name for each in exhibits.EXHIBITS}


def test_no_measured_number_is_typed_into_the_text() -> None:
    typed = re.sub(r"`[^`]*`", "", PLACE.sub("", TEXT))
    typed = re.sub(r"(Theorem|Definition|Lemma|Corollary) \d+(\.\d+)?", "", typed)
    assert not re.findall(r"\d+\.\d+|\d+ %|\d+×", typed)


def test_the_words_say_what_the_numbers_do() -> None:
    """What the text claims without a number: all agree, all inside, as many as a fixed plan."""
    words = exhibits.words(STORED)
    for said in (words["engines"]["overlaps"], words["engines"]["points"], words["peers"]["answered"]):
        count, _, of = said.partition(" of ")
        assert count == of
    assert words["models"]["ledger"] == words["models"]["fits"] != words["models"]["summed"]
    assert float(words["models"]["beyond"]) > float(words["models"]["target"]) >= float(words["models"]["at"])
    assert float(words["truncated"]["attack_least"]) > 0.9
    peers = STORED["peers"]["accountants"]
    below = {name: one["below"] for name, one in peers.items() if one["below"]}
    assert below["dp-accounting"] == STORED["peers"]["forgotten"]
    assert set(below) == {"dp-accounting", "prv-accountant"}
    assert all(factor > 1.0 for *_, factor in STORED["filters"]["natural"])


def test_the_true_delta_of_the_truncated_noise_by_counting() -> None:
    """Worked out apart: each of d coordinates stays in the common support with probability 1 − P(noise = m)."""
    for dimension in (3, 10, 100):
        found = at(dimension)
        levels, rate = found["noise_levels"], 1.0 / dimension
        weights = [math.exp(-rate * abs(k)) for k in range(-levels, levels + 1)]
        stays = 1.0 - weights[-1] / math.fsum(weights)
        assert 10.0 ** found["log10_one_minus_delta"] == pytest.approx(stays**dimension, rel=1e-9)


def test_works_are_cited_by_names_and_listed() -> None:
    cited = paper_text.keys_in(TEXT)
    assert len(cited) == len(set(cited)) > 25
    assert not set(paper_text.RELATED) & set(WORKS)
    assert set(paper_text.RELATED) <= set(cited)
    page = PAGE.read_text(encoding="utf-8")
    for key in cited:
        assert f'<a id="{key}"></a>{paper_text.work(key).citation}' in page
        assert f"](#{key})" in page
    assert paper_text.link_citations("so [@mironov2012bits; @gopi2021numerical]; @lowy2023 say") == (
        "so ([Mironov 2012](#mironov2012bits); [Gopi, Lee and Wutschitz 2021](#gopi2021numerical)); "
        "[Lowy and Razaviyayn 2023](#lowy2023) say"
    )
    with pytest.raises(KeyError):
        fill("{engines.nothing}", exhibits.words(STORED))


def test_the_table_of_refuted_statements_has_each_of_the_papers() -> None:
    refuted = [each for each in THEOREMS if each.source.key in paper.PAPERS and each.status is Status.REFUTED]
    assert len(refuted) >= 10
    assert all(each.errata for each in refuted)
    assert paper.refuted_statements().count("../theorems/") == len(refuted)


def test_figures_are_whole_and_carry_both_schemes() -> None:
    for path in FOLDER.glob("*.svg"):
        text = path.read_text(encoding="utf-8")
        root = ET.fromstring(text)
        names = [each.tag.rpartition("}")[2] for each in root]
        assert names[:2] == ["title", "desc"], path.name
        assert "prefers-color-scheme: dark" in text
        assert "NaN" not in text
        assert "inf" not in text.replace("infer", "")


def test_a_point_lies_where_its_value_says() -> None:
    axis = Axis("", 1.0, 100.0, [], "log")
    assert axis.place(10.0, 0.0, 200.0) == pytest.approx(100.0)
    assert axis.place(1e9, 0.0, 200.0) == 200.0
    plot = Plot("t", "d", Axis("x", 0.0, 10.0, [(0.0, "0")]), Axis("y", 0.0, 1.0, [(1.0, "1")]))
    assert plot.at((0.0, 0.0)) == (plot.left, plot.bottom)
    assert plot.at((10.0, 1.0)) == (plot.right, 44.0)
    assert [power(-10), power(0), power(-14)] == ["10⁻¹⁰", "1", "10⁻¹⁴"]


def test_the_command_prints_one_exhibit_and_writes_nothing_in_short(capsys: pytest.CaptureFixture[str]) -> None:
    before = exhibits.STORED.read_bytes()
    assert command.main(["peers", "--short", "--write"]) == 0
    assert "# peers:" in capsys.readouterr().out
    assert exhibits.STORED.read_bytes() == before
    with pytest.raises(SystemExit):
        command.main(["nothing"])
