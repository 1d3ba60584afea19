"""Noise, rounds and rates for a risk in place of (ε, δ), against closed forms and the accounts of the answers."""

from __future__ import annotations

import math
from typing import Any

import pytest
from mpmath import erfinv, mp, mpf, sqrt

import epsilond
from epsilond.accountants.account import account
from epsilond.accountants.errors import Infeasible, InvalidInput
from epsilond.accountants.target import RiskTarget, Target
from epsilond.calibrators.targets.certified import certified_target

SETTING: dict[str, Any] = {"relation": "add-or-remove-one", "unit": "record", "observer": "released-models"}
RISKS: dict[str, dict[str, float]] = {
    "advantage": {"advantage": 0.1},
    "large advantage": {"advantage": 0.99},
    "true positives": {"true_positive_rate": 0.2, "false_positive_rate": 0.1},
    "true positives above one half": {"true_positive_rate": 0.75, "false_positive_rate": 0.6},
    "mu": {"gaussian_dp_mu": 0.7},
    "rho": {"rho": 0.1},
}
each_risk = pytest.mark.parametrize("risk", RISKS)


def quantile(probability: float) -> Any:
    return sqrt(2) * erfinv(2 * mpf(probability) - 1)


def exact_mu(fields: dict[str, float]) -> Any:
    """The μ of the Gaussian pair that just meets a risk, from its definition."""
    if "advantage" in fields:
        return 2 * quantile((1 + mpf(fields["advantage"])) / 2)  # type: ignore[arg-type]
    if "true_positive_rate" in fields:
        return quantile(fields["true_positive_rate"]) - quantile(fields["false_positive_rate"])
    return mpf(fields["gaussian_dp_mu"]) if "gaussian_dp_mu" in fields else sqrt(2 * mpf(fields["rho"]))


@each_risk
@pytest.mark.parametrize("relation", ["add-or-remove-one", "replace-one"])
def test_the_noise_of_full_batches_is_a_closed_form(risk: str, relation: str) -> None:
    answer = epsilond.calibrate(
        "gaussian", **SETTING | {"relation": relation}, sampling="full", rounds=7, **RISKS[risk]
    )
    with mp.workdps(40):
        exact = (2 if relation == "replace-one" else 1) * sqrt(7) / exact_mu(RISKS[risk])
        assert answer.parameters.noise_multiplier >= exact
    # The true positive rate of a Gaussian is computed within a relative 1e-12, which a search then allows for.
    tolerance = 1e-6 if "true_positive_rate" in RISKS[risk] else 1e-11
    assert answer.parameters.noise_multiplier == pytest.approx(float(exact), rel=tolerance)
    assert answer.guarantee.minimal == "proved"


@pytest.mark.parametrize("advantage", [1e-6, 0.01, 0.25])
def test_the_noise_of_one_sampled_round_is_a_closed_form(advantage: float) -> None:
    """At ε = 0, δ of the mixture is the rate times δ of the whole batch."""
    rate = 0.3
    answer = epsilond.calibrate("gaussian", **SETTING, sampling="poisson", rate=rate, rounds=1, advantage=advantage)
    with mp.workdps(40):
        exact = 1 / (2 * quantile((1 + mpf(advantage) / mpf(rate)) / 2))  # type: ignore[arg-type]
    assert float(exact) * (1 - 1e-9) <= answer.parameters.noise_multiplier <= float(exact) * (1 + 1e-3)


def account_of(answer: Any, noise: float, **query: Any) -> Any:
    step = epsilond.Subsampled(
        sampling="poisson", rate=answer.parameters.rate, mechanism=epsilond.Gaussian(noise_multiplier=noise)
    )
    run = epsilond.Repeated(times=answer.parameters.rounds, mechanism=step)
    return epsilond.account(run, **SETTING, **query)


