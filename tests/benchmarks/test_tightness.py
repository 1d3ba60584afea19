"""The tightness tables: the short form against the figures of the errata, and the written document's form."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import tightness


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_short_form_prints_the_first_rows_of_every_table(capsys: pytest.CaptureFixture[str]) -> None:
    """8.63 and 28.0 times too noisy, private at 1.5 on MNIST, 3.15, and 0.2726 to 0.0705."""
    assert tightness.main(["--short"]) == 0
    printed = capsys.readouterr().out
    rows = [cells(line) for line in printed.splitlines() if line.startswith("| ") and "---" not in line]
    assert len(rows) == len(tightness.TABLES) * (1 + tightness.SHORT)
    first, second = rows[1:3]
    assert (first[0], first[-1], second[-1]) == ("A1", "8.63", "28")
    low, high = map(float, first[-3].strip("[]").split(", "))
    assert low == pytest.approx(0.02385, rel=1e-3)
    assert high == pytest.approx(0.02486, rel=1e-3)
    assert "above" not in rows[4][-2]
    assert rows[5][-2] == "[0.6386, 0.6558]"
    assert float(rows[7][4]) == pytest.approx(3.15, rel=1e-3)
    assert [float(value) for value in rows[10][4:8]] == pytest.approx([0.2726, 0.0705, 0.0627, 0.0569], rel=1e-3)


def test_the_noise_of_the_regression_is_above_its_target() -> None:
    """Appendix H at a clipping threshold that gradients reach: 3.586 to 3.798 for ε = 3, n = 356."""
    run = next(run for run in tightness.EXPERIMENTS if (run.samples, run.epsilon) == (356, 3.0))
    *_, without_replacement, with_replacement = tightness.experiment(run)
    assert without_replacement == "[3.586, 3.798] **above**"
    assert with_replacement.endswith("**above**")


def test_the_tables_are_written_where_they_belong(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    written = tmp_path / "tightness.md"
    text = tightness.WRITTEN.read_text(encoding="utf-8")
    assert all(f"<!-- begin {name} -->" in text for name in tightness.TABLES)
    written.write_text(text, encoding="utf-8")
    monkeypatch.setattr(tightness, "WRITTEN", written)
    monkeypatch.setattr(tightness, "TABLES", {"theorem-2.3": tightness.TABLES["theorem-2.3"]})
    assert tightness.main([]) == 0
    text = written.read_text(encoding="utf-8")
    table = text.partition("<!-- begin theorem-2.3 -->")[2].partition("<!-- end theorem-2.3 -->")[0]
    assert sum(line.startswith("| ") for line in table.splitlines()) == 2 + len(tightness.GAUSSIAN)
    limit = next(cells(line) for line in table.splitlines() if line.startswith("| 1e-05 | 92.1"))
    assert float(limit[4]) == pytest.approx(1.05, rel=5e-3)
    assert limit[-1].endswith("**above**")


def test_brackets_are_rounded_outward() -> None:
    from epsilond.accountants.curve.enclosure import Interval

    assert tightness.bracket(Interval(0.123456, 0.123412)) == "[0.1234, 0.1235]"
