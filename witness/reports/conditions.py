"""Conditions of a guarantee that only the caller can ensure, with their statements, for the page of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems import THEOREMS

SOURCES: Mapping[str, Theorem] = {theorem.id: theorem for theorem in THEOREMS}
"""Theorems of this engine by id."""


def declared_conditions(answer: JsonObject) -> Iterator[tuple[str, str]]:
    """Yield id and statement of each condition of an answer that only the caller can ensure.

    A calibration lists such conditions of its guarantee with their statements. For its bounds on the risk it has only
    ids, and the statements are those of the bounds' theorems. An account may have no list. Its conditions are then
    those of the theorems in its derivation that no computation checks.

    Args:
        answer: answer of a calibrator or of the accountant.

    Yields:
        Pairs of id and statement.
    """
    if "declared_conditions" not in answer:
        yield from _unchecked_conditions(answer["derivation"])
        return
    for condition in answer["declared_conditions"]:
        yield condition["id"], condition["statement"]
    yield from _risk_conditions(answer.get("risk", {}))


def _unchecked_conditions(derivation: Sequence[JsonObject]) -> Iterator[tuple[str, str]]:
    """Yield id and statement of each condition of a proof's theorems that no computation checks, once each.

    An example is that batches are drawn independently of the data. Steps of theorems that this engine does not know are
    skipped.

    Args:
        derivation: steps of a proof, each with the id of its theorem.

    Yields:
        Pairs of id and statement, in the order of the steps.
    """
    conditions: dict[tuple[str, str], None] = {}  # a set in order
    for step in derivation:
        theorem = SOURCES.get(step["theorem"])
        if theorem is None:
            continue
        for condition in theorem.conditions:
            if not condition.checked:
                conditions[condition.id, condition.statement] = None
    yield from conditions


def _risk_conditions(risk: JsonObject) -> Iterator[tuple[str, str]]:
    """Yield id and statement of each condition of a bound on the risk that only the caller can ensure.

    The answer has the conditions' ids. The statements are those of the theorems of its upper and its lower bound. If
    neither theorem has the id, the id is also the statement.

    Args:
        risk: JSON form of the bounds on the risk; empty if there are none.

    Yields:
        Pairs of id and statement.
    """
    bounds = [risk[side] for side in ("upper", "lower") if side in risk]
    theorems = [SOURCES[bound["theorem"]] for bound in bounds if bound["theorem"] in SOURCES]
    statements = {}
    # In reversed order, so that statements of the upper bound's theorem replace those of the lower bound's.
    for theorem in reversed(theorems):
        statements.update({condition.id: condition.statement for condition in theorem.conditions})
    for condition_id in risk.get("declared_conditions", ()):
        yield condition_id, statements.get(condition_id, condition_id)
