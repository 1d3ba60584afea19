"""Poisson sampling and sampling without replacement: which relation each amplifies in, and by which pair.

For replace-one the amplified profile holds in both orders, and it is the *symmetrised* pair that may be composed; the
larger of two one-sided compositions is no bound (docs/engine-certificate.md).

A smaller ε needs a batch that hides who is in it, and a batch without the unit that is as near to one with it as two
batches that differ in it. Where the words of the spec do not say so much, `thinning` answers.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.pair import Pair, with_plateau
from epsilond.accountants.curve.plateaus import amplify_plateau
from epsilond.accountants.guarantee import Guarantee, Setting
from epsilond.accountants.profiles.amplification import Share, amplified_in_both_orders, drawn_or_not
from epsilond.accountants.rule import Case, Refusal, Rule
from epsilond.accountants.specs import Spec, Subsampled
from epsilond.accountants.structure import (
    NO_ORDER,
    SECRET_DRAW,
    drawn_level,
    draws,
    gaussian_multiplier,
    left_out_is_the_same,
    may_tell_places,
    misfit,
    of_records,
    open_level,
    parts,
    removing_is_replacing,
    sees_clients_drawn,
    tells_places,
    zeroing_is_replacing,
)
from epsilond.accountants.theorem import Source, Status, Theorem
from epsilond.accountants.theorems.sampling.batch_instances import (
    fixed_batch,
    opposite_gaussian,
    zeroed_in_a_batch,
)

if TYPE_CHECKING:
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.theorem import Condition

FULL_BATCH = Theorem(
    id="epsilond.full-batch",
    title="A full batch",
    statement="A batch that always holds every record is no sampling: the base guarantee stands unchanged",
    source=Source("epsilond", "by definition"),
    status=Status.PROVED,
)
POISSON = Theorem(
    id="balle-barthe-gaboardi-2018.8",
    title="Amplification by Poisson sampling",
    statement=(
        "Adding or removing one record changes the output law between (1 − q) Q + q P and Q, where (P, Q) dominates "
        "the base mechanism with and without it; hence δ'(ε') = q δ(log(1 + (e^ε' − 1)/q)) for removal"
    ),
    source=Source("balle2018privacy", "Theorem 8"),
    status=Status.PROVED,
    conditions=(SECRET_DRAW,),
)
WITHOUT_REPLACEMENT = Theorem(
    id="balle-barthe-gaboardi-2018.9",
    title="Amplification by sampling without replacement",
    statement=(
        "Replacing one record: δ'(ε') = (K/n) δ(log(1 + (e^ε' − 1) n/K)) with δ the base profile for replace-one; "
        "the same in both orders, and composed as the symmetrised pair"
    ),
    source=Source("balle2018privacy", "Theorem 9"),
    status=Status.PROVED,
    conditions=(SECRET_DRAW, NO_ORDER),
)
POISSON_REPLACE_ONE = Theorem(
    id="epsilond.poisson-replace-one",
    title="Poisson sampling under replace-one, for the Gaussian mechanism",
    statement=(
        "(1 − q) N(0, σ²) + q N(C, σ²) against (1 − q) N(0, σ²) + q N(−C, σ²) dominates every pair of neighbours, in "
        "any dimension"
    ),
    source=Source("epsilond", "docs/engine-certificate.md, Poisson replace-one"),
    status=Status.PROVED,
    conditions=(SECRET_DRAW,),
)
ZEROED_IS_REPLACED = Theorem(
    id="epsilond.zeroed-is-replaced",
    title="Zeroing a record is one way of replacing it",
    statement="A contribution of zero is within every norm bound, so a replace-one guarantee covers zero-out-one",
    source=Source("epsilond", "by definition"),
    status=Status.PROVED,
)


def not_drawn(sampling: str, theorem: Theorem, spec: Subsampled, case: Case) -> Refusal | None:
    """Refuse a batch that is drawn in another way, of other things than are protected, or before everyone's eyes."""
    if spec.sampling != sampling:
        return Refusal(theorem, f"the batch is drawn by {spec.sampling} sampling")
    level, unit = drawn_level(spec, case.setting.unit), case.setting.unit
    if level != f"{unit}s":
        return Refusal(theorem, f"{level} are drawn where a {unit} is protected")
    if observes_draw(spec, case.setting):
        return Refusal(theorem, f"the observer {case.setting.observer} sees which clients are drawn")
    return not_covered(theorem, spec, case)


