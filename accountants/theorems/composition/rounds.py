"""Composition over rounds.

A mechanism's rounds may depend on what came before; their parameters are fixed in advance. Dominating pairs compose by
their product (Zhu, Dong and Wang 2022, Theorem 10), order by order, and so do the instances that give the lower end.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.errors import BeyondBudget
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.rule import Case, Effort, Rule
from epsilond.accountants.specs import Spec
from epsilond.accountants.theorem import Source, Status, Theorem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from epsilond.accountants.specs import Composed, Repeated, Spec

MOST_ROUNDS = 10**15

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


def flattened(spec: Spec, times: int = 1) -> Iterator[tuple[Spec, int]]:
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
    counts: Counter[Spec] = Counter()
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


THEOREMS: tuple[Theorem, ...] = (PRODUCT, GAUSSIAN)
RULES: tuple[Rule, ...] = (Rule(PRODUCT, "repeated", composition), Rule(PRODUCT, "composed", composition))
