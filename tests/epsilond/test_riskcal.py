"""Figures of riskcal are inside our intervals, or differ for a reason that an independent figure confirms."""

import math
from pathlib import Path

import pytest
from scipy import optimize, stats

import epsilond
from tests.oracles.golden import stored

STORED = stored("riskcal")
FIGURES = STORED["figures"]
SETTING = {"relation": "add-or-remove-one", "unit": "record", "observer": "released-models"}


def train(noise_multiplier, rate, rounds):
    batch = epsilond.Subsampled(
        sampling="poisson", rate=rate, mechanism=epsilond.Gaussian(noise_multiplier=noise_multiplier)
    )
    return epsilond.Repeated(times=rounds, mechanism=batch)


def spec_of(row):
    """Return the spec of a figure's mechanism or guarantee."""
    if "run" in row:
        return train(**row["run"])
    if "parts" in row:
        return epsilond.Composed(mechanisms=tuple(train(*part) for part in row["parts"]))
    if "mu" in row:
        return epsilond.Gaussian(noise_multiplier=1.0 / row["mu"])
    if "rho" in row:
        return epsilond.Zcdp(rho=row["rho"])
    if "order" in row:
        return epsilond.Rdp(orders=(row["order"],), epsilons=(row["epsilon"],))
    if "beta" in row:
        return epsilond.profile_from_trade_off(
            false_positive_rates=[0.0, row["alpha"], 1.0], false_negative_rates=[1.0, row["beta"], 0.0]
        )
    return epsilond.Approximate(epsilon=row["epsilon"], delta=row["delta"])


def enclose(row):
    """Return our interval of the quantity of a figure."""
    spec = spec_of(row)
    if "prior" in row:
        (found,) = epsilond.account(spec, **SETTING, priors=[row["prior"]]).bayes_errors
        return found.error.lower, found.error.upper
    if "delta" in row and "epsilon" not in row:
        return epsilond.account(spec, **SETTING).guarantee.curve.epsilon(delta=row["delta"])
    if "alpha" in row:
        (point,) = epsilond.account(spec, **SETTING, false_positive_rates=[row["alpha"]]).trade_off
        rate = point.true_positive_rate
        return math.nextafter(1.0 - rate.upper, 0.0), math.nextafter(1.0 - rate.lower, 1.0)
    return epsilond.account(spec, **SETTING).guarantee.curve.delta(epsilon=0.0)


def select(*functions, **having):
    """Return the figures of these functions that have the given members."""
    rows = [row for row in FIGURES if row["function"] in functions]
    return [row for row in rows if all(row.get(name) == value for name, value in having.items())]


def names(row):
    return f"{row['function']} {row.get('alpha', row.get('prior', ''))}"


ONE_BATCH = {"noise_multiplier": 0.5, "rate": 0.3, "rounds": 1}
GUARANTEES = [
    row for row in FIGURES if {"mu", "rho", "order", "epsilon"} & row.keys() or row["function"].endswith("err_rates")
]
INSIDE = [
    row
    for row in GUARANTEES
    if not row["function"].startswith("find") and "approx" not in row["function"] and "randomized_response" not in row
]
ON_A_GRID = [
    row
    for row in FIGURES
    if ("parts" in row or row.get("run") is not None)
    and row.get("run") != ONE_BATCH
    and not row["function"].startswith(("find", "calibrate"))
]
GRID = 1e-4
"""Interval of the losses in riskcal's default, to which its figures agree with the truth here."""


@pytest.mark.parametrize("row", INSIDE, ids=names)
def test_a_figure_of_a_guarantee_is_inside_our_interval(row):
    lower, upper = enclose(row)
    rounding = 1e-12
    assert lower - rounding <= row["value"] <= upper + rounding


@pytest.mark.parametrize("row", ON_A_GRID, ids=names)
def test_a_figure_of_a_distribution_is_as_far_away_as_its_grid(row):
    lower, upper = enclose(row)
    assert lower - GRID <= row["value"] <= upper + GRID


@pytest.mark.parametrize("row", select("get_beta_from_pld", "get_advantage_from_pld", run=FIGURES[0]["run"]), ids=names)
def test_a_coarser_grid_takes_riskcal_away_from_our_interval(row):
    lower, upper = enclose(row)

    def distance(value):
        return max(lower - value, value - upper, 0.0)

    assert distance(row["value"]) < distance(row["with_coarser_grid"])
    assert lower - 3e-6 <= row.get("by_dual_formula", lower) <= upper