def not_covered(theorem: Theorem, spec: Subsampled, case: Case) -> Refusal | None:
    """Refuse a batch that what is run on it cannot have, and a draw inside whose two readings have no common bound."""
    if reason := misfit(spec, drawn_level(spec, case.setting.unit)):
        return Refusal(theorem, reason)
    return unclear_draw(theorem, spec, case)


def unclear_draw(theorem: Theorem, spec: Subsampled, case: Case) -> Refusal | None:
    """Refuse, for a client, a draw inside that is left open and that of records is no bound for that of clients.

    The guarantee of a client whose records are drawn is that of the client. It covers a draw of clients too, unless
    that may put another client in place of one that is absent, or count one several times.
    """
    if case.setting.unit != "client" or spec.level == "records":
        return None
    for part in parts(spec.mechanism):
        if not isinstance(part, Subsampled) or part.level is not None or not part.may_be_of_records:
            continue
        if not left_out_is_the_same(part.sampling, case.setting.relation):
            message = f"what is drawn by {part.sampling} sampling inside is left open: say level records or clients"
            return Refusal(theorem, message)
    return None


def observes_draw(spec: Subsampled, setting: Setting) -> bool:
    """Whether the observer knows which units were drawn: of records a client draws in private nobody does."""
    return drawn_level(spec, setting.unit) == "clients" and sees_clients_drawn(setting.observer, spec.sampling)


def drawn_mechanism(spec: Subsampled, setting: Setting) -> Spec:
    """The mechanism that is run on the batch: below a draw of records, and in a client, what it draws are records.

    For a record below a draw of clients it stays open, and is covered as any other open draw is.
    """
    of_clients = setting.unit == "record" and drawn_level(spec, "record") == "clients"
    return spec.mechanism if of_clients else of_records(spec.mechanism)


