"""Random questions, and the trees that are grown from what they cost."""

from __future__ import annotations

import contextlib
import json
import random
from pathlib import Path

import pytest

from benchmarks import costs, tail
from benchmarks.costs import Row, estimates, expensive_lines, grow
from epsilond.accountants.errors import InvalidInput
from epsilond.app.questions.cost import EXPENSIVE_SECONDS, read_trees
from epsilond.calibrators.gaussian.problem import GaussianProblem
from epsilond.reading import read

ROWS = [Row({"rounds": float(place // 20)}, 2.0 if place // 20 > 6 else 0.01, wide=True) for place in range(200)]


@pytest.mark.parametrize("group", tail.GROUPS)
def test_questions_near_to_everyday_ones_are_mostly_accepted(group: str) -> None:
    generator = random.Random(group)
    assert any(tail.measure(tail.draw(generator, group, wide=False)) is not None for _ in range(20))


def test_wide_questions_reach_far() -> None:
    generator = random.Random(0)
    rates = [tail.redraw(generator, {"rate": 0.01}, wide=True)["rate"] for _ in range(500)]
    assert min(rates) < 1e-7
    assert max(rates) > 0.1


def test_trees_distinguish_cheap_from_expensive_questions() -> None:
    trees = grow(ROWS)
    assert read_trees(trees, {"rounds": 3.0}) < EXPENSIVE_SECONDS < read_trees(trees, {"rounds": 8.0})
    assert estimates(ROWS) == pytest.approx([row.seconds for row in ROWS], rel=0.01)


def test_regions_of_expensive_questions_are_named_by_features() -> None:
    assert list(expensive_lines({"gaussian": ROWS})) == [("gaussian", "`rounds` > 3.2e+06", "60", "100%")]


@pytest.mark.parametrize("wide", [True, False])
def test_every_unknown_of_a_gaussian_calibration_is_drawn(wide: bool) -> None:
    generator, unknowns = random.Random(0), set()
    for _ in range(200):
        body = tail.draw(generator, "gaussian", wide).body
        with contextlib.suppress(InvalidInput):
            unknowns.add(read(GaussianProblem, body).solve_for)
    assert unknowns == set(tail.CHOICES["solve_for"])


def test_rows_are_written_and_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generator, path = random.Random(1), tmp_path / "rows"
    measured = None
    while measured is None:
        measured = tail.measure(tail.draw(generator, "gaussian", wide=True))
    line = json.dumps({**measured.question._asdict(), "seconds": measured.seconds, "ending": measured.ending})
    path.write_text(20 * f"{line}\n")
    monkeypatch.setattr(costs, "TREES", tmp_path / "trees")
    monkeypatch.setattr(costs.tables, "write_section", lambda name, text: (tmp_path / name).write_text(text))
    costs.write(path)
    assert json.loads((tmp_path / "trees").read_text()).keys() == {"gaussian"}
    assert "| gaussian |" in (tmp_path / "tail").read_text()
