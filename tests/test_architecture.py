"""The page on the architecture, and its picture of the imports."""

import re

import pytest

from scripts.import_picture import PICTURE, ROOT, arrange_rows, drop_implied, render

PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
FOLDERS = ("", "accountants/", "ledgers/", "accountants/composition/", "src/epsilond/")
"""Folders in which the page's paths begin."""
PATHS = sorted(
    path
    for path in set(re.findall(r"`([a-z_/]+(?:\.py|/))`", PAGE))
    if path not in {"exhibits.py", "__init__.py"}  # in the folder that the same row names
)


def test_the_picture_is_current():
    assert PICTURE.read_text(encoding="utf-8") == render(), "run: python -m scripts.import_picture"


def test_an_import_points_to_a_lower_row():
    assert arrange_rows({"a": frozenset("bc"), "b": frozenset("c"), "c": frozenset()}) == [["a"], ["b"], ["c"]]


def test_implied_imports_are_left_out():
    imports = {"a": frozenset("bc"), "b": frozenset("c"), "c": frozenset()}
    assert drop_implied(imports) == {"a": frozenset("b"), "b": frozenset("c"), "c": frozenset()}


@pytest.mark.parametrize("path", PATHS)
def test_a_path_of_the_page_exists(path):
    assert any((ROOT / folder / path).exists() for folder in FOLDERS)


def test_the_page_is_short():
    assert len(PAGE.splitlines()) <= 150
