"""Test the cache of parsed questions: equal bytes are parsed once for each owner, within a bound on memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from epsilond.app.questions import asking
from epsilond.app.questions.question import BYTES_PER_BODY_BYTE, QUESTION_BYTES, ParsedQuestions, Question
from tests.app.conftest import PATIENT, application, problem, serving

TOY = "/v1/calibrations/toy"


def question(name: str) -> Question:
    return Question.of("calibration", name, name, b"")


def test_one_owners_question_is_not_anothers() -> None:
    recent = ParsedQuestions()
    recent.keep("ada", "bytes", asked := question("toy"), 10)
    assert recent.get("ada", "bytes") is asked
    assert recent.get("bob", "bytes") is None
    assert recent.get("ada", "others") is None


def test_it_keeps_within_its_bytes_and_forgets_what_was_asked_least_recently() -> None:
    most = 10 * (QUESTION_BYTES + 100 * BYTES_PER_BODY_BYTE)
    recent = ParsedQuestions(most)
    for number in range(40):
        recent.keep("ada", str(number), question("toy"), 100)
        assert recent.get("ada", "0") is not None
        assert recent.bytes <= most
    assert recent.bytes == most
    assert recent.get("ada", "31") is not None
    assert recent.get("ada", "30") is None
    recent.keep("ada", "large", question("toy"), most)
    assert recent.get("ada", "large") is None


@pytest.fixture(scope="module")
def app() -> FastAPI:
    return application(PATIENT)


def test_the_same_bytes_are_read_once(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []
    read = asking._read_question

    async def counted(request: Any, kind: Any, reading: Any, body: bytes) -> Question:
        lengths.append(len(body))
        return await read(request, kind, reading, body)

    monkeypatch.setattr(asking, "_read_question", counted)
    body = b'{"epsilon": 2.75, "delta": 1e-6, "clients": 10}'
    with serving(PATIENT, app) as client:
        post: Callable[[bytes], httpx.Response] = lambda content: client.post(  # noqa: E731
            TOY, content=content, headers={"content-type": "application/json"}
        )
        answers = [post(body), post(body), post(body + b" "), post(body)]
        wrong = [post(b'{"epsilon": -1}') for _ in range(2)]
        large = [post(body + b" " * asking.SMALL) for _ in range(2)]
    assert lengths == [len(body), len(body) + 1, 15, 15, *[len(body) + asking.SMALL] * 2]
    assert [answer.headers["x-cache"] for answer in answers] == ["miss", "hit", "hit", "hit"]
    assert len({answer.content for answer in (*answers, *large)}) == 1
    for refused in wrong:
        problem(refused, 422, "invalid-input")