def full_batch(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """Every record is in every batch: the base guarantee, unchanged."""
    if spec.sampling == "with-replacement" or spec.inclusion_probability < 1.0:
        return Refusal(FULL_BATCH, "the batch leaves records out")
    if spec.sampling == "without-replacement" and spec.batch_size is not None:
        level = drawn_level(spec, case.setting.unit)
        if case.setting.relation == "add-or-remove-one" and (level == f"{case.setting.unit}s" or open_level(spec)):
            return Refusal(FULL_BATCH, "a batch of fixed size from n + 1 or n records: no valid pair is known")
    if refusal := unclear_draw(FULL_BATCH, spec, case):
        return refusal
    for_client = case.setting.unit == "client" and draws(spec.mechanism)
    inner = case.account(drawn_mechanism(spec, case.setting) if for_client else spec.mechanism, case.setting)
    step = FULL_BATCH.because(inner.derivation)
    return Guarantee(setting=case.setting, curve=inner.curve, derivation=step, declared=inner.declared)


def poisson(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """Both orders, tight where the base is: for add-or-remove-one of any mechanism, for zero-out-one of sums.

    To a sum a zeroed record adds what one that was not drawn adds, so that both relations have the same pair.
    """
    if refusal := not_drawn("poisson", POISSON, spec, case):
        return refusal
    if case.setting.relation == "replace-one":
        return Refusal(POISSON, "the pair of this theorem is for a record that is added, removed or zeroed")
    mechanism = drawn_mechanism(spec, case.setting)
    if case.setting.relation == "zero-out-one" and not removing_is_replacing(mechanism, case.setting.unit):
        return Refusal(POISSON, "a record that is not drawn may do less than one that is drawn and zeroed")
    inner = case.account(mechanism, case.setting)
    share = Share.of(spec)
    upper, realised = drawn_or_not(inner.curve.upper, share)
    if inner.curve.tight:
        return amplified(inner, Curve(upper, (realised,)), POISSON, spec)
    instances = tuple(drawn_or_not(pair, share)[1] for pair in inner.curve.witnesses)
    return amplified(inner, Curve(upper, instances), POISSON, spec)


def poisson_replace_one(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """The symmetric pair of mixtures, which neighbours realise. Gaussian base only.

    Proof: docs/engine-certificate.md. For α ≥ 1 the divergence is E[F(w₀X₀ + w₁X₁)] with F convex and X lognormal;
    every covariance is largest at two opposite contributions of norm C, so Kahane's inequality applies.
    """
    if refusal := not_drawn("poisson", POISSON_REPLACE_ONE, spec, case):
        return refusal
    if case.setting.relation != "replace-one":
        return Refusal(POISSON_REPLACE_ONE, "the pair of this theorem is for a record that is replaced")
    noise_multiplier = gaussian_multiplier(spec.mechanism)
    if noise_multiplier is None:
        return Refusal(POISSON_REPLACE_ONE, "proved for a Gaussian base mechanism only")
    inner = case.account(spec.mechanism, case.setting)
    pair, realised = opposite_gaussian(1.0 / noise_multiplier, Share.of(spec))
    return amplified(inner, Curve(pair, (realised,)), POISSON_REPLACE_ONE, spec)


def without_replacement(spec: Subsampled, case: Case) -> Guarantee | Refusal:
    """The symmetrised profile, its lower end given by instances.

    Where noise is added to a sum: all other records as the one it is replaced by (a one-sided mixture), and for a
    bound on the norm of a contribution all others at zero (a symmetric one).
    """
    if refusal := not_drawn("without-replacement", WITHOUT_REPLACEMENT, spec, case):
        return refusal
    if refusal := no_replacement_guarantee(WITHOUT_REPLACEMENT, spec, case):
        return refusal
    replaced = Setting(relation="replace-one", unit=case.setting.unit, observer=case.setting.observer)
    inner = case.account(drawn_mechanism(spec, case.setting), replaced)
    share = Share.of(spec)
    plateau = amplify_plateau(inner.curve.upper.plateau, Fraction(share.around[1]))
    upper = with_plateau(amplified_in_both_orders(inner.curve.upper, share), plateau)
    guarantee = amplified(inner, Curve(upper, ()), WITHOUT_REPLACEMENT, spec)
    if case.setting.relation == "replace-one":
        return for_relation(guarantee, case.setting, fixed_batch(spec, inner, share))
    zeroed = case.account(drawn_mechanism(spec, case.setting), case.setting)
    return for_relation(guarantee, case.setting, zeroed_in_a_batch(spec.mechanism, zeroed, share))


def no_replacement_guarantee(theorem: Theorem, spec: Subsampled, case: Case) -> Refusal | None:
    """Refuse a relation in which nothing is known of replacing a record in a batch of fixed size, as a set."""
    if case.setting.relation == "add-or-remove-one":
        return Refusal(theorem, "a batch of fixed size from n or n − 1 records: no valid pair is known")
    if case.setting.relation == "zero-out-one" and not zeroing_is_replacing(spec.mechanism):
        return Refusal(theorem, "needs a guarantee for replacing a record, and the numbers given are for zeroing one")
    if tells_places(spec.mechanism):
        return Refusal(theorem, "what is put out tells who is in the batch, or which place in it is whose")
    return None


def for_relation(guarantee: Guarantee, setting: Setting, instances: tuple[Pair, ...]) -> Guarantee:
    """A replace-one guarantee, or the same bound for zero-out-one, with what neighbours in that relation realise."""
    replaced = setting.relation == "replace-one"
    step = guarantee.derivation if replaced else ZEROED_IS_REPLACED.because(guarantee.derivation)
    curve = Curve(guarantee.curve.upper, instances)
    return Guarantee(setting=setting, curve=curve, derivation=step, declared=guarantee.declared)


def amplified(inner: Guarantee, curve: Curve, theorem: Theorem, spec: Subsampled) -> Guarantee:
    """The guarantee of a batch that hides who is in it, resting on that of the base mechanism."""
    step = theorem.because(inner.derivation, sampling=spec.sampling, rate=spec.inclusion_probability)
    ordered = spec.sampling != "poisson" and may_tell_places(spec.mechanism)
    own: tuple[Condition, ...] = (SECRET_DRAW, NO_ORDER) if ordered else (SECRET_DRAW,)
    declared = tuple(dict.fromkeys((*inner.declared, *own)))
    return Guarantee(setting=inner.setting, curve=curve, derivation=step, declared=declared)


THEOREMS: tuple[Theorem, ...] = (
    FULL_BATCH,
    POISSON,
    WITHOUT_REPLACEMENT,
    POISSON_REPLACE_ONE,
    ZEROED_IS_REPLACED,
)
RULES: tuple[Rule, ...] = (
    Rule(FULL_BATCH, "subsampled", full_batch),
    Rule(POISSON, "subsampled", poisson),
    Rule(POISSON_REPLACE_ONE, "subsampled", poisson_replace_one),
    Rule(WITHOUT_REPLACEMENT, "subsampled", without_replacement),
)
