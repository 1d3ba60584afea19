"""A numbered statement of a paper, and how a source that names several of them is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

KINDS = ("Theorem", "Lemma", "Corollary", "Definition", "Remark", "Algorithm", "Figure", "Table", "Appendix", "Section")
"""What papers number by a word; equations are numbered in brackets alone."""
NUMBER = r"[A-Z]?\.?\d+(?:\.\d+)?[a-d]?|[A-Z](?:\.\d+)?"
LIST = rf"(?:{NUMBER})(?:(?:, and |, | and | to |–)(?:{NUMBER})\b)*"
EQUATIONS = re.compile(r"\((\d+)\)(?:(?: to |–)\((\d+)\))?")


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One statement. `number` is how the paper calls it, a part of it after a comma; `says` is what it is about.

    The theorems whose source names `number` serve it, and the experiments whose source does; `theorems` are further
    ones, or with `alone` the only ones. `runs` are algorithms that `epsilond simulate` runs, `functions` what can be
    imported. `used` says where the meaning of a definition or an assumption is used, which has no formula of its own.
    `partly` says what of it is left out, and `stand_in` names an experiment on other data that says for what its data
    stand in; `absent` says why nothing serves it.
    """

    number: str
    says: str
    theorems: tuple[str, ...] = ()
    alone: bool = False
    experiments: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    used: str = ""
    partly: str = ""
    stand_in: str = ""
    absent: str = ""

    @property
    def name(self) -> str:
        """What a source calls it: without the part."""
        return self.number.partition(", ")[0]

    @property
    def part(self) -> str:
        """Which part of it, where it has several."""
        return self.number.partition(", ")[2]


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper's statements: a key of the bibliography, a word by which experiments name it, and what is not listed."""

    key: str
    word: str
    statements: tuple[Statement, ...]


def names(item: str) -> set[str]:
    """Every numbered statement that a source names, ranges spelled out: `Lemmas 2.1 to 2.3` names three."""
    found = set()
    for kind in KINDS:
        plural = "Appendices" if kind == "Appendix" else f"{kind}s"
        for listed in re.findall(rf"\b(?:{plural}|{kind}) ({LIST})(?![\w])", item):
            found |= {f"{kind} {number}" for number in _numbers(listed)}
    for first, last in EQUATIONS.findall(item):
        found |= {f"({number})" for number in range(int(first), int(last or first) + 1)}
    return found


def _numbers(listed: str) -> Iterator[str]:
    """The numbers of a list such as `3, 5 to 7 and A.1`."""
    for part in re.split(r", and |, | and ", listed):
        first, *last = re.split(r" to |–", part)
        yield first
        if last:
            head, start = _split(first)
            end = _split(last[0])[1]
            yield from (f"{head}{number}" for number in range(start + 1, end + 1))


def _split(number: str) -> tuple[str, int]:
    found = re.fullmatch(r"(.*?)(\d+)", number)
    if found is None:  # a letter: its own range
        return number, 0
    return found[1], int(found[2])
