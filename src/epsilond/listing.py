"""The lists of algorithms and theorems: everything about them except their functions, links and schemas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.theorem import Condition, Erratum, Reading, Source, Status, Theorem
from epsilond.calibrators.answer import Served
from epsilond.calibrators.calibration import Calibrator


@dataclass(frozen=True, kw_only=True)
class ListedAlgorithm:
    """A calibrator in the list; `example` is a body that it answers."""

    name: str
    title: str
    summary: str
    theorems: tuple[str, ...]
    example: JsonObject


@dataclass(frozen=True, kw_only=True)
class ListedTheorem:
    """A theorem in the list."""

    id: str
    title: str
    statement: str
    source: Source
    status: Status
    constants: Annotated[
        Literal["explicit", "hidden"],
        Served("whether the statement of the theorem gives the values of all its constants"),
    ]


@dataclass(frozen=True, kw_only=True)
class ListedCondition:
    """A premise: checked by us, declared by the caller, or undecidable by finite inputs."""

    id: str
    statement: str
    kind: Literal["checked", "declared", "undecidable"]


@dataclass(frozen=True, kw_only=True)
class TheoremInFull(ListedTheorem):
    """A theorem with its conditions and errata, and the readings and examples of its formula."""

    conditions: tuple[ListedCondition, ...]
    errata: tuple[Erratum, ...]
    readings: tuple[Reading, ...] | None = None
    examples: tuple[JsonObject, ...] | None = None


def listed_algorithm(calibrator: Calibrator) -> ListedAlgorithm:
    """Return the description of an algorithm for the list of algorithms, with an example of a request.

    Args:
        calibrator: the calibrator.

    Returns:
        The entry, which can be rendered as JSON.
    """
    return ListedAlgorithm(
        name=calibrator.name,
        title=calibrator.title,
        summary=calibrator.summary,
        theorems=calibrator.theorems,
        example=calibrator.example,
    )


def listed_theorem(theorem: Theorem) -> ListedTheorem:
    """Return the entry of a theorem in the list of theorems, which leaves out its conditions and errata.

    Args:
        theorem: the theorem.

    Returns:
        The entry, which can be rendered as JSON.
    """
    return ListedTheorem(
        id=theorem.id,
        title=theorem.title,
        statement=theorem.statement,
        source=theorem.source,
        status=theorem.status,
        constants=theorem.constants,
    )


def theorem_in_full(theorem: Theorem) -> TheoremInFull:
    """Return the entry of a theorem in the list, extended by its conditions and errata.

    If the library can evaluate the theorem's formula, the result also has examples of inputs and the readings, that is,
    versions of the statement such as the printed and the corrected one.

    Args:
        theorem: the theorem.

    Returns:
        The description, which can be rendered as JSON. Without a formula, `readings` and `examples` are None.
    """
    has_formula = theorem.formula is not None and theorem.inputs is not None
    return TheoremInFull(
        **vars(listed_theorem(theorem)),
        conditions=tuple(map(listed_condition, theorem.conditions)),
        errata=theorem.errata,
        readings=theorem.readings if has_formula else None,
        examples=theorem.examples if has_formula else None,
    )


def listed_condition(condition: Condition) -> ListedCondition:
    """Convert a condition of a theorem to its entry in a list.

    Args:
        condition: the condition.

    Returns:
        The entry. Its kind is "checked" if the library checks the condition, and "undecidable" if no finite input
        decides it. Otherwise it is "declared", because the caller must vouch for it.
    """
    kind: Literal["checked", "declared", "undecidable"]
    if condition.checked:
        kind = "checked"
    elif condition.undecidable:
        kind = "undecidable"
    else:
        kind = "declared"
    return ListedCondition(id=condition.id, statement=condition.statement, kind=kind)
