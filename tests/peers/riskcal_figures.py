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


def figures_of_distributions() -> list[dict[str, Any]]:
    """Return riskcal's figures of privacy loss distributions, with those of a coarser grid and of the dual formula."""
    usual, coarse = distribution_of(**RUN), distribution_of(**RUN, step=1e-3)
    batch = distribution_of(**ONE_BATCH)
    rows = [
        {
            "function": "get_beta_from_pld",
            "run": RUN,
            "alpha": alpha,
            "value": analysis.get_beta_from_pld(usual, alpha=alpha),
            "with_coarser_grid": analysis.get_beta_from_pld(coarse, alpha=alpha),
            "by_dual_formula": 1.0 - find_true_positive_rate(usual, alpha),
        }
        for alpha in RATES
    ]
    rows.append(
        {
            "function": "get_advantage_from_pld",
            "run": RUN,
            "value": float(analysis.get_advantage_from_pld(usual)),
            "with_coarser_grid": float(analysis.get_advantage_from_pld(coarse)),
        }
    )
    rows.extend(
        {
            "function": "get_bayes_risk_from_pld",
            "run": RUN,
            "prior": prior,
            "value": float(analysis.get_bayes_risk_from_pld(usual, prior)),
            "with_coarser_grid": float(analysis.get_bayes_risk_from_pld(coarse, prior)),
        }
        for prior in PRIORS
    )
    rows.extend(
        {
            "function": "get_beta_from_pld",
            "run": ONE_BATCH,
            "alpha": alpha,
            "value": analysis.get_beta_from_pld(batch, alpha=alpha),
        }
        for alpha in (0.1, 0.2, 0.3)
    )
    rows.append(
        {
            "function": "get_beta_from_plrvs",
            "run": ONE_BATCH,
            "alpha": 0.1,
            "value": analysis.get_beta_from_plrvs(analysis.pld_to_plrvs(batch), alpha=0.1),
        }
    )
    return rows


def figures_of_guarantees() -> list[dict[str, Any]]:
    """Return riskcal's figures of μ-GDP, (ε, δ), Rényi divergences and zCDP."""
    epsilon = ALTERNATING_EPSILON
    rate, divergence = 1.0 / (1.0 + math.exp(epsilon)), epsilon * math.tanh(epsilon / 2.0)
    approximate = {"rho": RHO, "alpha": 0.1}
    return [
        {"function": "get_beta_from_gdp", "mu": 1.0, "alpha": 0.1, "value": analysis.get_beta_from_gdp(1.0, 0.1)},
        {"function": "get_advantage_from_gdp", "mu": 1.0, "value": analysis.get_advantage_from_gdp(1.0)},
        {
            "function": "get_bayes_risk_from_gdp",
            "mu": 1.0,
            "prior": 0.3,
            "value": analysis.get_bayes_risk_from_gdp(1.0, 0.3),
        },
        *(
            {
                "function": "get_beta_from_adp",
                "epsilon": 1.0,
                "delta": 0.001,
                "alpha": alpha,
                "value": analysis.get_beta_from_adp(1.0, 0.001, alpha),
            }
            for alpha in (0.1, 0.8)
        ),
        {
            "function": "get_advantage_from_adp",
            "epsilon": 1.0,
            "delta": 0.001,
            "value": analysis.get_advantage_from_adp(1.0, 0.001),
        },
        {
            "function": "get_epsilon_from_err_rates",
            "delta": 0.001,
            "alpha": 0.01,
            "beta": 0.8,
            "value": analysis.get_epsilon_from_err_rates(0.001, 0.01, 0.8),
        },
        {
            "function": "get_beta_from_rdp",
            "epsilon": 1.0,
            "order": 2.0,
            "alpha": 0.1,
            "value": analysis.get_beta_from_rdp(epsilon=1.0, alpha=0.1, order=2.0),
        },
        *(
            {
                "function": "get_beta_from_zcdp",
                "rho": RHO,
                "alpha": alpha,
                "value": analysis.get_beta_from_zcdp(rho=RHO, alpha=alpha),
            }
            for alpha in (0.1, 0.3)
        ),
        {
            "function": "get_beta_from_zcdp",
            "randomized_response": epsilon,
            "rho": divergence,
            "alpha": rate,
            "value": analysis.get_beta_from_zcdp(rho=divergence, alpha=rate),
        },
        {"function": "get_advantage_from_zcdp", "rho": RHO, "value": analysis.get_advantage_from_zcdp(rho=RHO)},
        {"function": "get_mu_from_zcdp_approx", "rho": RHO, "value": analysis.get_mu_from_zcdp_approx(RHO)},
        {
            "function": "get_beta_from_zcdp_approx",
            **approximate,
            "value": analysis.get_beta_from_zcdp_approx(**approximate),
        },
        {
            "function": "get_advantage_from_zcdp_approx",
            "rho": RHO,
            "value": analysis.get_advantage_from_zcdp_approx(RHO),
        },
    ]


def figures_of_training() -> list[dict[str, Any]]:
    """Return riskcal's figures of a training run, and of the accountant of a run in two parts."""
    run = (RUN["noise_multiplier"], RUN["rate"], RUN["rounds"])
    accountant = CTDAccountant()
    accountant.history = [(1.5, 0.01, 600), (2.0, 0.02, 300)]
    parts = [[list(part) for part in accountant.history]]
    evaluated = calibration.create_dpsgd_evaluator(RUN["rate"], RUN["rounds"], target_alpha=0.1)(
        RUN["noise_multiplier"]
    )
    at_delta = calibration.create_dpsgd_epsilon_evaluator(RUN["rate"], RUN["rounds"], 1e-5)(RUN["noise_multiplier"])
    black_box = calibration.create_accountant_evaluator(CTDAccountant, RUN["rate"], RUN["rounds"], target_delta=1e-5)
    return [
        {"function": "get_advantage_for_dpsgd", "run": RUN, "value": float(calibration.get_advantage_for_dpsgd(*run))},
        {
            "function": "get_beta_for_dpsgd",
            "run": RUN,
            "alpha": 0.1,
            "value": calibration.get_beta_for_dpsgd(*run, alpha=0.1),
        },
        {"function": "create_dpsgd_evaluator", "run": RUN, "value": float(evaluated.advantage)},
        {"function": "create_dpsgd_epsilon_evaluator", "run": RUN, "delta": 1e-5, "value": float(at_delta.epsilon)},
        {
            "function": "create_accountant_evaluator",
            "run": RUN,
            "delta": 1e-5,
            "value": float(black_box(RUN["noise_multiplier"]).epsilon),
        },
        {
            "function": "CTDAccountant.get_epsilon",
            "parts": parts[0],
            "delta": 1e-5,
            "value": float(accountant.get_epsilon(delta=1e-5)),
        },
        {
            "function": "CTDAccountant.get_beta",
            "parts": parts[0],
            "alpha": 0.1,
            "value": float(accountant.get_beta(alpha=0.1)),
        },
        {"function": "CTDAccountant.get_advantage", "parts": parts[0], "value": float(accountant.get_advantage())},
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
