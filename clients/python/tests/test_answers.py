"""Answers, refusals and jobs of a live service, through the installed client."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

import pytest

from epsilond_answers import Refused, answer_of, answer_of_async, connect
from epsilond_client.api.accounts import account
from epsilond_client.api.calibrations import calibrate_gaussian, sweep_calibration
from epsilond_client.api.theorems import list_theorems
from epsilond_client.models import (
    AccountAnswer,
    AccountProblem,
    Calibration,
    GaussianProblem,
    Job,
    SweepAnswer,
    SweepProblem,
    TheoremList,
)

ROOT = Path(__file__).parents[3]
FIELDS = {
    "solve_for": "noise_multiplier",
    "relation": "add-or-remove-one",
    "unit": "record",
    "observer": "released-models",
    "sampling": "poisson",
    "rate": 0.01,
    "rounds": 1000,
    "epsilon": 1.0,
    "delta": 1e-6,
}


def calibrated(client, **changes):
    body = GaussianProblem.from_dict(FIELDS | changes)
    return answer_of(client, calibrate_gaussian.sync_detailed(client=client, body=body), Calibration)


def test_a_calibration_meets_its_target_and_its_account_agrees(client):
    calibration = calibrated(client)
    assert calibration.guarantee.epsilon.upper <= 1.0
    gaussian = {"kind": "gaussian", "noise_multiplier": calibration.parameters.noise_multiplier}
    step = {"kind": "subsampled", "sampling": "poisson", "rate": 0.01, "mechanism": gaussian}
    setting = {name: FIELDS[name] for name in ("relation", "unit", "observer")}
    run = {"kind": "repeated", "times": 1000, "mechanism": step}
    body = AccountProblem.from_dict({"spec": run, "query": {"delta": 1e-6}, **setting})
    certified = answer_of(client, account.sync_detailed(client=client, body=body), AccountAnswer).guarantee.epsilon
    assert 0.999 < certified.lower <= certified.upper <= 1.0


def test_a_refusal_names_the_field(client):
    with pytest.raises(Refused, match=r"^422 .*/epsilon: is out of range") as refused:
        calibrated(client, epsilon=-1.0)
    assert refused.value.problem.errors[0].pointer == "/epsilon"


def test_a_request_that_became_a_job_is_answered_as_a_short_one(client):
    sweep = SweepProblem.from_dict({**FIELDS, "sweep": {"field": "epsilon", "values": [0.515, 1.0, -1.0]}})
    arguments = {"client": client, "body": sweep, "algorithm": "gaussian", "prefer": "respond-async"}
    response = sweep_calibration.sync_detailed(**arguments)
    assert isinstance(response.parsed, Job)
    first, second, third = answer_of(client, response, SweepAnswer).answers
    assert first.answer.guarantee.epsilon.upper <= 0.515
    assert second.answer.guarantee == calibrated(client).guarantee
    assert third.problem.errors[0].pointer == "/epsilon"


def test_the_problem_of_a_job_is_raised(client):
    given = {name: value for name, value in FIELDS.items() if name != "rounds"}
    body = GaussianProblem.from_dict(given | {"solve_for": "rounds", "noise_multiplier": 0.0123})
    response = calibrate_gaussian.sync_detailed(client=client, body=body, prefer="respond-async")
    assert isinstance(response.parsed, Job)
    with pytest.raises(Refused, match=r"^409 "):
        answer_of(client, response, Calibration)


def test_async_answers_the_same(client, url):
    async def both():
        body = GaussianProblem.from_dict(FIELDS)
        async with connect(url, os.environ["EPSILOND_API_KEY"]) as connected:
            requests = [calibrate_gaussian.asyncio_detailed(client=connected, body=body) for _ in range(2)]
            responses = await asyncio.gather(*requests)
            return [await answer_of_async(connected, response, Calibration) for response in responses]

    assert asyncio.run(both()) == [calibrated(client)] * 2


def test_without_a_key_none_is_sent(url):
    with connect(url) as client:
        headers = client.get_httpx_client().build_request("GET", "/").headers
        assert not headers.get("authorization")
        with pytest.raises(Refused, match=r"^401 "):
            answer_of(client, list_theorems.sync_detailed(client=client), TheoremList)


@pytest.mark.parametrize(
    ("page", "printed"), [("docs/jobs.md", r"1\.56\d+\n"), ("clients/python/README.md", r"1\.56\d+ 0\.99999\d+\n")]
)
def test_the_example_of_a_page_prints_its_answer(url, page, printed, capsys):
    text = (ROOT / page).read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    key = os.environ["EPSILOND_API_KEY"]
    example = example.replace('connect("http://127.0.0.1:8000")', f'connect("{url}", "{key}")')
    assert url in example
    exec(compile(example, page, "exec"), {})  # noqa: S102  our own page
    assert re.fullmatch(printed, capsys.readouterr().out)
