"""Printed readings are evaluations of registered theorems: how one is asked for, and how the answer says so.

What a reading shows is what `POST /v1/theorems/{id}/evaluations` answers for the inputs that stand in the reading's
`evaluations`; nothing is worked out a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, TypeVar

from epsilond.accountants.theorem import ConditionResult, Outputs, Theorem
from epsilond.accountants.theorem import Reading as TheoremReading
from epsilond.calibrators.answer import Claims, EvaluationAsked, PrintedReading
from epsilond.calibrators.envelope import condition_answers

T = TypeVar("T")

POISSON_BATCHES = ConditionResult(
    "fixed-batch-size", "every batch holds exactly K distinct records: that of a Poisson batch is random", False
)
REASONS = {
    "poisson": "the printed proof is for batches of exactly K distinct records; Poisson batches vary in size, and it "
    "says nothing of them",
    "with-replacement": "the printed proof takes 2L/K for the sensitivity, which a record drawn twice exceeds (E-02)",
}
"""Why nothing is proved of a sampling that the proofs of Lowy and Razaviyayn do not cover."""


@dataclass(frozen=True)
class Asked:
    """A registered theorem's formula at inputs, in a reading."""

    theorem: Theorem
    inputs: Any
    reading: TheoremReading = "printed"

    @classmethod
    def of(cls, theorem: Theorem, record: Any, reading: TheoremReading = "printed", **others: Any) -> Asked:
        """At the inputs that the record gives."""
        assert theorem.inputs is not None
        return cls(theorem, inputs_of(theorem.inputs, record, **others), reading)

    @cached_property
    def outputs(self) -> Outputs:
        """What the formula gives."""
        return self.theorem.evaluate(self.inputs, self.reading).outputs

    def conditions(self, *, without: tuple[str, ...] = ()) -> tuple[ConditionResult, ...]:
        """The checked conditions at these inputs in this reading, apart from some."""
        own = {one.id for one in self.theorem.conditions if one.checked and one.id not in without}
        found = self.theorem.evaluate(self.inputs, self.reading).conditions
        return tuple(one for one in found if one.id in own)

    @property
    def served(self) -> EvaluationAsked:
        """The question, as it stands in the answer."""
        return EvaluationAsked(theorem=self.theorem.id, reading=self.reading, inputs=given_fields(self.inputs))


def inputs_of(kind: Callable[..., T], record: Any, **others: Any) -> T:
    """Inputs of a class: those that the record has under the same names are the record's, but for `others`."""
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    own = {name: getattr(record, name) for name in names if name not in others and hasattr(record, name)}
    return kind(**own, **others)


def shown(
    question: Asked, *further: Asked, claims: Claims, parameters: Mapping[str, float], **parts: Any
) -> PrintedReading:
    """A reading in the answer; by default the theorem's `statement`, with its own status."""
    theorem = question.theorem
    named: dict[str, Any] = {"reading": "statement", "status": theorem.status, "parameters": parameters, **parts}
    return PrintedReading(
        theorem=theorem.id,
        claims=claims,
        conditions=condition_answers(question.conditions()),
        evaluations=tuple(one.served for one in (question, *further)),
        **named,
    )


def given_fields(inputs: Any) -> Mapping[str, Any]:
    """A request as the mapping that gives it: fields that are as they are by default are left out."""
    return {
        field.name: _plain(getattr(inputs, field.name))
        for field in fields(inputs)
        if getattr(inputs, field.name) is not None and getattr(inputs, field.name) != field.default
    }


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return given_fields(value)
    return tuple(map(_plain, value)) if isinstance(value, tuple | list) else value
