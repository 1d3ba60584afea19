"""python -m benchmarks.peers --short: it runs, and what it prints is right. How fast, is no test's business."""

import json
from pathlib import Path

import pytest

from benchmarks import cases, peers, report
from benchmarks.rows import relative_error

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "accounting.json").read_text(encoding="utf-8"))
DIGITS = 1e-13
"""The golden figures have about fifteen digits."""
KNOWN = {case["id"]: case["epsilon"] for case in GOLDEN["cases"]} | {
    case["id"]: case["noise_multiplier"] for case in GOLDEN["calibrations"]
}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    return {row.case: row for row in peers.short(tmp_path_factory.mktemp("cache"))}


@pytest.mark.parametrize("case", cases.short(), ids=lambda case: case.id)
def test_the_interval_holds_the_golden_figure(rows, case):
    row = rows[case.id]
    assert row.outcome == "answered", row.reason
    assert row.lower * (1 - DIGITS) <= KNOWN[case.id] <= row.upper * (1 + DIGITS)
    assert row.upper - row.lower <= 1e-4 * row.upper
    assert row.lower <= row.value <= row.upper
    assert relative_error(row, row) == 0.0


@pytest.mark.parametrize("case", cases.short(), ids=lambda case: case.id)
def test_the_questions_are_those_of_the_golden_figures(case):
    (asked,) = [each for each in (*GOLDEN["cases"], *GOLDEN["calibrations"]) if each["id"] == case.id]
    (part,) = case.parts
    step = asked["spec"]["mechanism"] if "spec" in asked else asked
    assert (case.delta, part.rate) == (asked["delta"], step["rate"])
    assert part.times == (asked["spec"]["times"] if "spec" in asked else asked["rounds"])
    assert part.noise == (step["mechanism"]["noise_multiplier"] if "spec" in asked else None)


def test_cpu_and_memory_are_measured(rows):
    for row in rows.values():
        assert row.cpu > 0
        assert row.calls >= 1
        assert row.peak_megabytes > 1


def test_the_command_prints_them_and_writes_nothing(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(cases, "short", list)
    monkeypatch.setattr(report, "write", lambda *_, **__: pytest.fail("it wrote"))
    assert peers.main(["--short", "--cache", str(tmp_path)]) == 0
    assert "Aims" in capsys.readouterr().out
