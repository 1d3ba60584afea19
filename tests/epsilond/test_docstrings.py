"""The examples in docstrings are run."""

import doctest

import pytest

from epsilond import ask, reporting
from epsilond.accountants import privacy_curve

EXAMPLES = [
    each
    for module in (ask, privacy_curve, reporting)
    for each in doctest.DocTestFinder(exclude_empty=True).find(module)
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
def test_example(example):
    said: list[str] = []
    assert doctest.DocTestRunner().run(example, out=said.append).failed == 0, "".join(said)


def test_the_three_questions_have_examples():
    for question in (ask.calibrate, ask.account, ask.evaluate):
        assert ">>>" in (question.__doc__ or "")
