"""The recommended entry of a plan with the reasons for it, and the price of every kind of trust.

Entries are compared by their remaining share: an upper bound on the fraction of the start's excess risk that is left.
If a bound on the excess risk with explicit constants is known, the share is that bound over the bound of the start
(such as L·D). Otherwise the noise is compared with the signal. Let ν be the norm of the noise in a round's mean over
the bound on the norm of the mean. R rounds of steps leave a share of √((1 + ν²)/R), by `epsilond.averaged-noisy-steps`
for one gradient step per round. For other steps this is a measure of the noise, not a bound. A share of 1 or more says
nothing.

Guarantees of different kinds are not ranked. The recommendation names its kind, and `trusts` gives the price of the
others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, get_args

from epsilond.accountants.statements.settings import TRUSTED, join_statements, state_guarantee
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import as_json, number_of
from epsilond.calibrators.planning.answer import Recommendation, TrustPrice
from epsilond.calibrators.planning.choices import choices_of
from epsilond.calibrators.planning.problem import Trust
from epsilond.calibrators.serving.long_runs import LONG_RUN

if TYPE_CHECKING:
    from epsilond.calibrators.planning.answer import PlanEntry
    from epsilond.calibrators.planning.problem import PlanProblem

TRUSTS: tuple[Trust, ...] = get_args(Trust)
"""Kinds of trust, the least trust first."""
TRUST_RANKS: Mapping[Trust, int] = {"local": 0, "shuffle": 1, "joint": 2, "central": 2}
"""Rank of each kind by the trust that it requires. The last two trust the server, and differ in the observer."""


def name_of(entry: PlanEntry) -> str:
    """Return the name of an entry: that of its algorithm, with the variant in parentheses if there are several."""
    return entry.algorithm + (f" ({entry.variant})" if entry.variant else "")


def share_of(entry: PlanEntry) -> float:
    """Return the remaining share of an entry; infinite if it is unknown."""
    return math.inf if entry.remaining_share is None else float(entry.remaining_share)


def is_informative(entry: PlanEntry) -> bool:
    """Decide whether an algorithm's entry in a plan may be ranked.

    It may not be ranked if it exceeds a limit of the plan, or if its bound shows no improvement over the initial model.
    The latter is so if the bound on the excess risk is no better than that of the initial model (`vacuous`), or if the
    estimated share of the initial risk that remains (`remaining_share`) is at least 1.

    Args:
        entry: one algorithm with its calibration for the plan. `vacuous` marks a bound that is no better than the
            initial one, and `exceeds` has the limits that the run exceeds.

    Returns:
        True if all of these conditions hold.
    """
    if entry.vacuous or entry.exceeds:
        return False
    return entry.remaining_share is None or share_of(entry) < 1.0


def usable_entries(entries: Iterable[PlanEntry]) -> list[PlanEntry]:
    """Return the entries that apply, keep to the plan's limits, and leave a known share below 1 of the initial risk."""
    applying = [entry for entry in entries if entry.applies == Verdict.YES]
    return [entry for entry in applying if is_informative(entry) and share_of(entry) < 1.0]


def recommend(plan: PlanProblem, entries: Sequence[PlanEntry]) -> Recommendation:
    """Recommend the entry that needs the least trust among those with nearly the least remaining risk.

    The remaining share is the bound on the excess risk over the bound for the initial model. Without such a bound it is
    a measure of the noise. "Nearly" means within the factor 1 + `within` of the plan. Among entries of equal trust, the
    one with the fewest rounds is chosen, and then the one with the least share.

    Entries with the plan's objective take precedence over all others. Among these, entries with a proved bound on the
    risk take precedence over entries with only a measure of the noise.

    Args:
        plan: the plan, with the objective of the risk and the tolerance `within`.
        entries: all entries of the answer; an entry is one algorithm with its calibration.

    Returns:
        The recommendation with its reasons; without an entry, but with the reason, if no entry is usable.
    """
    candidates = usable_entries(entries)
    if not candidates:
        return Recommendation(why=_reason_for_none(entries))

    # Prefer the plan's objective, and then proved bounds on the risk.
    if plan.objective is not None:
        with_objective = [entry for entry in candidates if entry.objective == plan.objective]
        candidates = with_objective or candidates
    with_proved_risk = [entry for entry in candidates if entry.basis == "risk"]
    candidates = with_proved_risk or candidates

    # Of the entries with nearly the least share, choose the one with the least trust, rounds and share.
    least_share = min(share_of(entry) for entry in candidates)
    nearly_best = [entry for entry in candidates if share_of(entry) <= (1.0 + plan.within) * least_share]

    def preference(entry: PlanEntry) -> tuple[int, int, float]:
        """Return the sorting key of an entry: the trust that it requires, its rounds, and its remaining share."""
        return TRUST_RANKS[entry.guarantee.definition], entry.rounds or 0, share_of(entry)

    best = min(nearly_best, key=preference)
    why = " ".join(_reasons(plan, best, entries))
    return Recommendation(entry=name_of(best), why=why, choices=choices_of(plan, best))


