"""BibTeX entries of the works that a derivation cites."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from epsilond.accountants import VERSION
from epsilond.accountants.bibliography import WORKS, CitedWork
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems import THEOREMS

OWN = "epsilond"
"""Key of the entry of this software, which is part of every citation."""
PROCEEDINGS = re.compile(r"\b(Conference|Symposium|Advances in|Cryptology)\b")
JOURNAL = re.compile(r"\b(Journal|Foundations and Trends)\b")
SPECIAL = re.compile(r"([&%#_$])")
_BY_ID: Mapping[str, Theorem] = {theorem.id: theorem for theorem in THEOREMS}


def bibtex(theorems: Iterable[str]) -> str:
    """Return BibTeX entries of this software, and of each work in which one of the given theorems is stated.

    Args:
        theorems: ids of theorems. The `note` of an entry lists those of its work.

    Returns:
        The entries as text, that of the software first.

    Raises:
        InvalidInput: an id is not in the list of theorems.
    """
    statements_by_work: dict[str, list[str]] = {}
    for name in dict.fromkeys(theorems):
        if name not in _BY_ID:
            raise InvalidInput.at("/theorems", "names no theorem of the list")
        source = _BY_ID[name].source
        statement = name if source.key == OWN else f"{source.item} ({name})"
        statements_by_work.setdefault(source.key, []).append(statement)
    own_statements = statements_by_work.pop(OWN, [])
    entries = [software(own_statements)]
    entries += [entry(key, WORKS[key], statements) for key, statements in statements_by_work.items()]
    return "\n\n".join(entries)


def software(theorems: Iterable[str] = ()) -> str:
    """Return the BibTeX entry of this version of the software.

    Args:
        theorems: ids of theorems that are proved in its own documents, which the `note` lists.
    """
    note = f"Version {VERSION}"
    names = ", ".join(theorems)
    if names:
        note += f"; proved in its documents: {names}"
    title = "epsilond: certified privacy accounting and calibration for federated learning"
    fields = {"author": "{The epsilond authors}", "title": f"{{{title}}}", "year": "2026", "note": note}
    return _format_entry("software", OWN, fields)


def entry(key: str, work: CitedWork, statements: Iterable[str]) -> str:
    """Return the BibTeX entry of a work.

    Its type follows from words in the name of the venue: `inproceedings` for a conference, `article` for a journal, and
    `misc` otherwise.

    Args:
        key: BibTeX key.
        work: the work.
        statements: names of the cited statements, which the `note` lists.
    """
    kind, venue_field = "misc", "howpublished"
    if PROCEEDINGS.search(work.venue):
        kind, venue_field = "inproceedings", "booktitle"
    elif JOURNAL.search(work.venue):
        kind, venue_field = "article", "journal"

    # The additional braces make BibTeX keep the capitals of the title.
    fields = {
        "author": " and ".join(work.authors),
        "title": f"{{{work.title}}}",
        venue_field: work.venue,
        "year": str(work.year),
    }
    if work.arxiv:
        fields |= {"eprint": work.arxiv, "archiveprefix": "arXiv"}
    return _format_entry(kind, key, fields | {"note": "; ".join(statements)})


def _format_entry(kind: str, key: str, fields: Mapping[str, str]) -> str:
    """Return a BibTeX entry as text, without empty fields.

    Args:
        kind: type of the entry, such as "article".
        key: BibTeX key.
        fields: values by name, which are escaped for LaTeX.
    """
    lines = [f"  {name} = {{{_escape(value)}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def _escape(value: str) -> str:
    """Escape the characters &, %, #, _ and $, which are special in LaTeX."""
    return SPECIAL.sub(r"\\\1", value)
