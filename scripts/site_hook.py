"""Gives mkdocs the pages that are generated from the lists, and fills the places that other pages leave for them.

A page says `<!-- generated: NAME -->` where a part stands that is written elsewhere or follows from the code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.pages import algorithms, reference, theorems

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).parents[1]
PLACE = re.compile(r"<!-- generated: ([\w-]+) -->")


def pages() -> Iterator[tuple[str, str]]:
    """Path below docs/ and text of everything that is generated."""
    yield from algorithms.pages()
    yield from theorems.pages()
    yield from reference.pages()
    yield "changelog.md", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    contributing = as_in_docs((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    yield (
        "contributing.md",
        contributing.replace("[tests/test_recipes.py](tests/test_recipes.py)", "`tests/test_recipes.py`"),
    )


def section(title: str) -> str:
    """What the README says under a heading: it is said in one place."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(title)}\n\n(.*?)\n(?=## )", readme, flags=re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError(f"the README has no section {title}")
    return found[1]


PARTS: Mapping[str, Callable[[], str]] = {
    "limits": lambda: section("Known limits"),
    "peers": lambda: section("Beside others"),
    "settings": reference.settings_table,
}


def filled(text: str) -> str:
    """`text` with every place filled.

    Raises:
        KeyError: nothing of that name is generated.
    """
    return PLACE.sub(lambda found: as_in_docs(PARTS[found[1]]()), text)


def as_in_docs(text: str) -> str:
    """Links of a document that stands above docs/."""
    return text.replace("](docs/", "](")


def sections() -> Mapping[str, list[str]]:
    """What stands in the navigation below the entries that name a folder."""
    decisions = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    return {
        "algorithms/": [path for path, _ in algorithms.pages()],
        "decisions/": [f"decisions/{path.name}" for path in decisions],
    }


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Spells out the entries of the navigation that name a folder."""
    below = sections()
    for entry in config.nav or []:
        for title, target in entry.items():
            entry[title] = below.get(target, target) if isinstance(target, str) else target
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated pages."""
    from mkdocs.structure.files import File  # noqa: PLC0415  the pages themselves need no mkdocs

    for path, text in pages():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fills the places of a page."""
    return filled(markdown)
