"""Risks as the targets of ledgers: the (ε, δ) that a risk implies, and the figure of a ledger that a risk limits.

Everything that a ledger allows has E_γ ≤ s(γ) + H at every γ ≥ 0, in both directions (docs/ledger.md, "The ledger
theorem"). Here s is the profile of the plan and of the full slots, and H is the δ that slots may add. So the advantage
is at most s(1) + H. The true positive rate at a false positive rate α is at most the least α γ + s(γ) + H over γ ≥ 0.
If H = 0 and s is below the profile of N(μ, 1) against N(0, 1), the whole is μ-Gaussian differentially private.

The ρ of zero-concentrated privacy is no figure of s, since s of a zero-concentrated slot is the largest profile of many
mechanisms. It is the sum of the ρ of all planned runs and of the ρ that the slots pay for, by the rule of adaptive
composition for Rényi divergences (docs/ledger.md, "Slots", Concentrated).
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from epsilond.accountants.attackers.renyi import concentration
from epsilond.accountants.attackers.targets import upper_figure
from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.numerics.outward import product_up, round_up, sum_up
from epsilond.accountants.profiles.concentrated import concentrated_pair
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.target import LogDelta
from epsilond.ledgers.mathematics.amounts import Amount, down, float_above, float_below, less
from epsilond.ledgers.mathematics.state import LedgerTarget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.target import RiskTarget, Target
    from epsilond.ledgers.mathematics.state import Slot

_ABOVE = 1.0 + 1e-12
"""Factor on an implied ε. It lets a later version, with other rounding errors, confirm the ε that a log states."""
_RELATIVE = 1e-14
"""Relative tolerance of the logarithm of an implied δ, a few units of its rounding error."""
LARGEST_EXCESS = 700.0
"""Excess that stands for a figure without a bound. A search needs finite values."""


def ledger_target(target: Target) -> LedgerTarget:
    """Convert a requested target to a point (ε, δ), with the risk if one was requested.

    The point of a risk follows from the risk. An advantage is δ at ε = 0. A true positive rate at a false positive rate
    implies a δ at ε = 0, by `_log_delta_of_rates`. A μ of Gaussian differential privacy or a ρ of zCDP has an ε at the
    requested δ.

    Args:
        target: (ε, δ), or a risk with the δ at which its ε is stated.

    Returns:
        The point as ε and log δ, and the risk if one was requested.
    """
    risk = target.risk
    if risk is None:
        return LedgerTarget(epsilon=target.epsilon, log_delta=target.log_delta)
    # The risks of a single test imply a δ at ε = 0. A μ or ρ implies an ε at the requested δ.
    if risk.kind == "advantage":
        return LedgerTarget(epsilon=0.0, log_delta=LogDelta.of_delta(risk.bound), risk=risk)
    if risk.kind == "true_positive_rate":
        return LedgerTarget(epsilon=0.0, log_delta=_log_delta_of_rates(risk), risk=risk)
    epsilon = _pair_of(risk).epsilon(target.log_delta).upper * _ABOVE
    return LedgerTarget(epsilon=epsilon, log_delta=target.log_delta, risk=risk)


def is_implied(target: LedgerTarget) -> bool:
    """Return whether the (ε, δ) of a ledger's target certainly follows from its risk; True if it has no risk.

    A risk is a limit such as an attacker's advantage, from which the (ε, δ) was derived.

    Args:
        target: ε, log δ and the risk of the ledger.

    Returns:
        True if (ε, δ) certainly follows from the risk, or if there is no risk.
    """
    risk = target.risk
    if risk is None:
        return True
    # The factor 1 + `_RELATIVE` lowers the logarithms, which are negative, by more than their rounding errors.
    if risk.kind == "advantage":
        return target.log_delta >= math.log(risk.bound) * (1.0 + _RELATIVE)
    if risk.kind == "true_positive_rate":
        return target.log_delta >= _log_delta_of_rates(risk) * (1.0 + _RELATIVE)
    return _pair_of(risk).upper_log_delta(target.epsilon) <= target.log_delta


def _log_delta_of_rates(risk: RiskTarget) -> float:
    """Bound log δ at ε = 0 if an attacker's true positive rate at the false positive rate α is at most β.

    The limit holds in both directions of the neighbours. So the trade-off curve f is convex with f(0) ≤ 1, f(1) = 0,
    f(α) ≥ 1 − β and f(1 − β) ≥ α. It follows that δ is at most (β − α)/min(1 − α, α + β) if α + β ≤ 1. Otherwise it is
    at most (β − α)/min(β, 2 − α − β) (docs/ledger.md).

    Args:
        risk: the limit β on the true positive rate (`bound`), at the false positive rate α.

    Returns:
        An upper bound on the natural logarithm of δ.
    """
    # The rates α and β as exact fractions.
    false_rate = Fraction(risk.false_positive_rate)
    true_rate = Fraction(risk.bound)
    if false_rate + true_rate <= 1:
        divisor = min(1 - false_rate, false_rate + true_rate)
    else:
        divisor = min(true_rate, 2 - false_rate - true_rate)
    # Both roundings are upward: that of the quotient to a double, and that of the logarithm.
    delta = round_up((true_rate - false_rate) / divisor)
    return math.nextafter(math.log(delta), 0.0)


def _pair_of(risk: RiskTarget) -> Pair:
    """Return a dominating pair of every mechanism with the risk's μ (Gaussian DP) or ρ (zero-concentrated DP).

    Its hockey-stick divergence bounds the privacy profile δ(ε) of each such mechanism.

    Args:
        risk: the risk. Its kind is `gaussian_dp_mu` or `rho`, and its bound is the μ or ρ.

    Returns:
        A pair of distributions (P, Q), as an object that bounds δ at every ε.
    """
    if risk.kind == "gaussian_dp_mu":
        return gaussian_pair(risk.bound)
    return concentrated_pair(risk.bound)


def remaining_risk(risk: RiskTarget, added: Amount) -> RiskTarget | None:
    """Return the limit on a risk that is left for a ledger's mechanisms after the δ that its slots add.

    Slots are parts of the privacy budget, which may add a δ to the composed privacy profile.

    Args:
        risk: the target.
        added: δ that all slots together may add.

    Returns:
        The risk with a smaller bound, rounded down. None if the slots leave nothing of the target.
    """
    if added <= 0:
        return risk
    if risk.kind in ("gaussian_dp_mu", "rho"):
        return None
    remaining = less(down(risk.bound), added)
    remaining_bound = float_below(remaining) if remaining > 0 else 0.0
    if remaining_bound <= risk.false_positive_rate:  # even an attacker who guesses reaches this
        return None
    return replace(risk, bound=remaining_bound)


def risk_figure(risk: RiskTarget, pair: Pair, planned: Sequence[tuple[Pair, int]], slots: Sequence[Slot]) -> float:
    """Bound the quantity that a ledger's target limits, such as an attacker's advantage, from above.

    The bound holds for everything that the ledger allows, apart from a δ that its slots add. It is math.inf if no bound
    is known.

    Args:
        risk: which quantity is limited; its limit is not used.
        pair: dominating pair of all planned runs and full slots.
        planned: dominating pairs of the planned runs, each with its number of runs.
        slots: the slots, parts of the privacy budget. None of them may add a δ if the quantity is a μ or ρ.

    Returns:
        The upper bound, in the unit of the limited quantity; math.inf if no bound is known.
    """
    if risk.kind == "rho":
        return _sum_concentrations(planned, slots)
    return upper_figure(Curve(pair, (pair,)), risk)


def _sum_concentrations(planned: Sequence[tuple[Pair, int]], slots: Sequence[Slot]) -> float:
    """Return the sum of the ρ of all planned runs and full slots, rounded up.

    ρ is the parameter of zero-concentrated differential privacy, which adds up under composition, also if mechanisms
    are chosen adaptively.

    Args:
        planned: dominating pairs of the plan, each with its number of runs.
        slots: parts of the budget for mechanisms outside the plan.

    Returns:
        The sum; math.inf if a run or a slot has no finite ρ.
    """
    summands = [_slot_concentration(slot) for slot in slots]
    for pair, runs in planned:
        rho = concentration(pair)
        rho_of_runs = math.inf if math.isinf(rho) else product_up(rho, runs)
        summands.append(rho_of_runs)
    if math.inf in summands:
        return math.inf
    return sum_up(summands)


def _slot_concentration(slot: Slot) -> float:
    """Return a ρ such that everything which a full slot may pay for is ρ-zCDP; math.inf for a Rényi slot.

    ρ-zCDP is zero-concentrated differential privacy. It holds with ρ = μ²/2 for μ-Gaussian and with ρ = ε²/2 for pure
    ε-differential privacy.

    Args:
        slot: part of the privacy budget, in μ², ρ or ε. It must not add a δ.

    Returns:
        The ρ, or math.inf.
    """
    if slot.kind == "gdp":  # ρ = μ²/2
        return product_up(0.5, float_above(slot.capacity["mu_squared"]))
    if slot.kind == "zcdp":
        return float_above(slot.capacity["rho"])
    if slot.kind == "pure":  # ρ = ε²/2
        epsilon = float_above(slot.capacity["epsilon"])
        return product_up(0.5, epsilon, epsilon)
    return math.inf


def risk_excess(figure: float, risk: RiskTarget | None) -> float:
    """Compare a quantity with its limit, by a number that is at most 0 if and only if it is within the limit.

    The number is the logarithm of their ratio, or ±`LARGEST_EXCESS` if that is infinite. So it is finite and nearly
    continuous, as a search needs.

    Args:
        figure: upper bound on the quantity.
        risk: the limit; None if nothing is allowed.

    Returns:
        The logarithm of the ratio, between ±`LARGEST_EXCESS`.
    """
    if risk is None or math.isinf(figure):
        return LARGEST_EXCESS
    if figure <= 0.0:
        return -LARGEST_EXCESS
    log_ratio = math.log(figure) - math.log(risk.bound)
    # Rounding must not give the logarithm a wrong sign.
    if figure <= risk.bound:
        return min(log_ratio, 0.0)
    return max(log_ratio, math.ulp(1.0))
