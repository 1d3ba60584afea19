"""Cautions about printed statements name the statement, both sides, and what stays certified."""

from types import SimpleNamespace

import pytest

from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import ConditionAnswer
from epsilond.calibrators.cautions import failing_conditions


def condition(name, statement, holds, left=None, right=None):
    return ConditionAnswer(id=name, statement=statement, holds=holds, left=left, right=right)


def messages(*conditions, corrected=()):
    readings = [
        SimpleNamespace(theorem="lowy.2.1", reading=name, parameters={}, conditions=each)
        for name, each in (("complete", conditions), ("corrected", corrected))
    ]
    return [caution.message for caution in failing_conditions(readings)]


def test_too_few_rounds_are_said_with_the_number_that_is_needed():
    (message,) = messages(condition("prescribed-rounds", "R is at least …", Verdict.NO, 100.0, 123.324))
    assert message == (
        "The paper's risk bound lowy.2.1 needs at least 124 (complete) rounds; this run has 100. "
        "The certified noise is unaffected."
    )


def test_readings_share_one_message():
    few, fewer = (
        condition("prescribed-rounds", "R is at least …", Verdict.NO, 100.0, right) for right in (123.324, 219.3)
    )
    (message,) = messages(few, corrected=(fewer,))
    assert "needs at least 124 (complete), 220 (corrected) rounds; this run has 100." in message


@pytest.mark.parametrize(
    ("sides", "shown"),
    [((0.5, 0.25), " (0.5 against 0.25)"), ((None, None), ""), ((3.0, float("inf")), " (3 against inf)")],
)
def test_other_conditions_are_quoted(sides, shown):
    (message,) = messages(condition("drawn-once", "no record is drawn twice", Verdict.NO, *sides))
    assert message == (
        f"The paper's statement lowy.2.1 (complete) does not cover this run. A condition fails{shown}: "
        "no record is drawn twice. The certified noise is unaffected."
    )


def test_conditions_that_hold_are_not_mentioned():
    assert messages(condition("drawn-once", "…", Verdict.YES, 1.0, 2.0), condition("x", "…", Verdict.UNDECIDABLE)) == []
