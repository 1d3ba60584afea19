"""Poisson sampling under replace-one, for sums of contributions of bounded norm with any noise.

Let P₀ = M(S), P₁ = M(S ∪ a) and Q₁ = M(S ∪ b) be the output distributions given the other records in the batch. The
two outputs are (1 − q) P₀ + q P₁ and (1 − q) P₀ + q Q₁. With γ = 1 + (γ' − 1)/q and β = γ'/γ, advanced joint convexity
gives:

    E_γ'(…) = q E_γ(P₁ ‖ (1 − β) P₀ + β Q₁) ≤ q ((1 − β) E_γ(P₁ ‖ P₀) + β E_γ(P₁ ‖ Q₁)).

P₁ against Q₁ is a replacement, and P₁ against P₀ a removal. If removing a record is replacing it by a contribution of
zero, both are at most the replace-one profile, in both directions. So the bound is q δ(ε) in both directions, and the
symmetrised pair composes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.profiles.amplification import amplify_symmetrically
from epsilond.accountants.profiles.sampling.inclusion import Share
from epsilond.accountants.rule import Case, Refusal, Rule
from epsilond.accountants.structure import SECRET_DRAW, removing_is_replacing
from epsilond.accountants.theorem import Condition, Source, Status, Theorem
from epsilond.accountants.theorems.sampling.batch_instances import opposite_contributions
from epsilond.accountants.theorems.sampling.draw_checks import drawn_mechanism, reject_other_draw
from epsilond.accountants.theorems.sampling.subsampling import amplified_guarantee

if TYPE_CHECKING:
    from epsilond.accountants.specs import Subsampled

REMOVING_IS_REPLACING = Condition(
    "removing-is-replacing",
    "the base mechanism adds noise to sums of bounded contributions, in batches of no fixed size (checked on the spec)",
)
CONVEXITY = Theorem(
    id="epsilond.poisson-replace-one-by-convexity",
    title="Poisson sampling under replace-one, by joint convexity",
    statement=(
        "Let removing a record be replacing it by one that contributes zero. Then δ'(ε') = q δ(log(1 + (e^ε' − "
        "1)/q)) with δ the base profile for replace-one. It is the same in both directions, and composed as "
        "the symmetrised pair"
    ),
    source=Source("epsilond", "by advanced joint convexity: Balle, Barthe and Gaboardi 2018, Theorem 2"),
    status=Status.PROVED,
    conditions=(REMOVING_IS_REPLACING, SECRET_DRAW),
)


def convexity_bound(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of Poisson sampling under replace-one that follows from joint convexity of the divergence.

    With the privacy profile δ of the mechanism for replace-one and the inclusion probability q, the profile is:

        δ'(ε') = q δ(log(1 + (e^ε' − 1)/q)).

    It is for mechanisms that add noise to sums of bounded contributions.

    Args:
        spec: specification of the subsampled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. For other samplings and relations, or if removing a record may change the output more than
        replacing it, a refusal with the reason why the theorem does not apply.
    """
    if refusal := reject_other_draw("poisson", CONVEXITY, spec, case):
        return refusal
    if case.setting.relation != "replace-one":
        return Refusal(CONVEXITY, "the bound of this theorem is for a record that is replaced")
    mechanism = drawn_mechanism(spec, case.setting)
    if not removing_is_replacing(mechanism, case.setting.unit):
        return Refusal(CONVEXITY, "removing a record may do more than replacing it, and nothing bounds it here")

    inner = case.account(mechanism, case.setting)
    share = Share.of(spec)
    upper = amplify_symmetrically(inner.curve.upper, share)
    attained = opposite_contributions(mechanism, share, inner)  # pairs of concrete neighbours, for lower bounds
    return amplified_guarantee(inner, Curve(upper, attained), CONVEXITY, spec)


THEOREMS: tuple[Theorem, ...] = (CONVEXITY,)
RULES: tuple[Rule, ...] = (Rule(CONVEXITY, "subsampled", convexity_bound),)
