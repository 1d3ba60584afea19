"""Figures of riskcal, stored in tests/golden/riskcal.json.

Run in an environment with riskcal: `python tests/peers/riskcal_figures.py`. epsilond is not needed.
"""

from __future__ import annotations

import json
import math
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dp_accounting.pld.privacy_loss_distribution as distributions
from riskcal import analysis, calibration
from riskcal.accountants import CTDAccountant
from scipy import optimize

GOLDEN = Path(__file__).parents[1] / "golden/riskcal.json"
RUN = {"noise_multiplier": 1.5, "rate": 0.01, "rounds": 1000}
ONE_BATCH = {"noise_multiplier": 0.5, "rate": 0.3, "rounds": 1}
TARGET_RUN: dict[str, Any] = {"sample_rate": 0.01, "num_steps": 1000}
RATES = (0.01, 0.1, 0.3)
PRIORS = (0.3, 0.5)
RHO = 0.5
ALTERNATING_EPSILON = 6.0
"""ε of a randomized response whose ρ is its Kullback–Leibler divergence."""


def distribution_of(noise_multiplier: float, rate: float, rounds: int, step: float = 1e-4) -> Any:
    """Return the privacy loss distribution that riskcal uses for Poisson batches."""
    one = distributions.from_gaussian_mechanism(
        noise_multiplier, sampling_prob=rate, use_connect_dots=True, value_discretization_interval=step
    )
    return one.self_compose(rounds)


def find_true_positive_rate(distribution: Any, alpha: float) -> float:
    """Return the largest inf over γ of γ α + E_γ of both directions, by dp-accounting's E_γ and a search over log γ."""

    def search(direction: Any) -> float:
        found = optimize.minimize_scalar(
            lambda log_gamma: math.exp(log_gamma) * alpha + float(direction.get_delta_for_epsilon(log_gamma)),
            bounds=(-3.0, 3.0),
            method="bounded",
            options={"xatol": 1e-9},
        )
        return float(found.fun)

    return max(search(distribution._pmf_remove), search(distribution._pmf_add))


def figure(function: str, value: float, *, also: dict[str, float] | None = None, **given: Any) -> dict[str, Any]:
    """Return the row of a figure: its function, what the function was given, its value, and related figures."""
    return {"function": function, **given, "value": float(value), **(also or {})}


def figures_of_distributions() -> list[dict[str, Any]]:
    """Return riskcal's figures of privacy loss distributions, with those of a coarser grid and of the dual formula."""
    usual, coarse = distribution_of(**RUN), distribution_of(**RUN, step=1e-3)
    batch = distribution_of(**ONE_BATCH)
    rows = []
    for alpha in RATES:
        value, also = (analysis.get_beta_from_pld(each, alpha=alpha) for each in (usual, coarse))
        related = {"with_coarser_grid": also, "by_dual_formula": 1.0 - find_true_positive_rate(usual, alpha)}
        rows.append(figure("get_beta_from_pld", value, also=related, run=RUN, alpha=alpha))
    value, also = (float(analysis.get_advantage_from_pld(each)) for each in (usual, coarse))
    rows.append(figure("get_advantage_from_pld", value, also={"with_coarser_grid": also}, run=RUN))
    for prior in PRIORS:
        value, also = (float(analysis.get_bayes_risk_from_pld(each, prior)) for each in (usual, coarse))
        rows.append(figure("get_bayes_risk_from_pld", value, also={"with_coarser_grid": also}, run=RUN, prior=prior))
    for alpha in (0.1, 0.2, 0.3):
        value = analysis.get_beta_from_pld(batch, alpha=alpha)
        rows.append(figure("get_beta_from_pld", value, run=ONE_BATCH, alpha=alpha))
    value = analysis.get_beta_from_plrvs(analysis.pld_to_plrvs(batch), alpha=0.1)
    return [*rows, figure("get_beta_from_plrvs", value, run=ONE_BATCH, alpha=0.1)]


