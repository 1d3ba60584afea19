"""Questions of risk that adapters ask of our curves."""

from importlib import import_module
from importlib.util import find_spec

import numpy as np

import epsilond
from tests.peers.counting import NoEquivalent

ATTACKERS = "epsilond.accountants.attackers"
LARGEST_ORDER = 1e6
"""Largest Rényi order that a question may have."""
MOST_RATES = 2000
"""Number of false positive rates of one curve above which lines bound the trade-off; each rate below it is a search."""
LINES = np.linspace(0.0, 25.0, 2501)
"""ε of the lines that bound a trade-off at more rates."""


def _function(module, name):
    """Return a function of `accountants/attackers`."""
    if find_spec(ATTACKERS) is None:
        raise NoEquivalent("this version answers no figures of an attacker")
    return getattr(import_module(f"{ATTACKERS}.{module}"), name)


def true_positive_rates(curve, false_positive_rates):
    """Return upper bounds on the true positive rate at each false positive rate.

    Args:
        curve: our privacy curve; None if nothing was released.
        false_positive_rates: array of rates in [0, 1].
    """
    rates = np.asarray(false_positive_rates, dtype=float)
    if curve is None:
        return rates.copy()
    if len(rates) > MOST_RATES:
        return _below_lines(curve, rates)
    trade_off_curve = _function("trade_off_curve", "trade_off_curve")
    inside = [float(rate) for rate in rates if 0.0 < rate < 1.0]
    points = iter(trade_off_curve(curve.natural, inside) if inside else ())
    at_zero = curve.natural.log_delta(1e9).upper  # the mass of infinite losses, of which each is noticed
    found = [next(points).true_positive_rate.upper if 0.0 < rate < 1.0 else rate for rate in rates]
    return np.array([np.exp(at_zero) if rate == 0.0 else each for rate, each in zip(rates, found, strict=True)])


def _below_lines(curve, rates):
    """Return the least of the bounds γ α + E_γ at each rate α, over γ = e^ε and γ = e^(-ε) of all ε in LINES.

    Every γ gives a bound. Below 1, E_γ(P‖Q) = 1 − γ + γ E_1/γ(Q‖P), of which δ is an upper bound in both directions.
    """
    deltas = np.exp([curve.natural.log_delta(float(epsilon)).upper for epsilon in LINES])
    found = np.minimum(1.0, rates + deltas[0])
    for epsilon, delta in zip(LINES, deltas, strict=True):
        inverse = np.exp(-epsilon)
        found = np.minimum(found, np.exp(epsilon) * rates + delta)
        found = np.minimum(found, inverse * rates + 1.0 - inverse + inverse * delta)
    return found


def least_error(curve, prior):
    """Return a lower bound on the error of the best attacker with a prior."""
    return _function("bayes_error", "bayes_error")(curve.natural, prior).lower


def gaussian_mu(curve):
    """Return an upper bound on the μ of the smallest Gaussian mechanism above a curve; 0 if nothing was released."""
    return 0.0 if curve is None else _function("smallest_gaussian", "smallest_gaussian")(curve.natural).upper


def renyi_divergences(curve, orders):
    """Return upper bounds on the Rényi divergence at each order; that of order 1 is the limit from above.

    Args:
        curve: our privacy curve; None if nothing was released.
        orders: array of orders.
    """
    if curve is None:
        return np.zeros_like(orders)
    renyi_divergence = _function("renyi", "renyi_divergence")

    def divergence(order):
        """Return the bound at one order; no order has a larger one than the ε at δ = 0."""
        if order > LARGEST_ORDER:
            return curve.natural.epsilon(-np.inf).upper
        bound = renyi_divergence(curve.natural, max(float(order), np.nextafter(1.0, 2.0))).upper
        if np.isinf(bound) and np.isfinite(curve.epsilon(delta=1e-6).upper):
            raise NoEquivalent("no bound on the Rényi divergence is known")
        return bound

    return np.array([divergence(order) for order in orders])


def selected_divergence(order, named):
    """Return the upper bound of the theorem on the best of a random number of Gaussian runs; ∞ at order 1.

    Args:
        order: the order.
        named: noise multiplier, and mean and shape of the number of runs, by name.
    """
    if not 1.0 < order <= LARGEST_ORDER:
        return np.inf
    evaluation = epsilond.evaluate("papernot-steinke-2022.lemma-7", order=float(order), **named)
    return evaluation.outputs["renyi_divergence"]