def trusts(plan: PlanProblem, entries: Sequence[PlanEntry]) -> tuple[TrustPrice, ...]:
    """Compare the kinds of trust that a plan accepts: return the best entry of each, with the price of that trust.

    Entries with a proved bound on the risk are preferred to those with only a measure of the noise. The price is the
    entry's remaining share of the initial risk over the least share of all returned entries.

    Args:
        plan: the plan, which may restrict the kinds of trust.
        entries: all entries of the answer; an entry is one algorithm with its calibration.

    Returns:
        One description for each accepted kind, the least trust first. It has no entry if none of this kind is usable.
    """
    accepted = [trust for trust in TRUSTS if plan.trust is None or trust in plan.trust]
    usable = usable_entries(entries)
    best_of_trust = {}
    for definition in accepted:
        with_trust = [entry for entry in usable if entry.guarantee.definition == definition]
        with_proved_risk = [entry for entry in with_trust if entry.basis == "risk"]
        if with_trust:
            best_of_trust[definition] = min(with_proved_risk or with_trust, key=share_of)
    least_share = min((share_of(entry) for entry in best_of_trust.values()), default=math.inf)
    return tuple(_price(definition, best_of_trust.get(definition), least_share) for definition in accepted)


def _price(definition: Trust, best: PlanEntry | None, least: float) -> TrustPrice:
    """Return the best algorithm for one kind of trust, and the price of this trust in remaining risk.

    The remaining share is the bound on the excess risk over that of the initial model, or without bounds a measure of
    the noise. The price is the remaining share of this algorithm, divided by the least one of all accepted kinds.

    Args:
        definition: the kind of trust.
        best: the algorithm with its calibration ("entry") that is best of this kind; None if none is usable.
        least: the least remaining share of all accepted kinds.

    Returns:
        The description for the answer, without a price if there is no entry.
    """
    in_words = f"Trusted: {TRUSTED[definition]}."
    if best is None:
        return TrustPrice(definition=definition, in_words=in_words)
    return TrustPrice(
        definition=definition,
        in_words=in_words,
        best=name_of(best),
        guarantee=best.guarantee,
        remaining_share=share_of(best),
        basis=best.basis,
        price=share_of(best) / least,
    )


def _reasons(plan: PlanProblem, best: PlanEntry, entries: Sequence[PlanEntry]) -> Iterator[str]:
    """Yield the sentences that justify a recommendation.

    They are about guarantee, risk, warnings, noise, traffic and other trust models.

    Args:
        plan: the plan, which may restrict the kinds of trust.
        best: the recommended entry.
        entries: all entries, for the comparison with other kinds of trust.

    Yields:
        Complete sentences, in the order of the answer. Those for which a figure is missing are left out.
    """
    # The guarantee, without the sentences on sampling.
    kind = best.guarantee
    statements = state_guarantee(
        definition=kind.definition, observer=kind.observer, unit=kind.unit, relation=kind.relation
    )
    stated_guarantee = join_statements([statement for statement in statements if statement.about != "sampling"])
    yield f"{name_of(best)} is recommended. {stated_guarantee}"

    # The risk, with warnings about the run.
    yield _risk_sentence(best)
    yield from _long_run_sentences(best)

    # The noise and the traffic, where they are known.
    if best.noise_to_signal is not None:
        yield f"The noise in the mean of a round has {best.noise_to_signal:.3g} times the largest norm of that mean."
    if best.bytes_per_client is not None and best.reports_per_client is not None:
        traffic = describe_bytes(best.bytes_per_client)
        yield f"A client reports {best.reports_per_client:.3g} times and sends {traffic} in all."

    # The other kinds of trust.
    rivals = [price for price in trusts(plan, entries) if price.best is not None]
    prices = [_price_in_words(price, best) for price in rivals if price.definition != kind.definition]
    if prices:
        yield f"Remaining shares under other trust models, relative to this one: {', '.join(prices)}."


