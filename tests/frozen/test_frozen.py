"""No served number moves: the answers of this tree are those of the base commit, bit for bit, on the same machine."""

from __future__ import annotations

import pytest

from tests.frozen.sides import NoBase, differences, report, requests, short_form

STRIDE = 40
DEAR = ("shuffled-mb-sgd", "qtdl", "norm-fedavg")
"""Their examples take from five seconds to half a minute; the whole comparison has them."""


def compared(asked: list) -> None:
    try:
        found = differences(asked)
    except NoBase as error:
        pytest.skip(str(error))
    failures = [each for each in found if each.kind == "failure"]
    assert not failures, report(found)


def test_some_answers_of_every_theorem_and_algorithm_are_those_of_the_base() -> None:
    compared(short_form(requests(), STRIDE))


@pytest.mark.slow
def test_every_answer_is_that_of_the_base() -> None:
    compared(requests())
