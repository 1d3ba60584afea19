"""Composition over rounds.

A round may depend on the outputs of earlier rounds. The parameters of all rounds are fixed in advance. Dominating pairs
compose by their product, in each direction (Zhu, Dong and Wang 2022, Theorem 10). So do the witnesses of lower bounds.
"""

from __future__ import annotations

import itertools
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
"""Largest number of rounds of a composition; counts up to it are exact in a double."""

PRODUCT = Theorem(
    id="zhu-dong-wang-2022.10",
    title="Adaptive composition of dominating pairs",
    statement="If (P_i, Q_i) dominates mechanism i given all earlier outputs, their product dominates the composition",
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


def flatten(spec: Spec, times: int = 1) -> Iterator[tuple[Spec, int]]:
    """Yield each mechanism inside nested repetitions and compositions, with its number of runs.

    Args:
        spec: spec of a mechanism, or of a repetition or composition of mechanisms.
        times: number of runs of the whole spec, at least 1.

    Yields:
        The spec of each mechanism that is neither repeated nor composed, and the number of its runs. A mechanism that
        occurs in several places is yielded for each of them.
    """
    if spec.kind == "repeated":
        yield from flatten(spec.mechanism, times * spec.times)
    elif spec.kind == "composed":
        for mechanism in spec.mechanisms:
            yield from flatten(mechanism, times)
    else:
        yield spec, times


def composition(spec: Repeated | Composed, case: Case) -> Guarantee:
    """Return the guarantee of a composition, from the products of the mechanisms' dominating pairs.

    A dominating pair is two distributions with a hockey-stick divergence that bounds δ of a mechanism. The product of
    these pairs over all runs dominates the composition. Lower bounds on δ follow from the products of witnesses, that
    is, pairs of output distributions on some neighbours.

    Equal mechanisms are counted together. So a repetition of k runs has the same guarantee as a composition of k equal
    mechanisms.

    Args:
        spec: the repeated or composed mechanisms.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee of all runs together.

    Raises:
        BeyondBudget: there are more than `MOST_ROUNDS` rounds, or the coarsest certified lattice exceeds the limit on
            the work.
    """
    counts: Counter[Spec] = Counter()
    for mechanism, times in flatten(spec):
        counts[mechanism] += times
    rounds = counts.total()
    if rounds > MOST_ROUNDS:
        reason = f"{rounds:g} rounds in all are more than {MOST_ROUNDS:g}"
        raise BeyondBudget(reason, nearest={"rounds": MOST_ROUNDS})

    guarantees = [case.account(mechanism, case.setting) for mechanism in counts]
    runs = list(counts.values())
    dominating = [guarantee.curve.upper for guarantee in guarantees]
    upper = composed_pair(list(zip(dominating, runs, strict=True)), case.effort)
    parts = list(zip(guarantees, runs, strict=True))
    curve = Curve(upper, tuple(_compose_witnesses(parts, upper, case.effort)))

    theorem = PRODUCT if upper.gaussian_dp_mu is None else GAUSSIAN
    step = theorem.because(*(guarantee.derivation for guarantee in guarantees), times=runs)
    all_conditions = itertools.chain.from_iterable(guarantee.declared for guarantee in guarantees)
    declared = tuple(dict.fromkeys(all_conditions))
    return Guarantee(setting=case.setting, curve=curve, derivation=step, declared=declared)


def _compose_witnesses(parts: Sequence[tuple[Guarantee, int]], upper: Pair, effort: Effort) -> Iterator[Pair]:
    """Yield pairs of distributions for lower bounds on δ of a composition, as products of the mechanisms' witnesses.

    A witness is a pair of output distributions that a mechanism has on some neighbours. The first product is of the
    first witness of each mechanism, the second product of the second witness, and so on. A mechanism with fewer
    witnesses repeats its last one. Mechanisms without a witness are left out. Dropping their outputs is
    post-processing, so the product of the remaining ones still gives a lower bound.

    Args:
        parts: the guarantee of each mechanism, and its number of runs.
        upper: the product of the dominating pairs, which bounds δ from above. It is yielded itself if every chosen
            witness is its mechanism's dominating pair.
        effort: limit on the work of one δ.

    Yields:
        One product for each index of a witness, up to the largest number of witnesses of a mechanism. Nothing is
        yielded if no mechanism has a witness.
    """
    curves = [guarantee.curve for guarantee, _ in parts if guarantee.curve.witnesses]
    runs = [times for guarantee, times in parts if guarantee.curve.witnesses]
    all_have_witnesses = len(curves) == len(parts)
    most_witnesses = max((len(curve.witnesses) for curve in curves), default=0)
    for index in range(most_witnesses):
        witnesses = [curve.witnesses[min(index, len(curve.witnesses) - 1)] for curve in curves]
        are_dominating = all(witness is curve.upper for witness, curve in zip(witnesses, curves, strict=True))
        if all_have_witnesses and are_dominating:
            yield upper
        else:
            yield composed_pair(list(zip(witnesses, runs, strict=True)), effort)


THEOREMS: tuple[Theorem, ...] = (PRODUCT, GAUSSIAN)
RULES: tuple[Rule, ...] = (Rule(PRODUCT, "repeated", composition), Rule(PRODUCT, "composed", composition))