def figures_of_guarantees() -> list[dict[str, Any]]:
    """Return riskcal's figures of μ-GDP, (ε, δ), Rényi divergences and zCDP."""
    epsilon = ALTERNATING_EPSILON
    rate, divergence = 1.0 / (1.0 + math.exp(epsilon)), epsilon * math.tanh(epsilon / 2.0)
    response = {"rho": divergence, "alpha": rate}

    def ask(function: str, **given: Any) -> dict[str, Any]:
        """Return the figure of a function of `analysis` whose arguments have the names of the row."""
        return figure(function, getattr(analysis, function)(**given), **given)

    declared, order = {"epsilon": 1.0, "delta": 0.001}, {"epsilon": 1.0, "order": 2.0, "alpha": 0.1}
    errors = {"delta": 0.001, "alpha": 0.01, "beta": 0.8}
    return [
        figure("get_beta_from_gdp", analysis.get_beta_from_gdp(1.0, 0.1), mu=1.0, alpha=0.1),
        figure("get_advantage_from_gdp", analysis.get_advantage_from_gdp(1.0), mu=1.0),
        figure("get_bayes_risk_from_gdp", analysis.get_bayes_risk_from_gdp(1.0, 0.3), mu=1.0, prior=0.3),
        *(
            figure("get_beta_from_adp", analysis.get_beta_from_adp(1.0, 0.001, alpha), **declared, alpha=alpha)
            for alpha in (0.1, 0.8)
        ),
        figure("get_advantage_from_adp", analysis.get_advantage_from_adp(1.0, 0.001), **declared),
        figure("get_epsilon_from_err_rates", analysis.get_epsilon_from_err_rates(0.001, 0.01, 0.8), **errors),
        ask("get_beta_from_rdp", **order),
        *(ask("get_beta_from_zcdp", rho=RHO, alpha=alpha) for alpha in (0.1, 0.3)),
        {"function": "get_beta_from_zcdp", "randomized_response": epsilon} | ask("get_beta_from_zcdp", **response),
        ask("get_advantage_from_zcdp", rho=RHO),
        figure("get_mu_from_zcdp_approx", analysis.get_mu_from_zcdp_approx(RHO), rho=RHO),
        ask("get_beta_from_zcdp_approx", rho=RHO, alpha=0.1),
        figure("get_advantage_from_zcdp_approx", analysis.get_advantage_from_zcdp_approx(RHO), rho=RHO),
    ]


def figures_of_training() -> list[dict[str, Any]]:
    """Return riskcal's figures of a training run, and of the accountant of a run in two parts."""
    run = (RUN["noise_multiplier"], RUN["rate"], RUN["rounds"])
    accountant = CTDAccountant()
    accountant.history = [(1.5, 0.01, 600), (2.0, 0.02, 300)]
    parts = [list(part) for part in accountant.history]
    rounds = (RUN["rate"], RUN["rounds"])
    evaluated = calibration.create_dpsgd_evaluator(*rounds, target_alpha=0.1)(RUN["noise_multiplier"])
    at_delta = calibration.create_dpsgd_epsilon_evaluator(*rounds, 1e-5)(RUN["noise_multiplier"])
    black_box = calibration.create_accountant_evaluator(CTDAccountant, *rounds, target_delta=1e-5)
    asked = black_box(RUN["noise_multiplier"]).epsilon
    return [
        figure("get_advantage_for_dpsgd", calibration.get_advantage_for_dpsgd(*run), run=RUN),
        figure("get_beta_for_dpsgd", calibration.get_beta_for_dpsgd(*run, alpha=0.1), run=RUN, alpha=0.1),
        figure("create_dpsgd_evaluator", evaluated.advantage, run=RUN),
        figure("create_dpsgd_epsilon_evaluator", at_delta.epsilon, run=RUN, delta=1e-5),
        figure("create_accountant_evaluator", asked, run=RUN, delta=1e-5),
        figure("CTDAccountant.get_epsilon", accountant.get_epsilon(delta=1e-5), parts=parts, delta=1e-5),
        figure("CTDAccountant.get_beta", accountant.get_beta(alpha=0.1), parts=parts, alpha=0.1),
        figure("CTDAccountant.get_advantage", accountant.get_advantage(), parts=parts),
    ]


def figures_of_calibration() -> list[dict[str, Any]]:
    """Return riskcal's noise multiplier for an advantage."""
    found = calibration.find_noise_multiplier_for_advantage_dpsgd(0.1, **TARGET_RUN)
    run = {"rate": TARGET_RUN["sample_rate"], "rounds": TARGET_RUN["num_steps"]}
    return [{"function": "find_noise_multiplier_for_advantage_dpsgd", "run": run, "advantage": 0.1, "value": found}]


def write() -> None:
    """Write all figures, with the versions of both libraries."""
    warnings.simplefilter("ignore")
    rows = [*figures_of_distributions(), *figures_of_guarantees(), *figures_of_training(), *figures_of_calibration()]
    for row in rows:
        row["value"] = float(row["value"])
    stored = {"versions": {name: version(name) for name in ("riskcal", "dp-accounting")}, "figures": rows}
    GOLDEN.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
