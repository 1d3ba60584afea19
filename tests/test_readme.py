"""The README is short and names only what is there; a page holds what the lists hold. test_docs runs its examples."""

import json
import re

import pytest

from epsilond.commands.line import FAMILIES
from scripts.render_docs import render
from tests import documents
from tests.documents import ROOT
from tests.laws.test_entries import README_REQUEST

MOST_BYTES = 8_200
"""Bytes of the README: what a newcomer reads before the first answer."""
README = (ROOT / "README.md").read_text(encoding="utf-8")
TABLES = (ROOT / "docs/what-it-knows.md").read_text(encoding="utf-8")
INLINE = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", README)


def test_the_tables_are_those_of_the_lists():
    assert render(TABLES) == TABLES, "run: .venv/bin/python scripts/render_docs.py"


def test_a_table_whose_place_is_gone_is_not_left_out_in_silence():
    with pytest.raises(ValueError, match="peers"):
        render(TABLES.replace("<!-- begin peers -->", ""))


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
    assert len(README.encode()) <= MOST_BYTES


def test_the_limits_are_named_before_the_reader_relies_on_anything():
    assert README.index("(#known-limits)") < README.index("## Over HTTP")


def test_the_request_that_is_shown_is_the_one_whose_answer_is_measured():
    (command,) = (one for one in documents.commands(README) if one.program == "curl")
    assert documents.path(command) == "/v1/calibrations/mb-sgd"
    assert json.loads(documents.posted(command)[1]) == README_REQUEST
