"""Every golden case of PPSGD, to twelve digits; those of subsampled accounting through `account`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.theorem import Evaluation
from epsilond.accountants.theorems.papers.bietti.noise import ACHIEVED, LEAST_NOISE, THEOREM_4_1
from epsilond.accountants.theorems.papers.bietti.sampled_noise import (
    THEOREM_5_1,
    SampledNoiseInputs,
    noise_multiplier_of,
)
from epsilond.accountants.theorems.risk.bietti.full_participation import ANY_STEP, AnyStepInputs
from epsilond.accountants.theorems.risk.bietti.personalization import MINIMAL_NORM
from epsilond.accountants.theorems.risk.bietti.privacy_cost import LEMMA_4_6, LOCAL_LIMIT
from epsilond.accountants.theorems.risk.bietti.sampled_participation import (
    THEOREM_5_2,
    THEOREM_B_4,
    SampledInputs,
)
from epsilond.accountants.theorems.risk.bietti.variance_term import VarianceTermInputs
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.ppsgd.calibrator import CALIBRATOR
from epsilond.calibrators.ppsgd.family import certify
from epsilond.calibrators.ppsgd.problem import PpsgdProblem
from tests.oracles.golden import cases

CASES = cases("ppsgd")
RELATIONS: dict[str, Any] = {"replace": "replace-one", "add_remove": "zero-out-one"}
Given = Mapping[str, Any]


def run(given: Given, **more: Any) -> dict[str, Any]:
    return {
        "clients": given["N"],
        "rounds": given["n"],
        "clipping_norm": given["C"],
        "relation": RELATIONS[given["adjacency"]],
        **more,
    }


def target(given: Given) -> dict[str, float]:
    return {"epsilon": float(given["eps"]), "delta": float(given["delta"])}


def least(given: Given) -> dict[str, Any]:
    return dict(LEAST_NOISE.evaluate(LEAST_NOISE.request(**run(given, **target(given)))).outputs)


def achieved(given: Given, **more: float) -> dict[str, Any]:
    return dict(ACHIEVED.evaluate(ACHIEVED.request(**run(given, noise_std=float(given["sigma"]), **more))).outputs)


def constant(given: Given) -> dict[str, float]:
    inputs = LEAST_NOISE.request(
        clients=1, rounds=1, clipping_norm=1.0, relation=RELATIONS[given["adjacency"]], **target(given)
    )
    return {"value": LEAST_NOISE.evaluate(inputs).outputs["least_constant"]}


def theorem_4_1(given: Given) -> dict[str, float]:
    inputs = THEOREM_4_1.request(**run(given, noise_constant=float(given["c"]), **target(given)))
    found = THEOREM_4_1.evaluate(inputs).outputs
    return {
        "sigma": found["noise_std"],
        "achieved_delta": found["achieved_delta"],
        "achieved_eps": found["achieved_epsilon"],
        "c_needed": found["least_constant"],
    }


def given_step(given: Given) -> dict[str, float]:
    inputs = AnyStepInputs(
        rounds=given["n"],
        step_size=float(given["eta"]),
        smoothness=float(given["Lc"]),
        optimum_norm=math.sqrt(given["z2"]),
        gradient_std=math.sqrt(float(given["s2"])),
    )
    evaluation = ANY_STEP.evaluate(inputs)
    assert holds(evaluation, "step-below-half") == "yes"
    assert holds(evaluation, "step-below-quarter") == Verdict.of(float(given["eta"]) <= 0.125)
    found = evaluation.outputs
    return {"bound_sharp": found["excess_risk"], "bound_23": found["simple_excess_risk"]}


def local_limit(given: Given) -> dict[str, float]:
    inputs = LOCAL_LIMIT.request(
        clients=given["N"],
        rounds=given["n"],
        smoothness=given["L"],
        optimum_norm=math.sqrt(given["sum_theta2"] / given["N"]),
        local_gradient_std=math.sqrt(given["st2"]),
    )
    return {"value": LOCAL_LIMIT.evaluate(inputs).outputs["excess_risk"]}


def least_norm(given: Given) -> dict[str, float]:
    inputs = MINIMAL_NORM.request(
        clients=given["N"], personalization=float(given["alpha"]), optimum_norm=math.sqrt(given["vbar2"])
    )
    found = MINIMAL_NORM.evaluate(inputs).outputs
    return {
        "w_coef": found["shared_share"],
        "theta_coef": found["local_share"],
        "norm_sq": found["squared_norm"],
    }


def lemma(given: Given, output: str) -> dict[str, float]:
    alpha: Any = "unbounded" if given.get("alpha") == "inf" else float(given.get("alpha", 0.0))
    inputs = VarianceTermInputs(
        clients=given["N"],
        rounds=given.get("n", 1),
        personalization=alpha,
        optimum_norm=math.sqrt(given.get("v2", 1)),
        gradient_std=math.sqrt(given["s2"]),
        shared_dimension=given["dw"],
        lipschitz=given["G"],
        **target(given),
    )
    return {"value": LEMMA_4_6.evaluate(inputs).outputs[output]}


def multiplier(given: Given) -> dict[str, float]:
    return {
        "value": noise_multiplier_of(
            noise_std=float(given["sigma"]),
            rate=float(given["q"]),
            weight=given["Mtot"],
            clipping_norm=given["C"],
        )
    }


def theorem_5_1(given: Given) -> dict[str, float]:
    inputs = SampledNoiseInputs(
        client_groups=({"clients": given["Mtot"]},),  # type: ignore[arg-type]
        rounds=given["T"],
        participation_rate=float(given["q"]),
        clipping_norm=given["C"],
        noise_constant=given["c2"],
        range_constant=given["c1"],
        **target(given),
    )
    evaluation = THEOREM_5_1.evaluate(inputs)
    assert holds(evaluation, "epsilon-range") == "no"
    return {"sigma": evaluation.outputs["noise_std"]}


def sampled(given: Given) -> SampledInputs:
    count = len(given["ms"])
    columns = [given["ms"], *(given.get(name, [0] * count) for name in ("sw2", "st2", "gw2"))]
    groups = tuple(
        {
            "clients": 1,
            "batch_size": batch,
            "shared_gradient_std": math.sqrt(float(shared)),
            "local_gradient_std": math.sqrt(float(local)),
            "shared_gradient_norm": math.sqrt(float(norm)),
        }
        for batch, shared, local, norm in zip(*columns, strict=True)
    )
    return SampledInputs(
        client_groups=groups,  # type: ignore[arg-type]
        participation_rate=float(given.get("q", 1.0)),
        rounds=given.get("T", 1),
        smoothness=float(given.get("L", 1.0)),
        personalization=float(given.get("alpha", 0.0)),
        optimum_norm=math.sqrt(given.get("z2", 1)),
        shared_dimension=given.get("dw", 1),
        noise_std=float(given.get("sz", 0.0)),
    )


def smoothness_5_2(given: Given) -> dict[str, float]:
    reading: Any = {"statement": "printed", "tight": "corrected"}[given["version"]]
    evaluation = THEOREM_5_2.evaluate(sampled(given), reading)
    assert holds(evaluation, "statement-smoothness") == "no"
    return {"value": evaluation.outputs["weighted_smoothness"]}


def bounds(evaluation: Evaluation) -> dict[str, float]:
    names = {
        "eta": "step_size", "bias": "optimisation_term", "variance": "variance_term", "bound": "excess_risk",
        "bound_at_eta": "excess_risk_at_step", "eta_refined": "refined_step_size",
        "bound_refined": "refined_excess_risk", "bound_at_eta_refined": "excess_risk_at_refined_step",
        "L_const": "weighted_smoothness", "sigma_sq": "variance", "clip_mult": "clipping_multiplier",
        "bar_w": "shared_variance", "bar_theta": "local_variance", "tilde_w": "selection_variance",
        "sigma_sq_upper": "coarser_variance",
    }  # fmt: skip
    return {name: evaluation.outputs[ours] for name, ours in names.items() if ours in evaluation.outputs}


def heterogeneity(given: Given) -> dict[str, float]:
    return {"value": THEOREM_5_2.evaluate(sampled(given)).outputs["heterogeneity_cost"]}


def variances_b_4(given: Given) -> dict[str, float]:
    found = bounds(THEOREM_B_4.evaluate(sampled(given), "corrected"))
    return {name: found[name] for name in ("bar_w", "bar_theta", "tilde_w", "sigma_sq", "sigma_sq_upper")}


def holds(evaluation: Evaluation, name: str) -> object:
    return next(condition.holds for condition in evaluation.conditions if condition.id == name)


SOLVERS: dict[str, Callable[[Given], dict[str, Any]]] = {
    "p_sigma_exact": lambda given: {"value": least(given)["noise_std"]},
    "p_sigma_zcdp": lambda given: {"value": least(given)["sufficient_noise_std"]},
    "p_delta": lambda given: {"value": achieved(given, epsilon=float(given["eps"]))["delta"]},
    "p_eps": lambda given: {"value": achieved(given, delta=float(given["delta"]))["epsilon"]},
    "p_c_exact": constant,
    "p_thm41": theorem_4_1,
    "p_given_eta": given_step,
    "p_local_limit": local_limit,
    "p_min_norm": least_norm,
    "p_variance_term": lambda given: lemma(given, "variance_term"),
    "p_threshold": lambda given: lemma(given, "threshold_rounds"),
    "p_noise_multiplier": multiplier,
    "p_sigma51_paper": theorem_5_1,
    "p_L52": smoothness_5_2,
    "p_thm52": lambda given: bounds(THEOREM_5_2.evaluate(sampled(given), "corrected")),
    "p_varB4": variances_b_4,
    "p_thmB4": lambda given: bounds(THEOREM_B_4.evaluate(sampled(given), "corrected")),
    "p_privacy_ratio": heterogeneity,
}
CLOSED = [case for case in CASES if case["function"] in SOLVERS]
SUBSAMPLED = [case for case in CASES if case["function"].startswith("psg_")]


def test_no_case_is_left_out() -> None:
    assert len(CLOSED) + len(SUBSAMPLED) == len(CASES) == 34


@pytest.mark.compares("bietti.4.5.any-step")
@pytest.mark.parametrize("case", CLOSED, ids=lambda case: case["id"])
def test_closed_forms(case: dict[str, Any]) -> None:
    solver = SOLVERS[case["function"]]
    if "error" in case["outputs"]:
        with pytest.raises(InvalidInput):
            solver(case["inputs"])
        return
    found = solver(case["inputs"])
    for name, value in case["outputs"].items():
        assert found[name] == pytest.approx(value, rel=1e-12, abs=1e-300), name


def sampled_delta(given: Given) -> float:
    rate = float(given["q"])
    spec = Repeated(
        times=given["T"],
        mechanism=Subsampled(
            sampling="poisson", rate=rate, level="clients", mechanism=Gaussian(noise_multiplier=float(given["z"]))
        ),
    )
    relation = RELATIONS[given["adjacency"]]
    curve = account(spec, relation=relation, unit="client", observer="other-clients").guarantee.curve
    orders = {"add": curve.upper.backward}
    if "direction" in given:
        return math.exp(float(orders[given["direction"]].log_delta(float(given["eps"])).upper))
    return math.exp(curve.log_delta(float(given["eps"])).upper)


def sampled_noise(given: Given) -> float:
    problem = PpsgdProblem(
        clients=100,
        rounds=given["T"],
        sampling="poisson",
        participation_rate=float(given["q"]),
        clipping_norm=1.0,
        shared_dimension=1,
        relation=RELATIONS[given["adjacency"]],
        unit="client",
        observer="other-clients",
        **target(given),
    )
    return certify(problem).noise


@pytest.mark.parametrize("case", SUBSAMPLED, ids=lambda case: case["id"])
def test_subsampled_accounting(case: dict[str, Any]) -> None:
    """δ to nine digits; the calibrated noise is on the safe side, by at most a millionth."""
    given, expected = case["inputs"], case["outputs"]
    solver = sampled_delta if case["function"] == "psg_delta" else sampled_noise
    if "error" in expected:
        with pytest.raises(InvalidInput):
            solver(given)
        return
    found = solver(given)
    if case["function"] == "psg_delta":
        assert found == pytest.approx(expected["value"], rel=1e-9)
    else:
        assert expected["value"] <= found * (1 + 1e-13)
        assert found == pytest.approx(expected["value"], rel=1e-6)


def test_the_calibrator_stands_in_the_list() -> None:
    assert CALIBRATOR.problem is PpsgdProblem
