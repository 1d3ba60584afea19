"""Composition over rounds: the one place that talks to the engine.

A mechanism's rounds may depend on what came before; their parameters are fixed in advance. Dominating pairs compose by
their product (Zhu, Dong and Wang 2022, Theorem 10), order by order, and so do the instances that give the lower end.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from epsilond.accountants.curve import Curve, Interval, Pair, composed_plateau, with_plateau
from epsilond.accountants.engine.enumeration import beside_gaussian, enumerated_pair, unfolded
from epsilond.accountants.engine.exact import exact_pair
from epsilond.accountants.engine.lattice.composition import Budget, compose
from epsilond.accountants.engine.transformed import transformed_pair
from epsilond.accountants.errors import BeyondBudget
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.profiles.concentrated import ConcentratedPair, composed_concentrated
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.second_moment import rare_pair
from epsilond.accountants.theorem import Case, Effort, Rule, Source, Status, Theorem
from epsilond.accountants.theorems.composition.least_of import alternatives_of, least_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from epsilond.accountants.specs import Composed, Repeated

MOST_ROUNDS = 10**15
_KNOWN = 0.25
"""A width of log δ that only an engine attains where losses are rare."""
BUDGETS: dict[Effort, Budget] = {"coarse": Budget.coarse(), "default": Budget(), "fine": Budget.fine()}

PRODUCT = Theorem(
    id="zhu-dong-wang-2022.10",
    title="Adaptive composition of dominating pairs",
    statement="If (P_i, Q_i) dominates mechanism i whatever came before, the product pair dominates their composition",
    source=Source("zhu2022optimal", "Theorem 10"),
    status=Status.PROVED,
)
GAUSSIAN = Theorem(
    id="dong-roth-su-2022.corollary-3-3",
    title="Composition of Gaussian mechanisms",
    statement="Mechanisms that are μ_i-Gaussian differentially private compose to √(Σ μ_i²), exactly",
    source=Source("dong2022gaussian", "Corollary 3.3"),
    status=Status.PROVED,
)


def flattened(spec: Any, times: int = 1) -> Iterator[tuple[Any, int]]:
    """The mechanisms that are run, with counts, through any nesting of repetition and composition."""
    if spec.kind == "repeated":
        yield from flattened(spec.mechanism, times * spec.times)
    elif spec.kind == "composed":
        for mechanism in spec.mechanisms:
            yield from flattened(mechanism, times)
    else:
        yield spec, times


def composition(spec: Repeated | Composed, case: Case) -> Guarantee:
    """The product of the parts' pairs, upper end and witnesses alike.

    Laws: `repeated(k)` equals `composed` of k copies; order does not matter.

    Raises:
        BeyondBudget: more than 10^15 rounds in all, or the coarsest certified lattice would exceed the budget.
    """
    counts: Counter[Any] = Counter()
    for mechanism, times in flattened(spec):
        counts[mechanism] += times
    if counts.total() > MOST_ROUNDS:
        raise BeyondBudget(
            f"{counts.total():g} rounds in all are more than {MOST_ROUNDS:g}", nearest={"rounds": MOST_ROUNDS}
        )
    parts = [(case.account(mechanism, case.setting), times) for mechanism, times in counts.items()]
    upper = composed_pair([(guarantee.curve.upper, times) for guarantee, times in parts], case.effort)
    curve = Curve(upper, tuple(_composed_witnesses(parts, upper, case.effort)))
    exact = upper.gaussian_dp_mu is not None
    step = (GAUSSIAN if exact else PRODUCT).because(
        *(guarantee.derivation for guarantee, _ in parts), times=[times for _, times in parts]
    )
    declared = tuple(dict.fromkeys(condition for guarantee, _ in parts for condition in guarantee.declared))
    return Guarantee(setting=case.setting, curve=curve, derivation=step, declared=declared)


def _composed_witnesses(parts: Sequence[tuple[Guarantee, int]], upper: Pair, effort: Effort) -> Iterator[Pair]:
    """The i-th instance of every part, run together; a part with fewer repeats its last."""
    if any(not guarantee.curve.witnesses for guarantee, _ in parts):
        return
    for place in range(max(len(guarantee.curve.witnesses) for guarantee, _ in parts)):
        chosen = [
            (guarantee.curve.witnesses[min(place, len(guarantee.curve.witnesses) - 1)], times)
            for guarantee, times in parts
        ]
        realised = all(pair is guarantee.curve.upper for (pair, _), (guarantee, _) in zip(chosen, parts, strict=True))
        yield upper if realised else composed_pair(chosen, effort)


def composed_pair(parts: Sequence[tuple[Pair, int]], effort: Effort) -> Pair:
    """The product pair. Where a part is known by several pairs, each choice is composed and the least is kept."""
    choices = max((len(alternatives_of(pair)) for pair, _ in parts), default=1)
    chosen = [
        [(alternatives_of(pair)[min(place, len(alternatives_of(pair)) - 1)], times) for pair, times in parts]
        for place in range(choices)
    ]
    return least_of([_product(choice, effort) for choice in chosen])


def _product(parts: Sequence[tuple[Pair, int]], effort: Effort) -> Pair:
    """Gaussian parts join in closed form, and so do concentrated ones; few outcomes are enumerated; else an engine."""
    squares = [(pair.gaussian_dp_mu, times) for pair, times in parts if pair.gaussian_dp_mu is not None]
    mu = math.sqrt(math.fsum(times * mu * mu for mu, times in squares))
    concentrated = [(pair, times) for pair, times in parts if isinstance(pair, ConcentratedPair)]
    joined: list[tuple[Pair, int]] = [
        (pair, times) for pair, times in parts if pair.gaussian_dp_mu is None and not isinstance(pair, ConcentratedPair)
    ]
    if concentrated:
        joined.append((composed_concentrated(concentrated), 1))
    if not joined:
        return gaussian_pair(mu)
    if mu > 0 and (pair := enumerated_pair(unfolded(joined))) is not None:
        return beside_gaussian(pair, mu)
    if mu > 0:
        joined.append((gaussian_pair(mu), 1))
    if len(joined) == 1 and joined[0][1] == 1:
        return joined[0][0]
    joined = unfolded(joined)
    if (pair := enumerated_pair(joined)) is not None:
        return with_plateau(pair, composed_plateau(parts))
    lattice = functools.partial(compose, joined, budget=BUDGETS[effort])
    rare = rare_pair(joined, lattice)
    behind = lattice if rare is None else lambda: rare
    exact = exact_pair(joined, behind) or transformed_pair(joined, behind)
    if rare is not None and (exact is None or not _narrow(exact.ends(rare.deviation))):
        return with_plateau(rare, composed_plateau(parts))
    return with_plateau(exact or lattice(), composed_plateau(parts))


def _narrow(ends: Interval) -> bool:
    """Whether an engine knows log δ there, or what is behind it does."""
    return ends.upper - ends.lower <= _KNOWN


THEOREMS: tuple[Theorem, ...] = (PRODUCT, GAUSSIAN)
RULES: tuple[Rule, ...] = (Rule(PRODUCT, "repeated", composition), Rule(PRODUCT, "composed", composition))
