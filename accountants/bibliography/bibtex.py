"""What to cite for a number: BibTeX entries of the works whose theorems a derivation uses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from epsilond.accountants import VERSION
from epsilond.accountants.bibliography import WORKS, CitedWork
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems import THEOREMS

OWN = "epsilond"
"""The key of this software, which every number is cited with."""
PROCEEDINGS = re.compile(r"\b(Conference|Symposium|Advances in|Cryptology)\b")
JOURNAL = re.compile(r"\b(Journal|Foundations and Trends)\b")
SPECIAL = re.compile(r"([&%#_$])")
_BY_ID: Mapping[str, Theorem] = {each.id: each for each in THEOREMS}


def bibtex(theorems: Iterable[str]) -> str:
    """One entry for each work that these theorems stand in, its `note` naming them, and one for this software.

    Raises:
        InvalidInput: one of them is no theorem's id.
    """
    items: dict[str, list[str]] = {}
    for name in dict.fromkeys(theorems):
        if name not in _BY_ID:
            raise InvalidInput.at("/theorems", "names no theorem of the list")
        source = _BY_ID[name].source
        items.setdefault(source.key, []).append(name if source.key == OWN else f"{source.item} ({name})")
    return "\n\n".join([software(items.pop(OWN, [])), *(entry(key, WORKS[key], used) for key, used in items.items())])


def software(used: Iterable[str] = ()) -> str:
    """The entry of this software at its version; `used` are theorems that are proved in its own documents."""
    note = f"Version {VERSION}" + _proved(used)
    title = "epsilond: certified privacy accounting and calibration for federated learning"
    return _written(
        "software", OWN, {"author": "{The epsilond authors}", "title": f"{{{title}}}", "year": "2026", "note": note}
    )


def _proved(used: Iterable[str]) -> str:
    names = ", ".join(used)
    return f"; proved in its documents: {names}" if names else ""


def entry(key: str, work: CitedWork, used: Iterable[str]) -> str:
    """The entry of one work; `used` are its statements, in words."""
    kind, where = (
        ("inproceedings", "booktitle")
        if PROCEEDINGS.search(work.venue)
        else ("article", "journal")
        if JOURNAL.search(work.venue)
        else ("misc", "howpublished")
    )
    fields = {
        "author": " and ".join(work.authors),
        "title": f"{{{work.title}}}",
        where: work.venue,
        "year": str(work.year),
    }
    if work.arxiv:
        fields |= {"eprint": work.arxiv, "archiveprefix": "arXiv"}
    return _written(kind, key, fields | {"note": "; ".join(used)})


def _written(kind: str, key: str, fields: Mapping[str, str]) -> str:
    lines = (f"  {name} = {{{_escaped(value)}}}," for name, value in fields.items() if value)
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def _escaped(value: str) -> str:
    return SPECIAL.sub(r"\\\1", value)
