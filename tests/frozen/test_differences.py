"""The comparer of answers fails where a figure moves by more than engines differ, and lists a change of wording."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.frozen.differences import FIGURES_WITHIN, Allowed, compare

ANSWER: dict[str, Any] = {
    "status": 200,
    "body": {
        "epsilon": {"lower": 0.9, "upper": 1.0},
        "zero": 0.0,
        "rounds": 10,
        "vacuous": True,
        "kind": "replace-one",
        "warnings": [{"code": "small-batch", "detail": "the batch of 10.5 is small"}],
        "engine_version": "0.2.0",
    },
}


def changed(path: str, value: Any) -> dict[str, Any]:
    answer = copy.deepcopy(ANSWER)
    *way, last = path.split("/")
    place: Any = answer
    for step in way:
        place = place[int(step) if isinstance(place, list) else step]
    place[int(last) if isinstance(place, list) else last] = value
    return answer


def test_equal_answers_do_not_differ() -> None:
    backwards = dict(reversed(ANSWER["body"].items()))
    assert compare("x", ANSWER, {"body": backwards, "status": 200}) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("body/epsilon/upper", 1.0 + 1.01 * FIGURES_WITHIN),
        ("body/epsilon/lower", 0.9 * (1.0 - 1.01 * FIGURES_WITHIN)),
        ("body/zero", -0.0),
        ("body/zero", 5e-324),
        ("body/rounds", 11),
        ("body/rounds", True),
        ("body/vacuous", 1),
        ("body/vacuous", None),
        ("body/kind", "add-or-remove-one"),
        ("body/kind", "some words"),
        ("body/epsilon/middle", 0.95),
        ("body/warnings", [*ANSWER["body"]["warnings"], {"code": "another"}]),
        ("body/warnings", []),
        ("body/warnings/0/code", "another"),
        ("status", 422),
    ],
)
def test_a_difference_fails(path: str, value: Any) -> None:
    for pair in ((ANSWER, changed(path, value)), (changed(path, value), ANSWER)):
        assert [each.kind for each in compare("x", *pair)] == ["failure"]


def test_a_missing_key_fails() -> None:
    without = copy.deepcopy(ANSWER)
    del without["body"]["epsilon"]["upper"]
    (found,) = compare("x", ANSWER, without)
    assert (found.kind, found.path) == ("failure", "/body/epsilon/upper")


def test_the_order_of_a_list_matters() -> None:
    assert len(compare("x", [1, 2], [2, 1])) == 2


def test_a_sentence_is_remarked() -> None:
    (found,) = compare("x", ANSWER, changed("body/warnings/0/detail", "10.5 records are few"))
    assert (found.kind, found.moves_a_figure) == ("remark", False)
    (found,) = compare("x", ANSWER, changed("body/warnings/0/detail", "the batch of 10.6 is small"))
    assert (found.kind, found.moves_a_figure) == ("remark", True)


def test_an_integer_written_as_a_float_is_remarked() -> None:
    assert [each.kind for each in compare("x", ANSWER, changed("body/rounds", 10.0))] == ["remark"]
    assert [each.kind for each in compare("x", 2**60 + 1, float(2**60))] == ["failure"]


def test_a_verdict_is_compared_in_the_words_of_today() -> None:
    for old, new in ((True, "yes"), (False, "no"), ("true", "yes"), ("undecided", "undecidable"), ("no", "no")):
        assert compare("x", {"conditions": [{"holds": old}]}, {"conditions": [{"holds": new}]}) == []
    (turned,) = compare("x", {"holds": True}, {"holds": "no"})
    assert (turned.kind, turned.old, turned.new) == ("failure", "yes", "no")


def test_the_version_may_change() -> None:
    assert compare("x", ANSWER, changed("body/engine_version", "0.3.0")) == []


@pytest.mark.parametrize("factor", [1.0 + 0.9 * FIGURES_WITHIN, 1.0 - 0.9 * FIGURES_WITHIN])
def test_engines_differ_in_late_digits(factor: float) -> None:
    assert compare("x", ANSWER, changed("body/epsilon/upper", factor)) == []


def test_an_exception_holds_in_its_place_only() -> None:
    table = (Allowed("x", "/body/epsilon/upper", "it is rounded otherwise"),)
    assert compare("x", ANSWER, changed("body/epsilon/upper", 1.1), table) == []
    assert compare("x", ANSWER, changed("body/epsilon/lower", 0.8), table) != []
    assert compare("y", ANSWER, changed("body/epsilon/upper", 1.1), table) != []
