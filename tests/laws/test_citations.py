"""What comments, docstrings and documents cite is there: catalogue codes have a heading, errata a theorem, paths a file."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from epsilond.accountants.theorems import THEOREMS
from epsilond.accountants.theorems.withdrawn import WITHDRAWN

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "accountants",
    "app",
    "calibrators",
    "ledgers",
    "mechanisms",
    "simulators",
    "src",
    "storage",
    "training",
    "witness",
)
FOLDERS = (*PACKAGES, "benchmarks", "browser", "docs", "examples", "openapi", "scripts", "tests")
HISTORY = ("CHANGELOG.md", "CONTRIBUTING.md", "docs/decisions/", "tests/frozen/", "tests/test_recipes.py")
"""What speaks of how things were, or of files that a recipe makes."""
OF_OTHER_PROJECTS = ("scripts/pages/published/", "tests/peers/")
"""Files that name paths in repositories of other projects."""

CATALOGUE = {
    "": re.compile(r"\b(F-\d\d)\b"),
    "/bietti/": re.compile(r"\b(P\d{1,2})\b"),
    "/reshef_levy/": re.compile(r"(?<!E-)\b([AR][1-9]\d?)'?(?=[,)])"),
    "/qtdl/": re.compile(r"\b(F\d{1,2}) of the catalogue"),
}
"""Codes, and which files cite them: those of a folder of that name."""
CERTIFICATE = re.compile(r"engine-certificate\.md,? ([AB]\d)\b")
ERRATUM = re.compile(r"\b(E-[BR]?\d{1,2})\b")
PATH = re.compile(r"(?<![\w/.:-])((?:[\w-]+/)+[\w-]+\.(?:py|md|toml|yml))\b")
FOLDER = re.compile(r"(?<![\w/.:-])((?:" + "|".join(FOLDERS) + r")/(?:[\w-]+/)+)(?![\w{<*])")


def files(*folders: str) -> Iterator[tuple[str, str]]:
    """Tracked Python files and documents, and their text."""
    listed = subprocess.run(
        ["git", "ls-files", "--", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    for name in listed:
        if name.endswith((".py", ".md")) and (ROOT / name).is_file() and not name.startswith(HISTORY):
            yield name, (ROOT / name).read_text(encoding="utf-8")


def headings(pattern: str) -> set[str]:
    """Codes that a heading of a document starts with."""
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob(pattern))
    return {code for text in texts for code in re.findall(r"^#+ ([A-Z][\w-]*?\d+)\b", text, flags=re.MULTILINE)}


def cited(pattern: re.Pattern[str], *folders: str) -> dict[str, str]:
    """Each code that is cited, and a file that does."""
    return {
        code: name
        for name, text in files(*folders)
        for found in pattern.finditer(text)
        for code in found.groups()
        if code
    }


def of_the_catalogue() -> dict[str, str]:
    """Each code of a catalogue that is cited, and a file that does."""
    found: dict[str, str] = {}
    for folder, pattern in CATALOGUE.items():
        found |= {
            match[1]: name for name, text in files(*PACKAGES) if folder in name for match in pattern.finditer(text)
        }
    return found


def test_every_code_of_the_catalogue_has_a_heading() -> None:
    known = headings("catalogue/*.md")
    assert {code: name for code, name in of_the_catalogue().items() if code not in known} == {}


def test_the_catalogue_holds_no_code_that_nobody_cites() -> None:
    known = {code for code in headings("catalogue/*.md") if not ERRATUM.fullmatch(code)}
    assert known - of_the_catalogue().keys() == set()


def test_every_section_of_the_certificate_that_is_cited_is_there() -> None:
    known = headings("engine-certificate.md")
    assert {code: name for code, name in cited(CERTIFICATE, *PACKAGES).items() if code not in known} == {}


def test_ids_of_errata_are_a_letter_and_a_number() -> None:
    ids = {erratum.id for theorem in THEOREMS for erratum in theorem.errata}
    ids |= {withdrawal.erratum.id for withdrawal in WITHDRAWN}
    assert {one for one in ids if not re.fullmatch(r"[A-Z]-[A-Z]?\d+", one)} == set()


def test_every_erratum_that_is_cited_is_told() -> None:
    known = {erratum.id for theorem in THEOREMS for erratum in theorem.errata} | headings("catalogue/*.md")
    known |= {withdrawal.erratum.id for withdrawal in WITHDRAWN}
    assert {code: name for code, name in cited(ERRATUM, *PACKAGES).items() if code not in known} == {}


def test_every_path_that_is_named_is_there() -> None:
    missing = {}
    for name, text in files(*FOLDERS, "README.md"):
        if name.startswith(OF_OTHER_PROJECTS):
            continue
        for found in [*PATH.finditer(text), *FOLDER.finditer(text)]:
            path = found[1]
            places = (ROOT, ROOT / "src/epsilond", ROOT / "src", ROOT / "docs", (ROOT / name).parent)
            if path.startswith(FOLDERS) and not any((place / path).exists() for place in places):
                missing[path] = name
    assert missing == {}
