"""Every golden case of Das et al. and of the Binomial mechanism, to 12 digits; integers exactly."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.kinds.integers.truncated_discrete_laplace import largest_shift
from epsilond.accountants.numerics.truncated_laplace import (
    bits_per_coordinate,
    largest_rate,
    least_levels,
    log_escape,
    normaliser,
    variance,
)
from epsilond.accountants.profiles.declared.concentrated_bound import concentrated_log_delta
from epsilond.accountants.specs import TruncatedDiscreteLaplace
from epsilond.accountants.theorems.mechanisms import binomial
from epsilond.accountants.theorems.papers.das import (
    composed_rounds,
    noise_law,
    sensitivity,
    small_movement,
    truncated_noise,
)
from epsilond.accountants.theorems.risk.das import convergence, fedavg
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.qtdl.problem import QtdlProblem
from epsilond.calibrators.qtdl.search import least_noise
from tests.oracles.golden import cases

CASES = cases("das")


def close(found: Any, expected: str | int, rel: float = 1e-12) -> None:
    if isinstance(expected, int) and not isinstance(expected, bool):
        assert int(found) == expected
        return
    with localcontext() as context:
        context.prec = 40
        truth, value = Decimal(expected), Decimal(found)
        assert abs(value - truth) <= Decimal(rel) * abs(truth), (value, truth)


def outputs(theorem: Any, reading: str = "printed", **inputs: Any) -> Any:
    return theorem.evaluate(theorem.inputs(**inputs), reading).outputs


def law(i: dict[str, Any], *, value: int = 0, shift: int = 1) -> Any:
    return outputs(noise_law.EQUATION_3, noise_levels=i["m"], decay_rate=i["alpha"], value=value, shift=shift)


def tdl_z(i: Any, o: Any) -> None:
    close(law(i)["normaliser"], o["value"])


def tdl_pmf(i: Any, o: Any) -> None:
    close(law(i, value=i["y"])["probability"], o["value"])


def tdl_cdf(i: Any, o: Any) -> None:
    close(law(i, value=i["j"])["cumulative"], o["value"])


def tdl_escape(i: Any, o: Any) -> None:
    with localcontext() as context:
        context.prec = 40
        context.Emin = -(10**6)
        ends = log_escape(i["alpha"], i["m"], [(i["k"], 1)])
        close(ends.upper.exp(), o["value"])
    expected = float(Decimal(o["value"]).log10())
    assert law(i, shift=i["k"])["log10_escape"] == pytest.approx(expected, rel=1e-13)


def tdl_variance(i: Any, o: Any) -> None:
    found = outputs(noise_law.LEMMA_1, noise_levels=i["m"], decay_rate=i["alpha"], quantization_levels=i["s"])
    close(found["variance"], o["value"])


def tdl_variance_popoviciu(i: Any, o: Any) -> None:
    found = outputs(noise_law.LEMMA_1, noise_levels=i["m"], decay_rate=1.0, quantization_levels=i["s"])
    close(found["popoviciu_bound"], o["value"])


def thm1_printed(i: Any, o: Any) -> None:
    inputs = truncated_noise.PrintedInputs(
        epsilon=i["eps"], dimension=i["d"], l1_sensitivity=i["D1"], linf_sensitivity=i["Dinf"]
    )
    found = truncated_noise.THEOREM_1.evaluate(inputs)
    values = found.outputs
    close(values["decay_rate"], o["alpha"])
    close(values["noise_levels"], o["m"])
    close(values["log10_claimed_delta"] / math.log10(2.0), o["log2_delta_claimed"])
    close(values["log10_claimed_finer_delta"] * math.log(10.0), o["log_delta_formula"])
    close(values["delta"], o["delta_true"])
    if "m_bound_exclusive" in o:
        close(values["noise_levels_below"], o["m_bound_exclusive"])
    if "log_1_minus_delta_true" in o:
        close(values["log10_one_minus_delta"] * math.log(10.0), o["log_1_minus_delta_true"])
    named = {"eps_lt_D1_over_e_Dinf": 0, "Dinf_le_D1": 1, "D1_le_d_Dinf": 2}
    for name, place in named.items():
        assert found.conditions[place].holds == Verdict.of(o["conditions"][name])
    for s in (2**20, 512, 2**12, 64):
        if o.get("t_bits") and {105205: 2**20, 54: 512, 413: 2**12, 9: 64}[o["m"]] == s:
            assert bits_per_coordinate(s, o["m"]) == o["t_bits"]


def tdl_delta_escape(i: Any, o: Any) -> None:
    shift = largest_shift(dimension=i["d"], l1=i["D1"], linf=i["Dinf"])
    close(log_escape(i["alpha"], i["m"], shift.parts).upper.exp(), o["value"])


def extremal_shift(i: Any, o: Any) -> None:
    assert list(largest_shift(dimension=i["d"], l1=math.floor(i["D1"]), linf=math.floor(i["Dinf"]))) == o["value"]


def calibrate_escape(i: Any, o: Any) -> None:
    l1, linf = math.floor(i["D1"]), math.floor(i["Dinf"])
    if i["eps"] <= 0:
        raise InvalidInput.at("/epsilon", "the quantity refuses it, as the next line would")
    shift = largest_shift(dimension=i["d"], l1=l1, linf=linf)
    assert list(shift) == [o["q"], o["K"], o["r"]]
    rate = largest_rate(i["eps"], shift.total)
    close(rate, o["alpha"])
    close(least_levels(rate, shift.parts, i["log_delta"]), o["m"])
    if o["m"]:
        close(float(log_escape(rate, o["m"], shift.parts).upper), o["log_delta"])


def tdl_hockey_stick(i: Any, o: Any) -> None:
    spec = TruncatedDiscreteLaplace(
        noise_levels=i["m"],
        decay_rate=i["alpha"],
        dimension=len(i["shifts"]),
        l1_sensitivity=sum(i["shifts"]),
        linf_sensitivity=max(i["shifts"]),
    )
    curve = account(spec, relation="replace-one").guarantee.curve
    gamma = math.exp(i["eps"])
    ends = [math.exp(end) for end in curve.log_delta(abs(i["eps"]))]
    if gamma < 1.0:  # E_γ(P‖Q) = 1 − γ + γ E_{1/γ}(Q‖P)
        ends = [1.0 - gamma + gamma * end for end in ends]
    truth = float(o["value"])
    assert ends[0] * (1 - 1e-15) <= truth * (1 + 1e-14)
    assert truth * (1 - 1e-14) <= ends[1] * (1 + 1e-15)
    assert ends[1] - ends[0] <= 2e-10 * truth  # the engine's certificate, not its error
    assert 0.5 * (ends[0] + ends[1]) == pytest.approx(truth, rel=1e-12)


def calibrate_hockey_stick(i: Any, o: Any) -> None:
    def upper(levels: int) -> float:
        spec = TruncatedDiscreteLaplace(
            noise_levels=levels,
            decay_rate=i["alpha"],
            dimension=i["d"],
            l1_sensitivity=i["D1"],
            linf_sensitivity=i["Dinf"],
        )
        return account(spec, relation="replace-one").guarantee.curve.log_delta(i["eps"]).upper

    assert upper(o["value"]) <= math.log(i["delta"]) < upper(o["value"] - 1)


def zcdp_delta(i: Any, o: Any) -> None:
    close(math.exp(float(concentrated_log_delta(i["rho"], np.asarray(i["eps"])))), o["value"])


def calibrate_l2(i: Any, o: Any) -> None:
    """α with half of δ by zCDP at the real Δ₂, then the least m: ours floors Δ₂² and moves α, and needs no more."""
    rho = float(o["rho"])
    assert math.exp(float(concentrated_log_delta(rho, np.asarray(float(i["eps"]))))) == pytest.approx(
        i["delta"] / 2, rel=1e-12
    )
    rate = math.sqrt(2.0 * rho) / i["D2"]
    close(rate, o["alpha"])
    shift = largest_shift(dimension=i["d"], l1=math.floor(i["D1"]), linf=math.floor(i["Dinf"]))
    # δ ≤ (1 − S) + S δ_zCDP, solved for 1 − S.
    half = i["delta"] / 2
    levels = least_levels(rate, shift.parts, math.log((i["delta"] - half) / (1.0 - half)))
    close(levels, o["m"])
    escaped = float(log_escape(rate, levels, shift.parts).upper.exp())
    close(escaped + (1.0 - escaped) * half, o["delta"])
    problem = QtdlProblem(
        epsilon=i["eps"],
        delta=i["delta"],
        dimension=i["d"],
        quantization_levels=1,
        l1_sensitivity=i["D1"],
        linf_sensitivity=i["Dinf"],
        l2_sensitivity=i["D2"],
        method="concentrated",
        relation="replace-one",
        unit="record",
        observer="server",
    )
    found = least_noise(problem)
    assert found.noise.noise_levels <= o["m"]


def sens_coupled(i: Any, o: Any) -> None:
    found = sensitivity.coupled_bounds(i["d"], i["s"], l1=i["hat1"], l2=0.1, linf=i["hatinf"])
    close(found.linf, o["Dinf"])
    close(found.l1, o["D1"])


def thm3_printed(i: Any, o: Any) -> None:
    inputs = small_movement.GrowthInputs(
        growth_ratio=i["rho"], samples_per_client=i["n_i"], quantization_levels=i["s"], dimension=i["d"]
    )
    found = small_movement.THEOREM_3.evaluate(inputs)
    close(found.outputs["l1_sensitivity"], o["D1"])
    close(found.outputs["linf_sensitivity"], o["Dinf"])
    close(found.outputs["l2_sensitivity"], o["D2"])
    close(found.outputs["relative_movement"], o["mu"])
    close(found.outputs["failure_probability"], o["fail_prob"])
    assert found.conditions[0].holds == Verdict.of(o["conditions"]["n_large"])


def bits_eq7(i: Any, o: Any) -> None:
    found = outputs(noise_law.EQUATION_7, quantization_levels=i["s"], noise_levels=i["m"])
    close(found["bits_per_coordinate"], o["value"])


def bits_extra_bound(i: Any, o: Any) -> None:
    found = outputs(noise_law.APPENDIX_F, quantization_levels=i["s"], noise_levels=i["m"])
    close(found["extra_bits_bound"], o["value"])


def _budget(i: Any) -> Any:
    return outputs(
        noise_law.BITS_AFTER_COROLLARY,
        participants=i["r"],
        dimension=i["d"],
        samples_per_client=i.get("b", 1000),
        growth_ratio=i.get("rho", 2.0),
    )


def cor31_c1(i: Any, o: Any) -> None:
    close(_budget(i)["extra_bits_per_round"], o["value"])


def cor31_c2(i: Any, o: Any) -> None:
    close(_budget(i)["binomial_extra_bits_per_round"], o["value"])


def thm2_privacy_printed(i: Any, o: Any) -> None:
    inputs = composed_rounds.RunInputs(
        epsilon=i["eps"], delta=i["delta"], rounds=i["K"], clients=i["n"], participants=i["r"], dimension=i["d"]
    )
    found = composed_rounds.THEOREM_2.evaluate(inputs)
    close(found.outputs["round_epsilon"], o["eps0"])
    close(found.outputs["composed_epsilon"], o["eps_hat"])
    close(found.outputs["claimed_epsilon"], o["eps_total"])
    close(found.outputs["claimed_delta"], o["delta_total"])
    printed = [one.holds for one in found.conditions if one.id != "delta-below-one"]
    assert printed == [Verdict.of(value) for value in o["conditions"].values()]


def kov_epsilon(i: Any, o: Any) -> None:
    close(composed_rounds.printed_composition(epsilon=i["eps0"], delta=i["delta"], rounds=i["K"]), o["value"])


def kov_epsilon_best(i: Any, o: Any) -> None:
    close(composed_rounds.best_composition(epsilon=i["eps0"], delta=i["delta"], rounds=i["K"]), o["value"])


def thm2_solve_eps_for_hat(i: Any, o: Any) -> None:
    found = outputs(composed_rounds.EQUATION_22, composed_epsilon=i["target_hat"], delta=i["delta"])
    close(found["epsilon"], o["value"])


def thm2_privacy_corrected(i: Any, o: Any) -> None:
    found = outputs(
        composed_rounds.ROUNDS_OF_CLIENTS,
        round_epsilon=i["eps0"],
        round_delta=i["delta0"],
        rounds=i["K"],
        slack_delta=i["delta"],
        rate=i["q"],
    )
    close(found["round_epsilon"], o["eps_round"])
    close(found["round_delta"], o["delta_round"])
    close(found["epsilon"], o["eps_total"])
    close(found["delta"], o["delta_total"])


def thm2_steps(i: Any, o: Any) -> None:
    found = outputs(
        convergence.EQUATION_39,
        smoothness=i["L"],
        quasar_convexity=i["zeta"],
        initial_distance=i["dist0"],
        rounds=i["E"] ** 2,
        local_steps=i["E"],
        compression=i["gamma"],
        participants=i["r"],
    )
    close(found["local_step_size"], o["eta"])
    close(found["server_step_size"], o["beta"])


def thm4_cbar(i: Any, o: Any) -> None:
    close(fedavg.variance_constant(clients=i["n"], participants=i["r"]), o["value"])


def lemma3_lower(i: Any, o: Any) -> None:
    inputs = {"gradient_norm": i["norm_grad"], "local_steps": i["E"], "step_size": i["eta"], "smoothness": i["L"]}
    close(outputs(convergence.LEMMA_3, **inputs)["update_norm"], o["printed"])
    better = outputs(convergence.LEMMA_3, "corrected", **inputs)
    close(better["update_norm"], o["sharper"])
    close(better["constant_of_the_printed_proof"], o["constant_actually_proved_by_eq47_48"])
    assert convergence.LEMMA_3.evaluate(convergence.LEMMA_3.inputs(**inputs)).conditions[0].holds == Verdict.of(
        o["condition"]
    )


def binomial_consts(i: Any, o: Any) -> None:
    constants = binomial.constants_of(i["p"])
    for found, name in zip(constants, "bcd", strict=True):
        close(found, o[name])


def binomial_min_n(i: Any, o: Any) -> None:
    grid = {35: 2**20, 23: 2**12}[o["t_paper"]]
    inputs = {
        "epsilon": i["eps"],
        "delta": i["delta"],
        "dimension": i["d"],
        "quantization_levels": grid,
        "l1_sensitivity": i["D1"],
        "l2_sensitivity": i["D2"],
        "linf_sensitivity": i["Dinf"],
    }
    printed, corrected = (outputs(binomial.BINOMIAL, reading, **inputs) for reading in ("printed", "corrected"))
    close(printed["trials"], o["value"])
    assert (printed["bits_per_coordinate"], corrected["bits_per_coordinate"]) == (o["t_paper"], o["t_correct"])


@pytest.mark.compares(
    "das.1",
    "das.2",
    "das.3",
    "das.corollary-3.1-bits",
    "das.equation-22",
    "das.equation-3",
    "das.equation-7",
    "das.lemma-1",
    "das.lemma-3",
)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_golden(case: dict[str, Any]) -> None:
    check = globals()[case["function"].lower()]
    if "error" in case["outputs"]:
        with pytest.raises(InvalidInput):
            check(case["inputs"], {})
        return
    check(case["inputs"], case["outputs"])


def test_variance_agrees_with_the_normaliser_at_zero_decay() -> None:
    assert float(normaliser(0.0, 3)) == 7.0
    assert variance(0.0, 3) == 4.0
