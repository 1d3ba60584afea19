"""Test that `python -m benchmarks.peers --short` runs and prints correct figures. Speed is not tested."""

import pytest

from benchmarks import cases, peers, tables
from benchmarks.environments import KERNEL, OURS, REFERENCE
from benchmarks.rows import relative_error
from tests.oracles.golden import stored

GOLDEN = stored("accounting")
DIGITS = 1e-13
"""The golden figures have about fifteen digits."""
KNOWN = {case["id"]: case["epsilon"] for case in GOLDEN["cases"]} | {
    case["id"]: case["noise_multiplier"] for case in GOLDEN["calibrations"]
}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    ours = [each for each in peers.ACCOUNTANTS if each.name in OURS]
    found = peers.measure_rows(cases.short(), ours, "2026-11-20", tmp_path_factory.mktemp("cache"))
    return {(row.case, row.accountant): row for row in found}


@pytest.mark.parametrize("case", cases.short(), ids=lambda case: case.id)
@pytest.mark.parametrize("name", OURS)
def test_the_interval_holds_the_golden_figure(rows, case, name):
    row = rows[case.id, name]
    if name == KERNEL.name and row.outcome == "absent":
        assert row.reason == "the kernel is not built here"
        return
    assert row.outcome == "answered", row.reason
    assert row.lower * (1 - DIGITS) <= KNOWN[case.id] <= row.upper * (1 + DIGITS)
    assert row.width <= 1e-4
    assert row.lower <= row.value <= row.upper
    assert relative_error(row, row) == 0.0
    assert row.cpu > 0
    assert row.megabytes > 1


@pytest.mark.parametrize("case", cases.short(), ids=lambda case: case.id)
def test_the_questions_are_those_of_the_golden_figures(case):
    (golden,) = [each for each in (*GOLDEN["cases"], *GOLDEN["calibrations"]) if each["id"] == case.id]
    (part,) = case.parts
    step = golden["spec"]["mechanism"] if "spec" in golden else golden
    assert (case.delta, part.rate) == (golden["delta"], step["rate"])
    assert part.times == (golden["spec"]["times"] if "spec" in golden else golden["rounds"])
    assert part.noise == (step["mechanism"]["noise_multiplier"] if "spec" in golden else None)


def test_the_command_prints_a_table_and_writes_nothing(capsys):
    files = (peers.CSV, tables.DOCUMENT)
    before = [path.read_bytes() for path in files]
    assert peers.main(["--short", "--only", REFERENCE.name]) == 0
    printed = capsys.readouterr().out
    assert all(case.id in printed for case in cases.short())
    assert "Accountants" in printed
    assert [path.read_bytes() for path in files] == before
