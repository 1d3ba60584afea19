"""Against the service at EPSILOND_URL: ./scripts/test-clients starts it."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from epsilond_client import AsyncClient, Client, Refused, Unexpected
from epsilond_client import operations as ask
from epsilond_client.models import (
    AccountProblem,
    AuditSimulation,
    EvaluationRequest,
    Gaussian,
    GaussianProblem,
    MbSgdProblem,
    Query,
    Repeated,
    Subsampled,
    SweepProblem,
)

PROBLEM = GaussianProblem(
    solve_for="noise_multiplier",
    relation="add-or-remove-one",
    sampling="poisson",
    rate=0.01,
    rounds=1000,
    epsilon=1.0,
    delta=1e-6,
)


def test_a_calibration_is_certified_and_its_account_agrees(client):
    calibrated = client.ask(ask.calibrate_gaussian(PROBLEM))
    assert calibrated.algorithm == "gaussian"
    assert calibrated.guarantee.epsilon.upper <= 1.0
    step = Subsampled(
        sampling="poisson",
        rate=0.01,
        mechanism=Gaussian(noise_multiplier=calibrated.parameters.noise_multiplier),
    )
    body = AccountProblem(
        spec=Repeated(times=1000, mechanism=step), relation="add-or-remove-one", query=Query(delta=1e-6)
    )
    certified = client.ask(ask.account(body)).guarantee.epsilon
    assert 0.999 < certified.lower <= certified.upper <= 1.0


def test_async_asks_the_same(url):
    async def both():
        async with AsyncClient(url) as client:
            return await asyncio.gather(*(client.ask(ask.calibrate_gaussian(PROBLEM)) for _ in range(2)))

    with Client(url) as client:
        alone = client.ask(ask.calibrate_gaussian(PROBLEM))
    assert asyncio.run(both()) == [alone, alone]


def test_a_sweep_has_the_single_calls_answers_and_problems(client):
    body = PROBLEM.model_dump(exclude_none=True) | {"sweep": {"field": "epsilon", "values": [1.0, -1.0]}}
    first, second = client.ask(ask.calibrate_gaussian(SweepProblem.model_validate(body))).answers
    assert first.answer.guarantee == client.ask(ask.calibrate_gaussian(PROBLEM)).guarantee
    assert second.problem.errors[0].pointer == "/epsilon"


def test_what_no_run_can_have_is_refused_and_field_and_range_are_named(client):
    problem = MbSgdProblem(
        epsilon=-1.0, delta=1e-5, samples_per_client=10, clients=1, dimension=1, lipschitz=1.0, diameter=1.0
    )
    with pytest.raises(Refused, match=r"^422 .*/epsilon: .*\(allowed: > 0") as refused:
        client.ask(ask.calibrate_mb_sgd(problem))
    assert refused.value.problem.errors[0].pointer == "/epsilon"


def test_what_cannot_be_met_comes_with_its_condition(client):
    problem = GaussianProblem(
        solve_for="rounds", relation="replace-one", sampling="full", noise_multiplier=0.01, epsilon=1.0, delta=1e-6
    )
    with pytest.raises(Refused) as refused:
        client.ask(ask.calibrate_gaussian(problem))
    assert refused.value.problem.status == 409
    assert refused.value.problem.type == "/problems/infeasible"
    assert refused.value.problem.condition is not None


def test_theorems_are_listed_and_evaluated(client):
    assert "lowy.2.1" in {each.id for each in client.ask(ask.list_theorems()).theorems}
    assert client.ask(ask.list_theorems(status="unproved")).theorems
    told = client.ask(ask.get_theorem("balle-wang-2018.8"))
    assert "noise_multiplier" in told.inputs_schema["properties"]
    evaluated = client.ask(ask.evaluate_theorem(told.id, EvaluationRequest(inputs=told.examples[0])))
    assert evaluated.status == "proved"
    assert evaluated.outputs.keys() <= told.outputs_schema["properties"].keys()
    with pytest.raises(Refused, match=r"^422 .*/inputs/epsilon: is required"):
        client.ask(ask.evaluate_theorem(told.id, EvaluationRequest(inputs={"noise_multiplier": 1.0})))


def test_a_simulation_is_run_drawn_and_found_again(client):
    body = AuditSimulation(
        spec=Gaussian(noise_multiplier=1.0), relation="add-or-remove-one", delta=1e-5, samples=2000, seed=1
    )
    started = client.ask(ask.start_simulation(body, prefer="wait=30"))
    assert started.status == "done"
    assert client.ask(ask.get_simulation(started.id)) == started
    assert client.ask(ask.draw_simulation(started.id, format="png")).startswith(b"\x89PNG")


def test_a_text_comes_as_text(client):
    assert "epsilond_" in client.ask(ask.metrics())


def test_a_key_is_sent_as_a_bearer_token_and_without_one_none_is(url):
    for key, header in (("secret", "Bearer secret"), (None, None)):
        with Client(url, api_key=key) as client:
            assert client.http.build_request("GET", "/").headers.get("authorization") == header


def test_an_answer_that_the_document_does_not_know_is_an_error(url):
    transport = httpx.MockTransport(lambda _: httpx.Response(418, content=b"tea"))
    with Client(url, transport=transport) as client, pytest.raises(Unexpected, match="418"):
        client.ask(ask.list_theorems())
