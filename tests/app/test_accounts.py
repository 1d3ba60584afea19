"""What the service answers to an account, beside what the library does: one answer, and refusals that lead."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import epsilond
from epsilond.accountants.errors import ConditionViolated
from epsilond.app.http.problems import problem_of, text_of
from epsilond.app.workers.work import render
from epsilond.calibrators.account_examples import EXAMPLES
from epsilond.calibrators.accounts import AccountProblem, answer
from epsilond.reading import read

SAMPLED = EXAMPLES["sampled-gaussian"]


def test_the_library_answers_what_the_service_does() -> None:
    asked = {name: SAMPLED[name] for name in ("spec", "relation", "unit", "observer", "claim")}
    ours: Any = epsilond.account(**asked, delta=SAMPLED["query"]["delta"])
    served = render(answer(read(AccountProblem, SAMPLED)))
    assert render(ours) == served
    body: Any = json.loads(served)
    wanted = {"guarantee", "meaning", "derivation", "considered", "declared_conditions", "warnings", "claim"}
    assert wanted <= body.keys()
    assert "curve" not in body["guarantee"]
    assert body["claim"]["holds"] == "yes"


def test_several_points_are_answered_in_their_order() -> None:
    several = EXAMPLES["several-deltas"]
    ours: Any = epsilond.account(
        several["spec"],
        relation=several["relation"],
        unit=several["unit"],
        observer=several["observer"],
        log10_delta=several["query"]["log10_deltas"],
    )
    assert render(ours) == render(answer(read(AccountProblem, several)))


def test_a_refusal_over_http_is_short_and_lists_what_was_tried() -> None:
    with pytest.raises(ConditionViolated) as caught:
        epsilond.account(SAMPLED["spec"], relation="add-or-remove-one", unit="client", observer="server")
    body: Any = json.loads(text_of(problem_of(caught.value)))
    assert body["status"] == 409
    assert body["detail"].startswith("ask for the observer released-models")
    assert len(body["detail"]) <= 200
    assert body["nearest"] == {"observer": "released-models"}
    assert {"epsilond.visible-selection", "balle-barthe-gaboardi-2018.8"} <= {
        tried["theorem"] for tried in body["considered"]
    }
    assert all(tried["applies"] == "no" and tried["reason"] for tried in body["considered"])


def test_the_warning_names_both_certified_figures() -> None:
    asked: dict[str, Any] = {"relation": "replace-one", "unit": "client", "delta": 1e-6}
    seen, unseen = (
        epsilond.account(SAMPLED["spec"], **asked, observer=observer) for observer in ("server", "released-models")
    )
    (warning,) = seen.warnings
    assert warning.code == "amplification-not-counted"
    assert not unseen.warnings
    told = [float(figure) for figure in re.findall(r"ε ≤ ([0-9.]*[0-9])", warning.message)]
    certified = [found.guarantee.epsilon.upper for found in (seen, unseen)]
    assert told == pytest.approx(certified, rel=2e-3)
    assert all(figure >= ends for figure, ends in zip(told, certified, strict=True))
    assert certified[0] > 5 * certified[1]
    record = epsilond.account(SAMPLED["spec"], relation="replace-one", delta=1e-6, unit="record", observer="server")
    assert not record.warnings
