"""docs/experiments.md follows from the stored answers, and its figures show what they hold."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from epsilond.calibrators.answer import as_json
from epsilond.questions.simulate import simulate
from epsilond.witness.presets import PRESETS
from epsilond.witness.tally import RULES
from scripts.pages.experiments import __main__ as command
from scripts.pages.experiments import figure, page, stored, tables
from scripts.pages.experiments.panels import panels, with_best_steps

TEXT = page.PAGE.read_text(encoding="utf-8")
NAMES = [name for name in page.PLACE.findall(TEXT) if name not in (page.OVERVIEW, page.VERDICTS)]
WITHOUT_DATA = {
    "bietti-figure-1b",
    "bietti-figure-1c",
    "bietti-figure-1d",
    "bietti-figure-2",
    *(f"das-table-{number}" for number in range(2, 7)),
}
"""Experiments on files that the project cannot have: Stack Overflow, federated EMNIST, CIFAR-10 and Fashion-MNIST. Who
has them runs `Preset.command`, such as `epsilond simulate das-table-2 --data cifar-10=FOLDER`."""
SIZE = 18_000
"""Bytes of a figure, at most."""


def test_the_page_and_its_figures_are_of_today() -> None:
    assert not page.stale_files(), "run: .venv/bin/python -m scripts.pages.experiments"


def test_every_experiment_of_a_paper_is_on_the_page_and_every_stored_one() -> None:
    assert sorted(NAMES) == sorted(stored.names())
    ours = ("qtdl-", "tdl-", "mb-sgd-bound", "unlike-clients", "mu2-against")
    named = {each.name for each in PRESETS if not each.name.endswith(("-short", "-full"))}
    absent = {name for name in named if not name.startswith(ours)} - set(NAMES)
    assert absent <= WITHOUT_DATA
    assert set(NAMES).isdisjoint(WITHOUT_DATA)


@pytest.mark.parametrize("name", NAMES)
def test_a_section_says_what_it_stands_for_and_gives_every_claim_a_verdict(name: str) -> None:
    answer = stored.load(name)
    section = page.section(answer)
    assert answer.preset.stands_in_for is not None
    assert answer.preset.stands_in_for.startswith(("Stand-in for ", "Reproduces "))
    assert answer.preset.stands_in_for in section
    assert answer.preset.is_stand_in == ("It tests the claim" in answer.preset.stands_in_for.replace("\n", " "))
    assert answer.repetitions == answer.preset.repetitions
    assert answer.findings
    for finding in answer.findings:
        assert f"| **{finding.verdict}** |" in section
        assert finding.told[1:] in section
    assert f"`{answer.preset.command}`" in TEXT


@pytest.mark.parametrize("name", NAMES)
def test_a_stored_answer_has_the_cells_of_its_experiment(name: str) -> None:
    """An experiment that changed its settings has to be run anew."""
    answer = stored.load(name)
    tuned = answer.preset.tuned
    own = [
        {axis: value for axis, value in cell.place.items() if tuned is None or axis != tuned.name}
        for cell in answer.preset.cells(answer.repetitions, answer.seed)
    ]
    assert [dict(cell.place) for cell in answer.cells] == [
        place for at, place in enumerate(own) if place not in own[:at]
    ]


@pytest.mark.parametrize("name", NAMES)
def test_figures_have_words_both_schemes_and_every_point(name: str) -> None:
    answer = stored.load(name)
    for file, panel in page.by_file(answer).items():
        text = (stored.FOLDER / file).read_text(encoding="utf-8")
        assert len(text.encode()) < SIZE
        root = ET.fromstring(text)
        assert [each.tag.rpartition("}")[2] for each in root][:2] == ["title", "desc"]
        assert root[1].text == figure.describe(panel)
        assert "prefers-color-scheme: dark" in text
        assert not re.search(r'"[^"]*\b(nan|inf)\b[^"]*"', text)
        points = sum(len(line.points) for line in panel.lines)
        dots = [each for each in root.iter() if each.get("r") == "2.4"]
        assert len(dots) == points > 0
        assert f"![{page._alt(figure.describe(panel))}](experiments/{file})" in TEXT


def test_the_rules_on_the_page_are_those_of_the_judges() -> None:
    for verdict, rule in RULES.items():
        assert f"| **{verdict}** | {rule} |" in TEXT


# From an answer to the page -------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def answer() -> Mapping[str, Any]:
    return as_json(simulate("lowy-logistic-short", repetitions=2))  # type: ignore[no-any-return]


def test_a_kept_answer_is_judged_as_the_fresh_one(
    answer: Mapping[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "FOLDER", tmp_path)
    stored.keep(answer)
    found = stored.load("lowy-logistic-short")
    assert [finding.told for finding in found.findings] == [each["told"] for each in answer["findings"]]
    shown = tables.table(found)
    cell = answer["cells"][0]
    assert f"| {cell['scores']['test_error']['mean']:#.3g} |" in shown
    assert shown.count("\n") == 1 + len(answer["cells"])
    assert "bounds" not in (tmp_path / "lowy-logistic-short.json").read_text(encoding="utf-8")
    (panel,) = panels(found)
    assert {line.name for line in panel.lines} >= {"local SGD", "local SGD, without noise"}


def test_an_answer_of_no_experiment_is_refused(answer: Mapping[str, Any]) -> None:
    with pytest.raises(LookupError):
        stored.parse({**answer, "preset": "unknown"})


def test_the_command_stores_what_it_is_given_and_writes_the_page(
    answer: Mapping[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = tmp_path / "experiments.md"
    written.write_text(
        "## Odd, and even\n\n<!-- begin lowy-logistic-short -->\n<!-- end lowy-logistic-short -->\n\n"
        "<!-- begin overview -->\n<!-- end overview -->\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(stored, "FOLDER", tmp_path / "experiments")
    monkeypatch.setattr(page, "PAGE", written)
    given = tmp_path / "answer.json"
    given.write_text(json.dumps(answer), encoding="utf-8")
    stored.keep(answer)
    assert [path.name for path in page.stale_files()] == ["experiments.md", "lowy-logistic-short-1.svg"]
    command.main([str(given)])
    assert not page.stale_files()
    text = written.read_text(encoding="utf-8")
    assert "](#odd-and-even) |" in text
    assert answer["findings"][0]["words"] in text
    command.main([])
    assert written.read_text(encoding="utf-8") == text


def test_an_upper_end_is_never_shown_below_itself() -> None:
    assert tables.upper(0.171_41) == "0.1715"
    assert tables.upper(16.0) == "16"
    assert tables._power(-3.0) == "0.001"
    assert tables._power(-6.755) == "1.758e-7"


def test_a_grid_over_steps_is_shown_at_the_best_of_them() -> None:
    grid = stored.load("ppsgd-synthetic-grid")
    best = with_best_steps(grid)
    steps = {cell.place["step_size"] for cell in grid.cells}
    assert len(best.cells) == len(grid.cells) // len(steps)
    for cell in best.cells:
        others = [
            float(each.final_excess.mean)
            for each in grid.cells
            if each.final_excess is not None
            and all(each.place[name] == cell.place[name] for name in ("personalization", "noise_multiplier"))
        ]
        assert cell.final_excess is not None
        assert float(cell.final_excess.mean) == min(value for value in others if value == value)
    assert with_best_steps(best) == best
