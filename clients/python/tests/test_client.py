"""Against the service at EPSILOND_URL: ./scripts/test-clients starts it."""

from __future__ import annotations

import asyncio
import math

import httpx
import pytest

from epsilond_client import Refused, UnexpectedStatus, answered, connect
from epsilond_client.api.accounts import account
from epsilond_client.api.calibrations import calibrate_gaussian, calibrate_mb_sgd
from epsilond_client.api.evaluations import evaluate_balle_wang_2018_8
from epsilond_client.api.simulations import draw_simulation, get_simulation, start_simulation
from epsilond_client.api.theorems import list_theorems
from epsilond_client.models import (
    AccountProblem,
    AuditSimulation,
    EvaluateBalleWang20188,
    Gaussian,
    GaussianInputs,
    GaussianProblem,
    MbSgdProblem,
    Problem,
    Query,
    Repeated,
    Subsampled,
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
    calibrated = answered(calibrate_gaussian.sync(client=client, body=PROBLEM))
    assert calibrated.algorithm == "gaussian"
    assert calibrated.guarantee.epsilon.upper <= 1.0
    step = Subsampled(
        kind="subsampled",
        sampling="poisson",
        rate=0.01,
        mechanism=Gaussian(kind="gaussian", noise_multiplier=calibrated.parameters.noise_multiplier),
    )
    body = AccountProblem(
        spec=Repeated(kind="repeated", times=1000, mechanism=step),
        relation="add-or-remove-one",
        query=Query(delta=1e-6),
    )
    certified = answered(account.sync(client=client, body=body)).guarantee.epsilon
    assert 0.999 < certified.lower <= certified.upper <= 1.0


def test_async_asks_the_same(url):
    async def both():
        async with connect(url) as client:
            return await asyncio.gather(*(calibrate_gaussian.asyncio(client=client, body=PROBLEM) for _ in range(2)))

    with connect(url) as client:
        alone = calibrate_gaussian.sync(client=client, body=PROBLEM)
    assert asyncio.run(both()) == [alone, alone]


def test_what_no_run_can_have_is_refused_and_the_field_is_named(client):
    problem = MbSgdProblem(
        epsilon=-1.0, delta=1e-5, samples_per_client=10, clients=1, dimension=1, lipschitz=1.0, diameter=1.0
    )
    with pytest.raises(Refused, match=r"^422 .*/epsilon") as refused:
        answered(calibrate_mb_sgd.sync(client=client, body=problem))
    assert refused.value.problem.errors[0].pointer == "/epsilon"


def test_what_cannot_be_met_comes_with_its_condition(client):
    problem = GaussianProblem(
        solve_for="rounds", relation="replace-one", sampling="full", noise_multiplier=0.01, epsilon=1.0, delta=1e-6
    )
    found = calibrate_gaussian.sync_detailed(client=client, body=problem)
    assert found.status_code == 409
    assert isinstance(found.parsed, Problem)
    assert found.parsed.type_ == "/problems/infeasible"


def test_theorems_are_listed_and_evaluated(client):
    assert "lowy.2.1" in {each.id for each in answered(list_theorems.sync(client=client)).theorems}
    inputs = GaussianInputs(noise_multiplier=1.0, epsilon=1.0, relation="add-or-remove-one")
    evaluated = answered(evaluate_balle_wang_2018_8.sync(client=client, body=EvaluateBalleWang20188(inputs=inputs)))
    assert evaluated.status == "proved"


def test_a_simulation_is_run_drawn_and_found_again(client):
    body = AuditSimulation(
        kind="audit", spec=Gaussian(kind="gaussian", noise_multiplier=1.0), relation="add-or-remove-one", delta=1e-5,
        samples=2000, seed=1,
    )  # fmt: skip
    started = answered(start_simulation.sync(client=client, body=body, prefer="wait=30"))
    assert started.status == "done"
    assert answered(get_simulation.sync(started.id, client=client)) == started
    figure = answered(draw_simulation.sync(started.id, client=client, format_="png"))
    assert figure.payload.read(4) == b"\x89PNG"


def test_a_key_is_sent_as_a_bearer_token_and_without_one_none_is(url):
    for key, header in (("secret", "Bearer secret"), (None, None)):
        sent = connect(url, api_key=key).get_httpx_client().build_request("GET", "/").headers.get("authorization")
        assert sent == header


def test_an_answer_that_the_document_does_not_know_is_an_error(url):
    client = connect(url)
    client.set_httpx_client(
        httpx.Client(base_url=url, transport=httpx.MockTransport(lambda _: httpx.Response(418, content=b"tea")))
    )
    with pytest.raises(UnexpectedStatus):
        list_theorems.sync(client=client)


def test_nothing_is_no_answer():
    with pytest.raises(ValueError, match="nothing"):
        answered(None)
    assert answered(math.pi) == math.pi
