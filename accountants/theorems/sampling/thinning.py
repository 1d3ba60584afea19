"""Subsampling of an arbitrary mechanism, without assumptions on a batch that does not contain the unit.

In a Poisson batch, and in a batch of fixed size from the same number of units in both data sets, a unit is in the batch
with the same probability q for all data. Let R be the output distribution given that the unit is not in the batch. All
other units are equal, so R is the same for both data sets. Let P and Q be the output distributions given that it is in
the batch. They are mixtures, over the other members, of the mechanism's distributions on neighbours, so
E_γ(P‖Q) ≤ δ(ε) with γ = e^ε ≥ 1 by joint convexity. Then

    E_γ((1 − q) R + q P ‖ (1 − q) R + q Q) = ∫ ((1 − q)(1 − γ) R + q (P − γ Q))₊ ≤ q E_γ(P‖Q),

and for γ < 1 by duality, in both directions. This is the profile of the following pair, which therefore dominates and
composes: with probability q the mechanism's pair, otherwise two equal distributions, and the case is observed. It is
attained if R is singular to P and Q, for example if reports carry names, or if the number of records is observed. ∎

So the members of a batch may be public. The bound does not cover add-or-remove-one: the data sets, given that the unit
is drawn, are then not neighbours in that relation, or the absence of the unit is observed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.profiles.amplification import Share, drawn_or_not, thin
from epsilond.accountants.rule import Case, Refusal, Rule
from epsilond.accountants.specs.primitives import CategoryReport
from epsilond.accountants.structure import FRESH_DRAW, primitives
from epsilond.accountants.theorem import Source, Status, Theorem
from epsilond.accountants.theorems.sampling.subsampling import drawn_mechanism, reject_other_draw

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.specs import Subsampled

DRAWN_OR_NOT = Theorem(
    id="epsilond.drawn-or-not",
    title="Subsampling multiplies δ by q at the same ε, for every mechanism",
    statement=(
        "A record is in a batch with probability q. Replacing or zeroing it has δ'(ε) = q δ(ε) at the same ε. "
        "Here δ is the mechanism's profile for the same relation. Batches without the record are arbitrary, "
        "and the draw may be public. It composes as the pair that is the mechanism's with probability q, and "
        "two equal distributions otherwise"
    ),
    source=Source("epsilond", "by joint convexity; proof in this file"),
    status=Status.PROVED,
    conditions=(FRESH_DRAW,),
)


def thinned_guarantee(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee q δ(ε) at the same ε, with q the inclusion probability of a record.

    It serves mechanisms whose ε no theorem reduces by subsampling. Examples are reports under a name, mechanisms of
    which only (ε, δ) is known, and integers under zero-out-one.

    Args:
        spec: the subsampled mechanism.
        case: the requested setting and effort.
    """
    if spec.sampling not in ("poisson", "without-replacement"):
        return Refusal(DRAWN_OR_NOT, f"the batch is drawn by {spec.sampling} sampling")
    if refusal := reject_other_draw(spec.sampling, DRAWN_OR_NOT, spec, case):
        return refusal
    if case.setting.relation == "add-or-remove-one":
        return Refusal(DRAWN_OR_NOT, "the bound of this theorem is for a record that is replaced or zeroed")
    inner = case.account(drawn_mechanism(spec, case.setting), case.setting)
    lower_rate, upper_rate = Share.of(spec).around
    upper = thin(inner.curve.upper, upper_rate)
    step = DRAWN_OR_NOT.because(inner.derivation, sampling=spec.sampling, rate=spec.inclusion_probability)
    return Guarantee(
        setting=case.setting,
        curve=Curve(upper, _instances(spec, case, inner, upper, lower_rate)),
        derivation=step,
        declared=tuple(dict.fromkeys((*inner.declared, FRESH_DRAW))),
    )


def _instances(spec: Subsampled, case: Case, inner: Guarantee, upper: Pair, lower_rate: float) -> tuple[Pair, ...]:
    """Return pairs that neighbouring data sets attain, for lower bounds on δ.

    Reports under a name show the members of the batch, and attain the upper pair. In sums of integers a zeroed record
    and a record that is not drawn both add zero, and the pair is that of Poisson sampling. Other cases have no pair.

    Args:
        spec: the subsampled mechanism.
        case: the requested setting and effort.
        inner: guarantee of the mechanism on the batch.
        upper: the dominating pair of the subsampled mechanism.
        lower_rate: largest double that is at most the inclusion probability.
    """
    mechanism = drawn_mechanism(spec, case.setting)
    share = Share.of(spec)
    are_reports = [isinstance(primitive, CategoryReport) for primitive in primitives(mechanism)]
    if all(are_reports):
        rate_is_double = lower_rate == share.rate
        if inner.curve.tight and rate_is_double:
            return (upper,)
        return tuple(thin(pair, lower_rate) for pair in inner.curve.witnesses)
    is_zeroed_in_poisson_batch = case.setting.relation == "zero-out-one" and spec.sampling == "poisson"
    if is_zeroed_in_poisson_batch and not any(are_reports):
        return tuple(drawn_or_not(pair, share)[1] for pair in inner.curve.witnesses)
    return ()


THEOREMS: tuple[Theorem, ...] = (DRAWN_OR_NOT,)
RULES: tuple[Rule, ...] = (Rule(DRAWN_OR_NOT, "subsampled", thinned_guarantee),)
