"""The order of the kernel's files: each calls only those below it, whose headers it includes."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "kernel" / "src"
INCLUDES = {
    path.stem: set(re.findall(r'^#include "(\w+)\.h"', path.read_text(), re.MULTILINE)) - {path.stem}
    for path in SOURCES.glob("*.c")
}


def below(name: str) -> set[str]:
    """Return every file that a file reaches by includes."""
    return {reached for each in INCLUDES.get(name, ()) for reached in {each, *below(each)}}


def test_no_file_reaches_itself() -> None:
    TopologicalSorter(INCLUDES).prepare()


@pytest.mark.parametrize("path", sorted(SOURCES.glob("*.h")), ids=lambda path: path.name)
def test_headers_include_only_the_types(path: Path) -> None:
    assert set(re.findall(r'^#include "(\w+)\.h"', path.read_text(), re.MULTILINE)) <= {"kernel"}


def test_questions_come_first_and_the_rule_last() -> None:
    assert "roots" in below("best")
    assert {"questions", "profile", "saddle", "survey", "rule"} <= below("roots")
    assert {"chernoff", "decay", "line", "saddle", "survey", "rule"} <= below("profile")
    assert "rule" in below("survey")
    assert below("rule") == {"loss"}