@pytest.mark.parametrize("solve_for", ["noise_multiplier", "rounds", "rate"])
@pytest.mark.parametrize("risk", ["advantage", "true positives", "true positives above one half"])
def test_the_account_of_the_answer_meets_the_risk_and_a_worse_run_misses_it(risk: str, solve_for: str) -> None:
    numbers = {"noise_multiplier": 1.1, "rounds": 500, "rate": 0.02}
    given = {name: value for name, value in numbers.items() if name != solve_for}
    fields = RISKS[risk]
    answer = epsilond.calibrate("gaussian", **SETTING, sampling="poisson", solve_for=solve_for, **given, **fields)
    noise = answer.parameters.noise_multiplier
    figures = []
    for factor in (1.0, 0.99):
        rates = [fields.get("false_positive_rate", 0.1)]
        account = account_of(answer, noise * factor, epsilon=0.0, false_positive_rates=rates)
        figures.append(account.meaning.advantage if risk == "advantage" else account.trade_off[0].true_positive_rate)
    bound = fields.get("advantage", fields.get("true_positive_rate"))
    assert bound is not None
    assert figures[0].upper <= bound < figures[1].lower


@pytest.mark.parametrize("risk", ["mu", "rho"])
def test_sampling_lowers_neither_mu_nor_rho(risk: str) -> None:
    sampled = epsilond.calibrate("gaussian", **SETTING, sampling="poisson", rate=0.01, rounds=50, **RISKS[risk])
    full = epsilond.calibrate("gaussian", **SETTING, sampling="full", rounds=50, **RISKS[risk])
    assert sampled.parameters.noise_multiplier == pytest.approx(full.parameters.noise_multiplier, rel=1e-3)
    assert sampled.parameters.noise_multiplier >= full.parameters.noise_multiplier * (1 - 1e-11)


@each_risk
def test_the_answer_names_its_target_and_gives_epsilon_at_delta(risk: str) -> None:
    answer = epsilond.calibrate("gaussian", **SETTING, sampling="full", rounds=7, delta=1e-7, **RISKS[risk])
    target = answer.guarantee.target
    assert {name: getattr(target, name) for name in RISKS[risk]} == RISKS[risk]
    assert target.delta == 1e-7
    assert answer.guarantee.epsilon.upper <= target.epsilon == answer.parameters.epsilon
    assert answer.guarantee.curve.delta(epsilon=target.epsilon).upper <= 1e-7 * (1 + 1e-9)


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"advantage": 0.1, "epsilon": 1.0, "delta": 1e-5}, "/epsilon"),
        ({"advantage": 0.1, "rho": 1.0}, "/rho"),
        ({"true_positive_rate": 0.1}, "/false_positive_rate"),
        ({"false_positive_rate": 0.1}, "/true_positive_rate"),
        ({"true_positive_rate": 0.1, "false_positive_rate": 0.1}, "/true_positive_rate"),
        ({"advantage": 0.0}, "/advantage"),
        ({"gaussian_dp_mu": float("inf")}, "/gaussian_dp_mu"),
    ],
)
def test_targets_that_contradict_each_other_are_rejected(fields: dict[str, float], pointer: str) -> None:
    with pytest.raises(InvalidInput) as error:
        epsilond.calibrate("gaussian", **SETTING, sampling="full", rounds=7, **fields)
    assert pointer in {fault.pointer for fault in error.value.faults}


def test_epsilon_is_no_unknown_of_a_risk() -> None:
    with pytest.raises(InvalidInput, match="solve_for"):
        epsilond.calibrate(
            "gaussian", **SETTING, sampling="full", rounds=7, noise_multiplier=1.0, solve_for="epsilon", advantage=0.1
        )


@pytest.mark.parametrize("risk", ["gaussian_dp_mu", "rho"])
def test_public_draws_bound_a_risk_of_batches_with_repeated_records(risk: str) -> None:
    setting = SETTING | {"relation": "replace-one"}
    run = {"sampling": "with-replacement", "batch_size": 5, "population": 50, "rounds": 3}
    answer = epsilond.calibrate("gaussian", **setting, **run, **{risk: 1.0})
    public_mu = 2.0 * 5 * math.sqrt(3) / answer.parameters.noise_multiplier  # one record in every place of every batch
    public_risk = public_mu if risk == "gaussian_dp_mu" else 0.5 * public_mu**2
    assert public_risk == pytest.approx(1.0, rel=1e-4)


def test_a_round_that_misses_names_the_least_risk() -> None:
    with pytest.raises(Infeasible) as error:
        epsilond.calibrate(
            "gaussian", **SETTING, sampling="full", solve_for="rounds", noise_multiplier=1.0, advantage=0.1
        )
    assert error.value.nearest == {"advantage": pytest.approx(0.3829249, rel=1e-6)}