def _long_run_sentences(best: PlanEntry) -> Iterator[str]:
    """Yield the warning of the calibration that the run is long, if there is one.

    Args:
        best: the recommended entry, with its calibration.

    Yields:
        At most one sentence.
    """
    if best.calibration is None:
        return
    for warning in as_json(best.calibration)["warnings"]:
        if warning["code"] == LONG_RUN:
            yield f"Mind that {warning['message']}."


def _risk_sentence(best: PlanEntry) -> str:
    """Write the sentence about the share of the initial risk that remains, by the risk bound or by the noise.

    Args:
        best: the recommended entry, of which the remaining share is known.

    Returns:
        One or two sentences, each with its final full stop.
    """
    rounds = _describe_rounds(best.rounds)
    if best.risk is None or best.basis != "risk":
        return (
            f"No bound on its risk is known here. By its noise against the signal, a share of {share_of(best):.2g} "
            f"of the excess risk of the start is left after {rounds}."
        )
    assert best.risk.baseline is not None  # the basis of the share is the risk over the baseline
    value = float(number_of(best.risk.value))
    return (
        f"After {rounds} its excess risk ({best.objective}) is at most {value:.3g}, where the start "
        f"has at most {best.risk.baseline}: {share_of(best):.2g} of it is left."
    )


def _price_in_words(price: TrustPrice, best: PlanEntry) -> str:
    """Write the remaining share under another kind of trust, relative to that of the recommended entry.

    Args:
        price: the best entry of the other kind of trust, with its remaining share of the initial risk.
        best: the recommended entry.

    Returns:
        A phrase with the ratio, the entry and the unit that it protects.
    """
    ratio = float(price.remaining_share or 0.0) / share_of(best)
    unit = "" if price.guarantee is None else price.guarantee.unit
    return f"{price.definition} {ratio:.3g} times as much ({price.best}, of a {unit})"


def _reason_for_none(entries: Sequence[PlanEntry]) -> str:
    """Write the sentence that says why no entry is recommended, with advice.

    An entry is one algorithm with its calibration for the plan.

    Args:
        entries: all entries; none of them is usable.

    Returns:
        One sentence or two, for the first reason that holds: no algorithm applies, none keeps to the limits, none has a
        known remaining share, or none is proved to improve on the initial model.
    """
    # Each step keeps the entries that pass one requirement, and gives the reason if none does.
    applying = [entry for entry in entries if entry.applies == Verdict.YES]
    if not applying:
        return "No algorithm applies: the entries name the missing fields or other reasons of each."
    within_limits = [entry for entry in applying if not entry.exceeds]
    if not within_limits:
        return "No algorithm keeps to the limits of the plan: the entries say which they exceed."
    measured = [entry for entry in within_limits if entry.remaining_share is not None]
    if not measured:
        return (
            "No figure can be computed for the effect of the noise: give dimension, and lipschitz with diameter for "
            "bounds on the risk."
        )
    least = min(measured, key=share_of)
    return (
        f"No algorithm is proved to be better than no training: {name_of(least)} comes closest, with a remaining "
        f"share of {share_of(least):.3g}. A larger ε, more participants, more records or fewer coordinates help."
    )


def _describe_rounds(count: int | None) -> str:
    """Return a number of rounds in words; `its rounds` if it is unknown."""
    if count is None:
        return "its rounds"
    return "one round" if count == 1 else f"{count} rounds"


def describe_bytes(count: float) -> str:
    """Return a number of bytes in words, rounded to three significant digits.

    Args:
        count: the number of bytes.

    Returns:
        The number with the first of the units bytes, kB, MB, …, PB in which it rounds to less than 1000, or with EB.
    """
    for unit in ("bytes", "kB", "MB", "GB", "TB", "PB"):
        if count < 999.5:  # from here on, three digits would be rounded to 1000
            return f"{count:.3g} {unit}"
        count /= 1000.0
    return f"{count:.3g} EB"
