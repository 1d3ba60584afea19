"""Risks as the targets of ledgers: the (ε, δ) that a risk implies, and the figure of a ledger that a risk limits.

Everything that a ledger allows has E_γ ≤ s(γ) + H at every γ ≥ 0, in both directions (docs/ledger.md, "The ledger
theorem"). Here s is the profile of the plan and of the full slots, and H is the δ that slots may add. So the advantage
is at most s(1) + H. The true positive rate at a false positive rate α is at most the least α γ + s(γ) + H over γ ≥ 0.
If H = 0 and s is below the profile of N(μ, 1) against N(0, 1), the whole is μ-Gaussian differentially private.

The ρ of zero-concentrated privacy is no figure of s, since s of a zero-concentrated slot is the largest profile of many
mechanisms. It is the sum of the ρ of all planned runs and of the ρ that the slots pay for. It follows from the rule of
adaptive composition for Rényi divergences (docs/ledger.md, "Slots", Concentrated).
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

    A risk implies its point. An advantage is a δ at ε = 0. A true positive rate at a false positive rate implies a δ at
    ε = 0, by `_log_delta_of_rates`. A μ of Gaussian differential privacy or a ρ of zero-concentrated differential
    privacy implies an ε at the requested δ.

    Args:
        target: (ε, δ), or a risk; a μ or ρ comes with the δ at which its ε is stated.

    Returns:
        The point as ε and log δ, and the risk if one was requested.
    """
    risk = target.risk
    if risk is None:
        return LedgerTarget(epsilon=target.epsilon, log_delta=target.log_delta)
    if risk.kind == "advantage":
        return LedgerTarget(epsilon=0.0, log_delta=LogDelta.of_delta(risk.bound), risk=risk)
    if risk.kind == "true_positive_rate":
        return LedgerTarget(epsilon=0.0, log_delta=_log_delta_of_rates(risk), risk=risk)
    epsilon = _pair_of(risk).epsilon(target.log_delta).upper * _ABOVE
    return LedgerTarget(epsilon=epsilon, log_delta=target.log_delta, risk=risk)


def is_implied(target: LedgerTarget) -> bool:
    """Return whether the (ε, δ) of a ledger's target certainly follows from its risk.

    A risk is a limit such as an attacker's advantage, from which the (ε, δ) was derived.

    Args:
        target: ε, log δ and the risk of the ledger.

    Returns:
        True if each mechanism within the risk is (ε, δ)-private, or if there is no risk. False if that could not be
        shown in spite of rounding errors.
    """
    risk = target.risk
    if risk is None:
        return True
    # The logarithms are negative, so the factor 1 + `_RELATIVE` lowers them. An earlier version of this library may
    # have rounded them a little lower than this version does.
    if risk.kind == "advantage":
        return target.log_delta >= math.log(risk.bound) * (1.0 + _RELATIVE)
    if risk.kind == "true_positive_rate":
        return target.log_delta >= _log_delta_of_rates(risk) * (1.0 + _RELATIVE)
    return _pair_of(risk).upper_log_delta(target.epsilon) <= target.log_delta


def _log_delta_of_rates(risk: RiskTarget) -> float:
    """Bound log δ at ε = 0 if an attacker's true positive rate at the false positive rate α is at most β.

    Let f be the trade-off curve: f(x) is the least false negative rate of a test with the false positive rate x. The
    limit holds in both directions of the neighbours, so f is convex with f(0) ≤ 1, f(1) = 0, f(α) ≥ 1 − β and
    f(1 − β) ≥ α. The largest δ = 1 − x − f(x) over these curves is (docs/ledger.md)

        (β − α)/min(1 − α, α + β)    if α + β ≤ 1,
        (β − α)/min(β, 2 − α − β)    otherwise.

    Args:
        risk: the limit β on the true positive rate (`bound`), at the false positive rate α.

    Returns:
        An upper bound on the natural logarithm of δ.
    """
    false_rate = Fraction(risk.false_positive_rate)
    true_rate = Fraction(risk.bound)
    if false_rate + true_rate <= 1:
        divisor = min(1 - false_rate, false_rate + true_rate)
    else:
        divisor = min(true_rate, 2 - false_rate - true_rate)
    # Both roundings are upward. The logarithm may be rounded down by one unit, which the next double above undoes.
    delta = round_up((true_rate - false_rate) / divisor)
    return math.nextafter(math.log(delta), 0.0)