MU2: dict[str, Any] = {
    "clients": 100,
    "rounds": 1000,
    "dimension": 1000,
    "lipschitz": 1.0,
    "smoothness": 1.0,
    "diameter": 1.0,
    "server": "untrusted",
    "relation": "replace-one",
    "unit": "record",
    "observer": "server",
}


@each_risk
def test_noise_cancellation_has_the_mu_of_the_risk(risk: str) -> None:
    answer = epsilond.calibrate("mu2-sgd", **MU2, **RISKS[risk])
    with mp.workdps(40):
        assert answer.parameters.gaussian_dp_mu == pytest.approx(float(exact_mu(RISKS[risk])), rel=2e-6)
    target = answer.guarantee.target
    assert {name: getattr(target, name) for name in RISKS[risk]} == RISKS[risk]
    assert "assumed-delta" in {warning.code for warning in answer.warnings}


FEDERATION: dict[str, Any] = {"clients": 50, "dimension": 20, "relation": "replace-one"}
LEARNING: dict[str, Any] = FEDERATION | {
    "samples_per_client": 1000,
    "lipschitz": 1.0,
    "diameter": 2.0,
    "smoothness": 1.0,
    "batch_size": 10,
    "unit": "record",
    "observer": "server",
}
FULL: dict[str, dict[str, Any]] = {
    "mb-sgd": LEARNING | {"sampling": "full", "batch_size": 1000, "rounds": 7},
    "accelerated-mb-sgd": LEARNING | {"unit": "client", "rounds": 7},
    "one-pass-accelerated-mb-sgd": LEARNING | {"unit": "client", "rounds": 7},
    "dp-fedavg": FEDERATION | {"clipping_norm": 1.0, "rounds": 7, "unit": "client", "observer": "released-models"},
    "ppsgd": {
        "clients": 50,
        "rounds": 7,
        "sampling": "full",
        "clipping_norm": 1.0,
        "shared_dimension": 50,
        "lipschitz": 1.0,
        "relation": "replace-one",
        "unit": "client",
        "observer": "other-clients",
    },
}
"""Runs of seven rounds without random draws, which are exactly Gaussian."""


@each_risk
@pytest.mark.parametrize("algorithm", FULL)
def test_the_noise_of_full_rounds_is_a_closed_form_in_every_algorithm(algorithm: str, risk: str) -> None:
    answer = epsilond.calibrate(algorithm, **FULL[algorithm], **RISKS[risk])  # type: ignore[call-overload]
    with mp.workdps(40):
        exact = float(2 * sqrt(7) / exact_mu(RISKS[risk]))
    assert exact * (1 - 1e-12) <= answer.parameters.noise_multiplier <= exact * (1 + 2e-6)
    target = answer.guarantee.target
    assert {name: getattr(target, name) for name in RISKS[risk]} == RISKS[risk]
    assert "assumed-delta" in {warning.code for warning in answer.warnings}


@pytest.mark.parametrize("algorithm", FULL)
@pytest.mark.parametrize("delta", [1e-6, 0.05])
def test_an_epsilon_of_zero_has_a_closed_form(algorithm: str, delta: float) -> None:
    answer = epsilond.calibrate(algorithm, **FULL[algorithm], epsilon=0.0, delta=delta)  # type: ignore[call-overload]
    with mp.workdps(40):
        exact = float(2 * sqrt(7) / (2 * quantile((1 + mpf(delta)) / 2)))  # type: ignore[arg-type]
    assert exact * (1 - 1e-12) <= answer.parameters.noise_multiplier <= exact * (1 + 2e-6)
    assert answer.guarantee.target.epsilon == answer.guarantee.epsilon.upper == 0.0
    assert answer.as_printed == ()


def test_printed_readings_are_compared_at_the_certified_epsilon() -> None:
    run = LEARNING | {"batch_size": 100, "rounds": 100}
    answer = epsilond.calibrate("mb-sgd", **run, advantage=0.1, delta=1e-5)
    same = epsilond.calibrate("mb-sgd", **run, epsilon=answer.guarantee.target.epsilon, delta=1e-5)
    assert answer.readings == same.readings
    assert answer.readings
    assert answer.parameters.noise_multiplier == pytest.approx(same.parameters.noise_multiplier, rel=1e-4)


