"""Test that requests and answers cross the boundary between processes unchanged."""

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
from epsilond.app.workers.work import Failed, RefusedAnswer, RenderedAnswer, WorkFailed, outcome_of, render_answer
from epsilond.calibrators.accounts import AccountProblem, answer
from epsilond.extras import MissingExtra
from epsilond.ledgers.log.statements import digest_of
from epsilond.reading import read

CONDITION = ConditionResult("a.b", "x ≤ y", False, 2.0, float("inf"))
REFUSALS = [
    InvalidInput(Fault("/a", "is wrong", "right"), Fault("/b", "too")),
    InvalidInput.at("", "is wrong"),
    Infeasible("No.", CONDITION, {"epsilon": 1.0}),
    ConditionViolated("No.", CONDITION),
    BeyondBudget("No."),
    NoCertificate("No."),
    MissingExtra("a figure needs matplotlib", name="matplotlib"),
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


def test_the_digest_of_an_answer_is_that_of_its_bytes() -> None:
    """A worker takes it of the value, and a verifier of the text."""
    spec = {"kind": "repeated", "times": 3, "mechanism": {"kind": "gaussian", "noise_multiplier": 0.01}}
    setting = {"relation": "add-or-remove-one", "unit": "record", "observer": "released-models"}
    query = {"log10_deltas": [-1, -5, -300]}
    made = render_answer(answer, read(AccountProblem, {"spec": spec, "query": query, **setting}))
    assert made.digest is not None
    assert digest_of(made.body) == f"sha256:{made.digest}"
