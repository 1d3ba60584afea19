"""Poisson sampling under replace-one, exactly, from the dominating pairs of removing and of replacing a record.

With P₀ = M(S), P₁ = M(S ∪ a) and Q₁ = M(S ∪ b), the outputs are (1 − q) P₀ + q P₁ and (1 − q) P₀ + q Q₁, and with
γ = 1 + (γ' − 1)/q, β = γ'/γ:

    E_γ'(…) = q E_{P₁}[(1 − γ((1 − β) W₀ + β W₁))₊],   W₀ = dP₀/dP₁,  W₁ = dQ₁/dP₁.

Let (P₁, P₀) be dominated by a pair with W₀*, and (P₁, Q₁) by a pair with W₁*. Then W₀ and W₁ are below W₀* and W₁* in
convex order, because E(1 − γW)₊ is a hockey-stick divergence and the means agree. A sum is largest in convex order if
both W* are comonotone. For noise on a line this is the pair of two opposite contributions (docs/shifted-noise.md,
Rising together).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.laplace import opposite_laplace_pair
from epsilond.accountants.profiles.sampling.inclusion import Share
from epsilond.accountants.rule import Case, Refusal, Rule
from epsilond.accountants.specs.primitives import NoisySum
from epsilond.accountants.structure import draws
from epsilond.accountants.theorem import Source, Status, Theorem
from epsilond.accountants.theorems.sampling.batch_instances import opposite_contributions, opposite_gaussian
from epsilond.accountants.theorems.sampling.draw_checks import drawn_mechanism, reject_other_draw
from epsilond.accountants.theorems.sampling.subsampling import amplified_guarantee

if TYPE_CHECKING:
    from epsilond.accountants.specs import Spec, Subsampled

COMONOTONE = Theorem(
    id="epsilond.poisson-replace-one-comonotone",
    title="Poisson sampling under replace-one, from removal and replacement together",
    statement=(
        "Let ν_s be Laplace or Gaussian noise shifted by s. Let a shift by s dominate the removal of a record, "
        "and a shift by 2s its replacement. Then (1 − q) ν₀ + q ν_s against (1 − q) ν₀ + q ν_{−s} dominates a "
        "Poisson batch under replace-one. Contributions of C and −C, with all others zero, realise it"
    ),
    source=Source("epsilond", "docs/shifted-noise.md, Rising together"),
    status=Status.PROVED,
)


def comonotone_pair(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of Poisson sampling under replace-one, for a Laplace release or several Gaussian releases.

    The dominating pair of output distributions belongs to a record with the contribution C that is replaced by one with
    −C, while all other contributions are zero. Neighbouring data sets attain the pair, so the bound is exact.

    Args:
        spec: specification of the subsampled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. For other mechanisms, samplings and relations, a refusal with the reason why the theorem does not
        apply.
    """
    if refusal := reject_other_draw("poisson", COMONOTONE, spec, case):
        return refusal
    if case.setting.relation != "replace-one":
        return Refusal(COMONOTONE, "the pair of this theorem is for a record that is replaced")
    mechanism, share = drawn_mechanism(spec, case.setting), Share.of(spec)
    primitive = mechanism.primitive
    if isinstance(primitive, NoisySum) and primitive.distribution == "laplace":
        inner = case.account(mechanism, case.setting)
        pair = opposite_laplace_pair(share.rate, 1.0 / primitive.multiplier, absent=share.absent)
        return amplified_guarantee(inner, Curve(pair, (pair,)), COMONOTONE, spec)
    return _account_gaussian_releases(mechanism, share, spec, case)


def _account_gaussian_releases(mechanism: Spec, share: Share, spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of several Gaussian releases of one Poisson batch under replace-one.

    The worst case is a record that contributes s to the sum, and whose replacement contributes −s. Removing a record
    shifts the output by at most r, and replacing it by at most t, both in standard deviations of the noise. Then
    s = max(r, t/2).

    Args:
        mechanism: the mechanism on the batch.
        share: inclusion probability of a record, with the doubles around it.
        spec: the subsampled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. For other mechanisms, or if every record is in the batch, a refusal with the reason.
    """
    if draws(mechanism) or mechanism.kind not in ("repeated", "composed"):
        return Refusal(COMONOTONE, "proved for a Laplace base, and for several Gaussian releases of one batch")

    # For Gaussian releases, μ is the shift in standard deviations of the noise.
    inner = case.account(mechanism, case.setting)
    removed = case.account(mechanism, replace(case.setting, relation="add-or-remove-one"))
    removal_mu = removed.curve.upper.gaussian_dp_mu
    replacement_mu = inner.curve.upper.gaussian_dp_mu
    if removal_mu is None or replacement_mu is None or share.rate == 1.0:
        return Refusal(COMONOTONE, "the mechanism on the batch is not a run of Gaussian releases")

    # Rounded up by more than the errors of both μ and of the product, for the upper bound.
    shift = max(removal_mu, 0.5 * replacement_mu) * (1.0 + 8 * UNIT_ROUNDOFF)
    upper, _ = opposite_gaussian(shift, share)
    lower_bound_pairs = opposite_contributions(mechanism, share, inner)
    return amplified_guarantee(inner, Curve(upper, lower_bound_pairs), COMONOTONE, spec)


THEOREMS: tuple[Theorem, ...] = (COMONOTONE,)
RULES: tuple[Rule, ...] = (Rule(COMONOTONE, "subsampled", comonotone_pair),)
