"""Hook of mkdocs that adds the generated pages, and fills the places for generated parts in other pages.

A place is `<!-- generated: NAME -->`. Its part comes from another document or from the code.
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
    """Yield all generated pages of the site.

    Yields:
        Path below docs/, and the text in Markdown.
    """
    yield from algorithms.pages()
    yield from theorems.pages()
    yield from reference.pages()
    yield from python.pages()
    yield from notebooks.pages()
    yield "changelog.md", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    contributing = as_in_docs((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    yield (
        "contributing.md",
        contributing.replace("[tests/test_recipes.py](tests/test_recipes.py)", "`tests/test_recipes.py`"),
    )


def section(document: str, title: str) -> str:
    """Return the text of a document below a heading of the second level.

    Args:
        document: path of the document in the repository.
        title: the heading.

    Returns:
        The text up to the next such heading.

    Raises:
        ValueError: the document has no such heading.
    """
    text = (ROOT / document).read_text(encoding="utf-8")
    match = re.search(rf"^## {re.escape(title)}\n\n(.*?)\n*(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL)
    if match is None:
        raise ValueError(f"{document} has no section {title}")
    return match[1]


def has_unreleased_changes() -> bool:
    """Return whether the changelog has changes without a version."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return re.search(r"^## \[Unreleased\]\s+(?!## )\S", changelog, flags=re.MULTILINE) is not None


def version() -> str:
    """Return the documented version, with a plus if there are unreleased changes."""
    return VERSION + ("+" if has_unreleased_changes() else "")


def version_in_words() -> str:
    """Return the documented version as a sentence."""
    more = ", and the changes since that [the changelog](changelog.md) lists as unreleased: hence the plus"
    return f"These pages document epsilond **{version()}**" + (more if has_unreleased_changes() else "") + "."


PARTS: Mapping[str, Callable[[], str]] = {
    "paper-counts": paper.counts,
    "paper-refuted": paper.refuted_statements,
    "limits": lambda: section("README.md", "Known limits"),
    "peers": lambda: section("docs/what-it-knows.md", "Other accountants"),
    "settings": reference.settings_table,
    "simulation-results": simulations.results,
    "version": version_in_words,
}


def fill_places(text: str) -> str:
    """Return a text with every place filled.

    Raises:
        KeyError: a place has an unknown name.
    """
    return PLACE.sub(lambda match: as_in_docs(PARTS[match[1]]()), text)


def as_in_docs(text: str) -> str:
    """Return a text from a document above docs/ with links relative to docs/."""
    return text.replace("](docs/", "](")


def sections() -> Mapping[str, list[str]]:
    """Return the pages in the navigation below each entry that names a folder."""
    decisions = sorted(path.name for path in (ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    return {
        "algorithms/": list(dict(algorithms.pages())),
        "decisions/": [f"decisions/{name}" for name in decisions],
        "notebooks/": list(dict(notebooks.pages())),
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
    """Add the generated pages."""
    from mkdocs.structure.files import File  # noqa: PLC0415  the pages themselves need no mkdocs

    for path, text in pages():
        files.append(File.generated(config, path, content=text))
    return files


FOUND_FIRST = 2
"""Weight of written documents in a search; pages of theorems, of which there are hundreds, have weight 1."""


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Fill the places of a page, and raise the search weight of a document above that of theorems."""
    if not page.file.src_uri.startswith("theorems/"):
        page.meta.setdefault("search", {}).setdefault("boost", FOUND_FIRST)
    return fill_places(markdown)


def on_template_context(context: Any, template_name: str, config: MkDocsConfig) -> Any:
    """Set the base of the links on the page for unknown paths, which is served at any path.

    Args:
        context: values of the template.
        template_name: name of the template.
        config: configuration; `extra.below` is the path of the site, `DOCS_BELOW`.

    Returns:
        The changed values.
    """
    if template_name == "404.html":
        context["base_url"] = config.extra["below"]
    return context