@pytest.mark.parametrize("row", select("get_beta_from_pld", "get_beta_from_plrvs", run=ONE_BATCH), ids=names)
def test_one_batch_has_the_error_rates_of_its_densities(row):
    """The densities give both trade-off curves; riskcal has the greatest convex function below both."""
    noise, rate = row["run"]["noise_multiplier"], row["run"]["rate"]

    def of_present(threshold):
        return rate * stats.norm.sf((threshold - 1.0) / noise) + (1.0 - rate) * stats.norm.sf(threshold / noise)

    def of_absent(threshold):
        return stats.norm.sf(threshold / noise)

    at = optimize.brentq(lambda threshold: of_absent(threshold) - row["alpha"], -10.0, 10.0, xtol=1e-14)
    opposite = optimize.brentq(lambda threshold: 1.0 - of_present(threshold) - row["alpha"], -10.0, 10.0, xtol=1e-14)
    least = min(1.0 - of_present(at), of_absent(opposite))
    lower, upper = enclose(row)
    assert lower - 1e-9 <= least <= upper + 1e-9
    assert row["value"] <= least + GRID
    assert (row["value"] < least - 1e-3) == (row["alpha"] > 0.1)


@pytest.mark.parametrize("row", select("get_beta_from_zcdp", randomized_response=6.0), ids=names)
def test_riskcal_has_too_large_an_error_for_zcdp(row):
    """A randomized response has ρ = KL, because D_a ≤ ρ a at all orders; and it has both error rates at alpha."""
    epsilon, rate = row["randomized_response"], row["alpha"]
    for order in (1.0001, 1.01, 1.1, 1.5, 2.0, 5.0, 50.0):
        moment = (1 - rate) ** order * rate ** (1 - order) + rate**order * (1 - rate) ** (1 - order)
        assert math.log(moment) / (order - 1.0) <= row["rho"] * order
    assert rate == pytest.approx(1.0 / (1.0 + math.exp(epsilon)))
    lower, _ = enclose(row)
    assert lower <= rate < row["value"] / 10.0


def test_riskcal_has_too_small_an_advantage_for_zcdp():
    """Randomized response with ρ = ε tanh(ε/2) has the advantage tanh(ε/2), and no ρ-zCDP mechanism has more."""
    (row,) = select("get_advantage_from_zcdp")
    epsilon = optimize.brentq(lambda t: t * math.tanh(t / 2.0) - row["rho"], 1e-9, 10.0)
    attained = math.tanh(epsilon / 2.0)
    _, upper = enclose(row)
    assert row["value"] + 0.008 < attained <= upper <= attained + 1e-6


OF_ORDERS_FROM_ONE = (
    (0.01, 0.1, 0.8666702384343166),
    (0.1, 0.01, 0.9649374721000072),
    (0.1, 0.3, 0.48587708714536915),
    (0.5, 0.001, 0.9750895032599118),
    (0.5, 0.1, 0.5162716775388594),
    (0.5, 0.3, 0.22861767239115488),
    (2.0, 0.1, 0.07618269307696256),
)
"""ρ, α and β of riskcal 1.5.1, `analysis.get_beta_from_zcdp`, which starts at order 1; its tolerance is 1e-9."""


@pytest.mark.parametrize(("rho", "alpha", "beta"), OF_ORDERS_FROM_ONE)
def test_beta_of_zcdp_is_that_of_riskcal_with_orders_from_one(rho, alpha, beta):
    lower, _ = enclose({"rho": rho, "alpha": alpha})
    assert lower == pytest.approx(beta, abs=1e-6)


@pytest.mark.parametrize(("rho", "alpha"), [(0.001, 0.1), (0.01, 0.001), (0.01, 1e-6)])
def test_gaussian_noise_has_a_smaller_beta_than_riskcal_at_small_rho(rho, alpha):
    """β of riskcal 1.5.1 is 1 − α there, to 1e-12."""
    gaussian = stats.norm.cdf(stats.norm.isf(alpha) - math.sqrt(2.0 * rho))
    lower, _ = enclose({"rho": rho, "alpha": alpha})
    assert lower <= gaussian < 1.0 - alpha


def test_the_fit_of_zcdp_is_below_the_bound_that_it_stands_for():
    (fit,), (bound,) = select("get_advantage_from_zcdp_approx"), select("get_advantage_from_zcdp")
    lower, upper = enclose(bound)
    assert lower <= fit["value"] < bound["value"] <= upper
    (beta,), (mu,) = select("get_beta_from_zcdp_approx"), select("get_mu_from_zcdp_approx")
    assert beta["value"] == pytest.approx(stats.norm.cdf(-stats.norm.ppf(beta["alpha"]) - mu["value"]))


@pytest.mark.parametrize("row", select("find_noise_multiplier_for_advantage_dpsgd"), ids=names)
def test_a_calibrated_noise_is_at_most_a_tolerance_above_ours(row):
    target = {"advantage": row["advantage"], "delta": 1e-5}
    found = epsilond.calibrate("gaussian", **target, **SETTING, sampling="poisson", **row["run"])
    ours = found.parameters.noise_multiplier
    tolerance = 1e-3
    assert ours <= row["value"] <= ours + tolerance


def test_the_figures_are_those_of_the_version_of_the_page():
    assert STORED["versions"]["riskcal"] == "1.3.0"
    page = (Path(__file__).parents[2] / "docs/riskcal.md").read_text(encoding="utf-8")
    functions = {row["function"].removeprefix("CTDAccountant.") for row in FIGURES}
    assert all(f"`{name}`" in page or f"`CTDAccountant.{name}`" in page for name in functions)
