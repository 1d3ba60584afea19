"""Subsampling of an arbitrary mechanism, without assumptions on a batch that does not contain the unit.

In a Poisson batch, and in a batch of fixed size from the same number of units in both data sets, a unit is in the batch
with the same probability q for all data. Let R be the output distribution given that the unit is not in the batch. All
other units are equal, so R is the same for both data sets. Let P and Q be the output distributions given that it is in
the batch. They are mixtures, over the other members, of the mechanism's distributions on neighbours, so
E_γ(P‖Q) ≤ δ(ε) with γ = e^ε ≥ 1 by joint convexity. Then:

    E_γ((1 − q) R + q P ‖ (1 − q) R + q Q) = ∫ ((1 − q)(1 − γ) R + q (P − γ Q))₊ ≤ q E_γ(P‖Q),

and for γ < 1 by duality, in both directions. This is the profile of the following pair, which therefore dominates and
composes: with probability q the mechanism's pair, otherwise two equal distributions, and the case is observed. It is
attained if R is singular to P and Q, for example if reports carry names, or if the number of records is observed. ∎

It is also approached by integers, scores and queries that may depend on the batch in any way. A sensitivity limits
their differences between neighbours in the request's relation, and a batch without the unit is not one of
them. Let the integers of batches without the unit be far from all others. Or let a third candidate have by far the
largest score there, or a first query be far above the threshold there only. R becomes singular as the distance grows.
So no smaller bound holds for these kinds under replace-one or zero-out-one. Amplification needs a declaration about
removal.

So the members of a batch may be public. The bound does not cover add-or-remove-one: the data sets, given that the unit
is drawn, are then not neighbours in that relation, or the absence of the unit is observed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.profiles.amplification import subsample_pair
from epsilond.accountants.profiles.sampling.inclusion import Share
from epsilond.accountants.profiles.thinned import thin
from epsilond.accountants.rule import Case, Refusal, Rule
from epsilond.accountants.specs.primitives import (
    CategoryReport,
    NoisyIntegers,
    ScoredChoice,
    ShiftedIntegers,
    ThresholdAnswers,
)
from epsilond.accountants.structure import FRESH_DRAW, draws, primitives
from epsilond.accountants.theorem import Source, Status, Theorem
from epsilond.accountants.theorems.sampling.draw_checks import drawn_mechanism, reject_other_draw

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.specs import Spec, Subsampled

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
    """Return the guarantee (ε, q δ(ε)) of a subsampled mechanism, where q is the inclusion probability of a record.

    Only δ is reduced. The theorem is for mechanisms for which no theorem reduces ε by subsampling. Examples are reports
    under a name, mechanisms of which only (ε, δ) is known, and integers under zero-out-one.

    Args:
        spec: specification of the subsampled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. For other kinds of sampling, and for add-or-remove-one, a refusal with the reason.
    """
    if spec.sampling not in ("poisson", "without-replacement"):
        return Refusal(DRAWN_OR_NOT, f"the batch is drawn by {spec.sampling} sampling")
    if refusal := reject_other_draw(spec.sampling, DRAWN_OR_NOT, spec, case):
        return refusal
    if case.setting.relation == "add-or-remove-one":
        return Refusal(DRAWN_OR_NOT, "the bound of this theorem is for a record that is replaced or zeroed")
    inner = case.account(drawn_mechanism(spec, case.setting), case.setting)
    _, upper_rate = Share.of(spec).around  # the inclusion probability, rounded up
    upper = thin(inner.curve.upper, upper_rate)
    step = DRAWN_OR_NOT.because(inner.derivation, sampling=spec.sampling, rate=spec.inclusion_probability)
    return Guarantee(
        setting=case.setting,
        curve=_with_instances(spec, case, inner, upper),
        derivation=step,
        declared=tuple(dict.fromkeys((*inner.declared, FRESH_DRAW))),
    )


def _with_instances(spec: Subsampled, case: Case, inner: Guarantee, upper: Pair) -> Curve:
    """Return the privacy curve of a subsampled mechanism, with output distributions on neighbours for lower bounds.

    If reports carry the name of their sender, the observer sees who is in the batch. Then some neighbours attain the
    upper bound. Integers, scores and queries that may depend on the batch in any way come arbitrarily close to it.
    Other mechanisms have lower bounds only under zero-out-one in a Poisson batch. There, a record may have the same
    effect whether it is set to zero or left out.

    Args:
        spec: the subsampled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.
        inner: guarantee of the mechanism on the batch.
        upper: dominating pair of the subsampled mechanism, which gives the upper bound on δ.

    Returns:
        The curve with the upper bound on δ, and the pairs for lower bounds, of which there may be none.
    """
    mechanism = drawn_mechanism(spec, case.setting)
    share = Share.of(spec)
    are_reports = all(isinstance(primitive, CategoryReport) for primitive in primitives(mechanism))
    if are_reports or _is_free_without_unit(mechanism):
        lower_rate, upper_rate = share.around
        if not inner.curve.tight or lower_rate < upper_rate:
            return Curve(upper, tuple(thin(pair, lower_rate) for pair in inner.curve.single_witnesses))
        further_witnesses = [pair for pair in inner.curve.witnesses if pair is not inner.curve.upper]
        further_instances = [thin(pair, lower_rate) for pair in further_witnesses]
        return Curve(upper, (upper, *further_instances), pointwise=inner.curve.pointwise)
    is_zeroed_in_poisson_batch = case.setting.relation == "zero-out-one" and spec.sampling == "poisson"
    if is_zeroed_in_poisson_batch and not _has_reports(mechanism):
        attained_pairs: list[Pair] = []
        for pair in inner.curve.witnesses:
            _, attained = subsample_pair(pair, share)
            attained_pairs.append(attained)
        return Curve(upper, tuple(attained_pairs))
    return Curve(upper, ())


def _has_reports(mechanism: Spec) -> bool:
    """Return whether a part of the mechanism is a report under the name of a unit (record or client)."""
    return any(isinstance(primitive, CategoryReport) for primitive in primitives(mechanism))


def _is_free_without_unit(mechanism: Spec) -> bool:
    """Return whether an output may show with certainty that a record or client (the unit) is in the batch.

    Some outputs are then possible only with the unit, and all others only without it. This is true for integers,
    scores and queries that may depend on the batch in any way: a suitable function of the batch reveals the unit. It is
    false if the mechanism samples again, because it may then miss the unit.

    Args:
        mechanism: the mechanism that is run on the batch.

    Returns:
        True if all parts of the mechanism may depend on the batch in any way, and none samples again.
    """
    if draws(mechanism):
        return False
    may_depend_freely = NoisyIntegers | ShiftedIntegers | ScoredChoice | ThresholdAnswers
    return all(isinstance(primitive, may_depend_freely) for primitive in primitives(mechanism))


THEOREMS: tuple[Theorem, ...] = (DRAWN_OR_NOT,)
RULES: tuple[Rule, ...] = (Rule(DRAWN_OR_NOT, "subsampled", thinned_guarantee),)
