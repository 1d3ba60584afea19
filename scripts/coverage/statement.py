"""Numbered statements of a paper, and their names in the source of a theorem."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

KINDS = (
    *("Theorem", "Lemma", "Corollary", "Definition", "Assumption", "Remark", "Algorithm"),
    *("Figure", "Table", "Appendix", "Section"),
)
"""Words in the names of numbered statements; equations have only a number in brackets."""
NUMBER = r"[A-Z]?\.?\d+(?:\.\d+)?[a-d]?|[A-Z](?:\.\d+)?"
LIST = rf"(?:{NUMBER})(?:(?:, and |, | and | to |–)(?:{NUMBER})\b)*"
EQUATIONS = re.compile(r"\((\d+)\)(?:(?: to |–)\((\d+)\))?")


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A numbered statement of a paper, such as a theorem or a figure, with what serves it.

    Attributes:
        number: name in the paper, with a part of it after a comma.
        says: subject.
        theorems: ids of theorems that serve it, in addition to those with a source that names `number`.
        alone: whether only `theorems` serve it.
        experiments: experiments that serve it, in addition to those with a source that names `number`.
        runs: algorithms that `epsilond simulate` runs.
        functions: functions that can be imported.
        used: place where the meaning of a definition or an assumption without a formula is used.
        partly: parts that are not served.
        stand_in: name of an experiment on other data, with a description of the data that they replace.
        absent: reason why nothing serves it.
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
        """Name in a source, without the part."""
        return self.number.partition(", ")[0]

    @property
    def part(self) -> str:
        """Name of the part; empty if the statement has no parts."""
        return self.number.partition(", ")[2]


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper: its key in the bibliography, a word that names it in experiments, and its statements."""

    key: str
    word: str
    statements: tuple[Statement, ...]


def names(item: str) -> set[str]:
    """Return the statements that a source names, with ranges expanded: `Lemmas 2.1 to 2.3` names three.

    Args:
        item: the source in words.

    Returns:
        Names such as `Theorem 2.1`, and equations such as `(22)`.
    """
    statements = set()
    for kind in KINDS:
        # The singular or plural, followed by numbers.
        plural = "Appendices" if kind == "Appendix" else f"{kind}s"
        for numbers in re.findall(rf"\b(?:{plural}|{kind}) ({LIST})(?![\w])", item):
            statements |= {f"{kind} {number}" for number in _numbers(numbers)}
    for first, last in EQUATIONS.findall(item):
        statements |= {f"({number})" for number in range(int(first), int(last or first) + 1)}
    return statements


def _numbers(text: str) -> Iterator[str]:
    """Yield the numbers of a list such as `3, 5 to 7 and A.1`."""
    for part in re.split(r", and |, | and ", text):
        first, *last = re.split(r" to |–", part)
        yield first
        if last:
            head, start = _split(first)
            end = _split(last[0])[1]
            yield from (f"{head}{number}" for number in range(start + 1, end + 1))


def _split(number: str) -> tuple[str, int]:
    """Split a number of a statement into its beginning and its last integer: `A.12` into `A.` and 12."""
    match = re.fullmatch(r"(.*?)(\d+)", number)
    if match is None:  # a letter: a range of its own
        return number, 0
    return match[1], int(match[2])
