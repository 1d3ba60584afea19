"""Test every kind of question with an endpoint of its own: it is in the contract, and its examples are answered."""

from __future__ import annotations

import json
from typing import Any

import pytest

from epsilond.app.main import create_app
from epsilond.app.questions.question import JSON, Posted
from epsilond.app.questions.readings import POSTED
from epsilond.app.settings import Settings
from epsilond.app.workers.work import RenderedAnswer, outcome_of
from tests.app.documents import conforms, content


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return dict(create_app(settings=Settings(store_path=":memory:")).openapi())


@pytest.mark.parametrize("posted", POSTED, ids=lambda posted: posted.kind)
def test_it_is_in_the_contract(posted: Posted, document: dict[str, Any]) -> None:
    operation = document["paths"][posted.path]["post"]
    assert operation["operationId"] == posted.kind
    assert operation["summary"] == posted.title
    body = operation["requestBody"]["content"]["application/json"]
    assert body["schema"]["$ref"].endswith(f"/{posted.problem.__name__}")
    assert body["examples"].keys() == posted.examples.keys()


@pytest.mark.parametrize("posted", POSTED, ids=lambda posted: posted.kind)
def test_its_examples_are_answered(posted: Posted, document: dict[str, Any]) -> None:
    for example in posted.examples.values():
        question = posted.read(json.dumps(example["value"]).encode())
        assert question.kind == posted.kind
        assert question.media_type == posted.media_type
        outcome = outcome_of(question.computation)  # type: ignore[arg-type]
        assert isinstance(outcome, RenderedAnswer)
        if posted.media_type == JSON:
            conforms(document, content(document, document["paths"][posted.path]["post"], 200), json.loads(outcome.body))
