"""A batch of whatever is run on it: what a draw is worth when nothing is known of a batch without the unit.

Of Poisson batches and of batches of fixed size from as many units in both worlds, a given unit is in the batch with
the same probability q, whatever the data. Let R be the law of the output given that it is not: all others are the same,
so R is one law. Let P and Q be the laws given that it is: mixtures, over the others drawn, of the mechanism's laws on
neighbours, so E_γ(P‖Q) ≤ e^{log δ(ε)} by joint convexity, γ = e^ε ≥ 1. Then

    E_γ((1 − q) R + q P ‖ (1 − q) R + q Q) = ∫ ((1 − q)(1 − γ) R + q (P − γ Q))₊ ≤ q E_γ(P‖Q),

and for γ < 1 by duality, in either order. This is the profile of "with probability q the mechanism's pair, else two
equal laws, and one sees which", which therefore dominates and composes. It is attained where R lives apart from P and
Q: where reports carry names, or numbers of records show. ∎

So it may be seen who is drawn. What may not be is a unit that is not there at all (add-or-remove-one), since then what
is compared given that it is drawn are no neighbours in that relation, or its absence shows.
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
from epsilond.accountants.theorems.sampling.subsampling import drawn_mechanism, not_drawn

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.specs import Subsampled

DRAWN_OR_NOT = Theorem(
    id="epsilond.drawn-or-not",
    title="A draw thins losses, whatever the mechanism",
    statement=(
        "Replacing or zeroing a record that is in a batch with probability q: δ'(ε) = q δ(ε) at the same ε, with δ the "
        "mechanism's profile for the same relation, whatever a batch without the record looks like, and though it be "
        "seen who was drawn. It composes as the pair that is the mechanism's with probability q and two equal laws else"
    ),
    source=Source("epsilond", "by joint convexity; proof in this file"),
    status=Status.PROVED,
    conditions=(FRESH_DRAW,),
)


def drawn_or_not_at_all(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """For what no theorem amplifies: reports by name, black boxes and integers under zero-out-one, and the like."""
    if spec.sampling not in ("poisson", "without-replacement"):
        return Refusal(DRAWN_OR_NOT, f"the batch is drawn by {spec.sampling} sampling")
    if refusal := not_drawn(spec.sampling, DRAWN_OR_NOT, spec, case):
        return refusal
    if case.setting.relation == "add-or-remove-one":
        return Refusal(DRAWN_OR_NOT, "the bound of this theorem is for a record that is replaced or zeroed")
    inner = case.account(drawn_mechanism(spec, case.setting), case.setting)
    above, below = (max(Share.of(spec).around), min(Share.of(spec).around))
    upper = thin(inner.curve.upper, above)
    step = DRAWN_OR_NOT.because(inner.derivation, sampling=spec.sampling, rate=spec.inclusion_probability)
    return Guarantee(
        setting=case.setting,
        curve=Curve(upper, _instances(spec, case, inner, upper, below)),
        derivation=step,
        declared=tuple(dict.fromkeys((*inner.declared, FRESH_DRAW))),
    )


def _instances(spec: Subsampled, case: Case, inner: Guarantee, upper: Pair, below: float) -> tuple[Pair, ...]:
    """Reports by name show who is drawn. Integers that are sums do not: zeroed, a record adds nothing either."""
    are_reports = [isinstance(each, CategoryReport) for each in primitives(drawn_mechanism(spec, case.setting))]
    if all(are_reports):
        whole = inner.curve.tight and below == Share.of(spec).rate
        return (upper,) if whole else tuple(thin(pair, below) for pair in inner.curve.witnesses)
    if case.setting.relation == "zero-out-one" and spec.sampling == "poisson" and not any(are_reports):
        return tuple(drawn_or_not(pair, Share.of(spec))[1] for pair in inner.curve.witnesses)
    return ()


THEOREMS: tuple[Theorem, ...] = (DRAWN_OR_NOT,)
RULES: tuple[Rule, ...] = (Rule(DRAWN_OR_NOT, "subsampled", drawn_or_not_at_all),)