def _pair_of(risk: RiskTarget) -> Pair:
    """Return a pair of distributions that dominates every μ-Gaussian or ρ-zero-concentrated private mechanism.

    Args:
        risk: the risk. Its kind is `gaussian_dp_mu` or `rho`, and its bound is the μ or ρ.

    Returns:
        The pair, which bounds the δ of each such mechanism at every ε.
    """
    if risk.kind == "gaussian_dp_mu":
        return gaussian_pair(risk.bound)
    return concentrated_pair(risk.bound)


def remaining_risk(risk: RiskTarget, added: Amount) -> RiskTarget | None:
    """Return the limit on a risk that remains after the δ that the slots of a ledger may add.

    A slot is a budget for runs that are not planned yet. Its runs may add a δ to the composed privacy profile.

    Args:
        risk: the target.
        added: δ that all slots together may add, at least 0.

    Returns:
        The risk with its bound reduced by `added` and rounded down; unchanged if `added` is 0. None if no mechanism is
        within the reduced bound, or if `added` is positive and the risk is a μ or ρ, which allows no added δ.
    """
    if added <= 0:
        return risk
    if risk.kind in ("gaussian_dp_mu", "rho"):
        return None
    remaining = less(down(risk.bound), added)
    remaining_bound = float_below(remaining) if remaining > 0 else 0.0
    # An attacker who guesses at random attains a true positive rate equal to the false positive rate.
    if remaining_bound <= risk.false_positive_rate:
        return None
    return replace(risk, bound=remaining_bound)


def risk_figure(risk: RiskTarget, pair: Pair, planned: Sequence[tuple[Pair, int]], slots: Sequence[Slot]) -> float:
    """Bound the quantity that a ledger's target limits, such as an attacker's advantage, from above.

    The bound holds for all runs that the ledger allows: the planned ones, and those that its slots pay for. A slot is a
    budget for runs that are not planned yet. The δ that slots may add is not included.

    Args:
        risk: which quantity is limited; its limit is not used.
        pair: dominating pair of the composition of all planned runs and full slots.
        planned: dominating pairs of the planned runs, each with its number of runs.
        slots: the slots. None of them may add a δ if the quantity is a ρ.

    Returns:
        The upper bound, in the unit of the limited quantity; math.inf if no bound is known.
    """
    if risk.kind == "rho":
        return _sum_concentrations(planned, slots)
    return upper_figure(Curve(pair, (pair,)), risk)


def _sum_concentrations(planned: Sequence[tuple[Pair, int]], slots: Sequence[Slot]) -> float:
    """Return the sum of the ρ of all planned runs and full slots, rounded up.

    ρ is the parameter of zero-concentrated differential privacy. It adds up under composition, even if mechanisms are
    chosen adaptively.

    Args:
        planned: dominating pairs of the planned runs, each with its number of runs.
        slots: budgets for runs that are not planned yet.

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
    """Return a ρ such that all runs that a slot can pay for are together ρ-zero-concentrated private.

    μ-Gaussian differential privacy implies ρ = μ²/2, and pure ε-differential privacy implies ρ = ε²/2.

    Args:
        slot: a budget of μ², ρ or ε for runs that are not planned yet, or of a Rényi divergence. It must not add a δ.

    Returns:
        The ρ, rounded up; math.inf for a budget of a Rényi divergence.
    """
    if slot.kind == "gdp":
        return product_up(0.5, float_above(slot.capacity["mu_squared"]))
    if slot.kind == "zcdp":
        return float_above(slot.capacity["rho"])
    if slot.kind == "pure":
        epsilon = float_above(slot.capacity["epsilon"])
        return product_up(0.5, epsilon, epsilon)
    return math.inf


def risk_excess(figure: float, risk: RiskTarget | None) -> float:
    """Return the logarithm of the ratio of a quantity to its limit, as a finite number for a root search.

    Args:
        figure: upper bound on the quantity.
        risk: the limit; None if nothing is allowed.

    Returns:
        A number that is at most 0 if and only if the quantity is within the limit. An infinite logarithm is replaced by
        ±`LARGEST_EXCESS`.
    """
    if risk is None or math.isinf(figure):
        return LARGEST_EXCESS
    if figure <= 0.0:
        return -LARGEST_EXCESS
    log_ratio = math.log(figure) - math.log(risk.bound)
    # The sign follows from an exact comparison, because rounding errors may change the sign of the logarithm.
    if figure <= risk.bound:
        return min(log_ratio, 0.0)
    return max(log_ratio, math.ulp(1.0))
