"""The examples in docstrings are run."""

import doctest

import pytest

from epsilond.accountants import guarantee
from epsilond.ledgers.client import opening
from epsilond.questions import account, calibrate, evaluate, plan, report, risk, simulate, sweep

EXAMPLES = [
    each
    for module in (account, calibrate, evaluate, plan, guarantee, opening, report, risk, simulate, sweep)
    for each in doctest.DocTestFinder(exclude_empty=True).find(module)
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
def test_example(example):
    said: list[str] = []
    assert doctest.DocTestRunner().run(example, out=said.append).failed == 0, "".join(said)


def test_the_three_questions_have_examples():
    for question in (calibrate.calibrate, account.account, evaluate.evaluate):
        assert ">>>" in (question.__doc__ or "")
