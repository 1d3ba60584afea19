"""No served number moves: the answers of this tree are those of the base commit, but for digits that engines differ in."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.frozen.sides import NoBase, Request, differences, report, requests, short_form

STRIDE = 40
DEAR = ("example:calibrate_shuffled_mb_sgd",)
"""It takes half a minute; the short form asks the small run of the same algorithm instead."""


def compared(asked: Sequence[Request]) -> None:
    try:
        found = differences(asked)
    except NoBase as error:
        pytest.skip(str(error))
    failures = [each for each in found if each.kind == "failure"]
    assert not failures, report(found)


def test_some_answers_of_every_theorem_and_algorithm_are_those_of_the_base() -> None:
    asked = short_form([one for one in requests() if one["name"] not in DEAR], STRIDE)
    assert {one["path"] for one in asked} == {one["path"] for one in requests()}
    compared(asked)


@pytest.mark.slow
def test_every_answer_is_that_of_the_base() -> None:
    compared(requests())
