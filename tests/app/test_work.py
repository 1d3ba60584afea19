"""What crosses the process boundary arrives whole."""

from __future__ import annotations

import pickle
from copy import copy

import pytest

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import (
    BeyondBudget,
    ConditionViolated,
    Fault,
    Infeasible,
    InvalidInput,
    NoCertificate,
)
from epsilond.app.workers.work import Failed, RefusedAnswer, RenderedAnswer, WorkFailed, outcome_of

CONDITION = ConditionResult("a.b", "x ≤ y", False, 2.0, float("inf"))
REFUSALS = [
    InvalidInput(Fault("/a", "is wrong", "right"), Fault("/b", "too")),
    InvalidInput.at("", "is wrong"),
    Infeasible("No.", CONDITION, {"epsilon": 1.0}),
    ConditionViolated("No.", CONDITION),
    BeyondBudget("No."),
    NoCertificate("No."),
]


@pytest.mark.parametrize("error", REFUSALS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("carry", [copy, lambda error: pickle.loads(pickle.dumps(error))], ids=["copy", "pickle"])
def test_refusals_arrive_whole(error: Exception, carry: object) -> None:
    arrived = carry(error)  # type: ignore[operator]
    assert type(arrived) is type(error)
    assert str(arrived) == str(error)
    assert vars(arrived) == vars(error)


def test_outcomes() -> None:
    def refuse() -> RenderedAnswer:
        raise REFUSALS[2]

    def fail() -> RenderedAnswer:
        raise ZeroDivisionError("why")

    assert outcome_of(lambda: RenderedAnswer(b"{}", 0.5)).get() == RenderedAnswer(b"{}", 0.5)
    refused = outcome_of(refuse)
    assert isinstance(refused, RefusedAnswer)
    with pytest.raises(Infeasible) as first:
        refused.get()
    with pytest.raises(Infeasible) as second:
        refused.get()
    assert first.value is not second.value
    failed = outcome_of(fail)
    assert isinstance(failed, Failed)
    with pytest.raises(WorkFailed, match="ZeroDivisionError: why"):
        failed.get()
