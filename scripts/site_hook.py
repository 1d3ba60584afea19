"""Gives mkdocs the pages that are generated from the lists, and fills the places that other pages leave for them.

A page says `<!-- generated: NAME -->` where a part stands that is written elsewhere or follows from the code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from epsilond.accountants import VERSION
from scripts.pages import algorithms, notebooks, paper, python, reference, simulations, theorems

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
PLACE = re.compile(r"<!-- generated: ([\w-]+) -->")


def pages() -> Iterator[tuple[str, str]]:
    """Path below docs/ and text of everything that is generated."""
    yield from algorithms.pages()
    yield from theorems.pages()
    yield from reference.pages()
    yield from paper.pages()
    yield from python.pages()
    yield from notebooks.pages()
    yield "changelog.md", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    contributing = as_in_docs((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    yield (
        "contributing.md",
        contributing.replace("[tests/test_recipes.py](tests/test_recipes.py)", "`tests/test_recipes.py`"),
    )


def section(document: str, title: str) -> str:
    """Return the text of a document below a heading.

    Raises:
        ValueError: the document has no such heading.
    """
    text = (ROOT / document).read_text(encoding="utf-8")
    match = re.search(rf"^## {re.escape(title)}\n\n(.*?)\n*(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL)
    if match is None:
        raise ValueError(f"{document} has no section {title}")
    return match[1]


def unreleased() -> bool:
    """Whether the changelog has changes that no version names yet."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return re.search(r"^## \[Unreleased\]\s+(?!## )\S", changelog, flags=re.MULTILINE) is not None


def version() -> str:
    """What the guide documents, in few signs: with a plus where it has more than that version had."""
    return VERSION + ("+" if unreleased() else "")


def version_in_words() -> str:
    """The same as a sentence."""
    more = ", and the changes since that [the changelog](changelog.md) lists as unreleased: hence the plus"
    return f"These pages document epsilond **{version()}**" + (more if unreleased() else "") + "."


PARTS: Mapping[str, Callable[[], str]] = {
    "paper-counts": paper.counts,
    "paper-refuted": paper.refuted,
    "limits": lambda: section("README.md", "Known limits"),
    "peers": lambda: section("docs/what-it-knows.md", "Other accountants"),
    "settings": reference.settings_table,
    "simulation-results": simulations.results,
    "version": version_in_words,
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
        "notebooks/": [path for path, _ in notebooks.pages()],
    }


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the version into the site's name, and list the pages of each navigation entry that names a folder."""
    config.site_name = f"{config.site_name} {version()}"
    _list_folders(config.nav or [], sections())
    return config


def _list_folders(entries: list[Any], pages_of: Mapping[str, list[str]]) -> None:
    """Replace the names of folders in a navigation, in place, by the pages of these folders."""
    for entry in entries:
        for title, target in entry.items():
            if isinstance(target, list):
                _list_folders(target, pages_of)
            else:
                entry[title] = pages_of.get(target, target)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated pages."""
    from mkdocs.structure.files import File  # noqa: PLC0415  the pages themselves need no mkdocs

    for path, text in pages():
        files.append(File.generated(config, path, content=text))
    return files


FOUND_FIRST = 2
"""How much more a search weighs what is written for readers than the hundreds of pages of theorems."""


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Fills the places of a page, and lets a search find a document before the theorems that share its words."""
    if not page.file.src_uri.startswith("theorems/"):
        page.meta.setdefault("search", {}).setdefault("boost", FOUND_FIRST)
    return filled(markdown)


def on_template_context(context: Any, template_name: str, config: MkDocsConfig) -> Any:
    """The page of what is not found stands anywhere: its links begin where the site does, `DOCS_BELOW`."""
    if template_name == "404.html":
        context["base_url"] = config.extra["below"]
    return context