def test_groups_inherit_a_risk_unless_they_have_a_target() -> None:
    groups = [
        {"clients": 20, "samples_per_client": 500},
        {"clients": 30, "samples_per_client": 1000, "epsilon": 2.0, "delta": 1e-6},
    ]
    run = LEARNING | {"batch_size": 100, "rounds": 5, "client_groups": groups}
    first, second = epsilond.calibrate("mb-sgd", **run, advantage=0.1).parameters.groups
    assert first.guarantee.target.advantage == 0.1
    assert (second.guarantee.target.advantage, second.guarantee.target.epsilon) == (None, 2.0)
    for incomplete, pointer in (({"delta": 1e-6}, "/epsilon"), ({"epsilon": 1.0}, "/delta")):
        unfit = [groups[0], {"clients": 30, "samples_per_client": 1000, **incomplete}]
        with pytest.raises(InvalidInput) as error:
            epsilond.calibrate("mb-sgd", **run | {"client_groups": unfit}, advantage=0.1)
        assert error.value.faults[0].pointer == f"/client_groups/1{pointer}"


def test_a_delta_that_no_epsilon_has_is_infeasible_and_the_nearest_is_named() -> None:
    curve = account(epsilond.Approximate(epsilon=0.1, delta=0.01), relation="replace-one").guarantee
    target = Target.of_risk(RiskTarget("advantage", 0.5), None, None)
    with pytest.raises(Infeasible, match="no ε has the δ") as error:
        certified_target(curve, target)
    assert error.value.nearest["log10_delta"] == pytest.approx(-2.0, abs=1e-9)
    nearest = Target.of_risk(RiskTarget("advantage", 0.5), None, error.value.nearest["log10_delta"] + 1e-9)
    assert certified_target(curve, nearest).epsilon <= 0.1 * (1 + 1e-9)


@pytest.mark.parametrize("target", [{"advantage": 0.1}, {"epsilon": 0.0, "delta": 0.01}])
def test_plans_take_a_risk_and_an_epsilon_of_zero(target: dict[str, float]) -> None:
    plan = {name: value for name, value in LEARNING.items() if name != "observer"}
    answer = epsilond.plan(**plan, rounds=50, observers=("server", "released-models"), **target)
    applies = {entry.algorithm for entry in answer.entries if entry.applies == "yes"}
    assert {"mb-sgd", "accelerated-mb-sgd", "gaussian", "mu2-sgd"} <= applies
    why = {entry.algorithm: entry.why for entry in answer.entries}
    if "advantage" in target:
        assert "/epsilon" in {reason.pointer for reason in why["qtdl"]}


def test_a_sweep_over_a_risk_equals_its_single_calls() -> None:
    run = LEARNING | {"batch_size": 100, "rounds": 20}
    points = epsilond.sweep("mb-sgd", "advantage", [0.05, 0.1, 2.0], **run).answers
    single = epsilond.calibrate("mb-sgd", **run, advantage=0.1)
    assert points[1].answer is not None
    assert points[1].answer.parameters == single.parameters
    assert points[2].answer is None


@pytest.mark.parametrize(
    "target", [{"advantage": 1e-300}, {"rho": 1e-40}, {"gaussian_dp_mu": 1e-20}, {"epsilon": 0.0, "delta": 1e-300}]
)
def test_a_target_beyond_the_noise_on_offer_is_infeasible(target: dict[str, float]) -> None:
    (calibrator,) = (each for each in epsilond.calibrators.CALIBRATORS if each.name == "mu2-sgd")
    run = {name: value for name, value in calibrator.example.items() if name not in ("epsilon", "delta")}
    with pytest.raises(Infeasible, match="no noise that is offered"):
        epsilond.calibrate("mu2-sgd", **run, **target)


def test_the_least_noise_without_a_draw_is_not_said_to_rest_on_one() -> None:
    answer = epsilond.calibrate("gaussian", **SETTING, sampling="full", rounds=1, gaussian_dp_mu=1e4)
    codes = {caution.code for caution in answer.warnings}
    assert "least-noise-suffices" in codes
    assert "sampling-alone-suffices" not in codes
