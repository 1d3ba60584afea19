"""The README holds what the lists hold, and names only what is there. Its examples are run by test_docs."""

import json
import re

import pytest

from epsilond.commands.line import FAMILIES
from scripts.render_docs import render
from tests.documents import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
INLINE = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", README)


def test_the_tables_are_those_of_the_lists():
    assert render(README) == README, "run: .venv/bin/python scripts/render_docs.py"


def test_a_table_whose_place_is_gone_is_not_left_out_in_silence():
    with pytest.raises(ValueError, match="peers"):
        render(README.replace("<!-- begin peers -->", ""))


def test_commands_that_are_named_exist():
    named = {words.split()[1] for words in INLINE if re.match(r"epsilond [a-z]", words)}
    assert {"report", "verify"} <= named
    assert named <= set(FAMILIES)


def test_paths_that_are_named_are_served():
    served = json.loads((ROOT / "openapi/openapi.json").read_text(encoding="utf-8"))["paths"]
    named = {path for words in INLINE for path in re.findall(r"/v1/[\w/-]+", words)}
    assert named
    assert named <= set(served)


def test_folders_that_are_named_are_there():
    named = [words for words in INLINE if re.fullmatch(r"[\w.-]+/", words)]
    assert named
    assert [words for words in named if not (ROOT / words).is_dir()] == []


def test_a_newcomer_reads_it_in_five_minutes():
    """At two hundred words a minute, without tables and code."""
    prose = re.sub(r"```.*?```|^\|.*$", "", README, flags=re.DOTALL | re.MULTILINE)
    assert len(prose.split()) < 1000


def test_the_limits_are_told_before_the_reader_relies_on_anything():
    assert README.index("(#known-limits)") < README.index("## Run it")
