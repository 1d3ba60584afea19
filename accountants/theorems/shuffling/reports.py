"""Shuffled reports: rules for every bound that applies; the account takes the least.

The observer decides. A server that knows the sender of each report gains nothing from their order. Other clients know
their own reports, which then hide no one. All other observers see the reports of a round in random order, and one
client's report is hidden among all. The unit is a client's whole contribution to the round. If a client samples among
its records, a guarantee for one record does not bound how another client's report compares.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.rule import Case, Refusal, Rule
from epsilond.accountants.specs.primitives import CategoryReport
from epsilond.accountants.structure import draws, gaussian_multiplier, of_records
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_rounds import (
    SINGLE_ROUND,
    TRUSTED_SHUFFLER,
)
from epsilond.accountants.theorems.shuffling.clones import response_bound
from epsilond.accountants.theorems.shuffling.closed_form import ClosedFormBound
from epsilond.accountants.theorems.shuffling.counts import two_counts
from epsilond.accountants.theorems.shuffling.finite import response_instance
from epsilond.accountants.theorems.shuffling.gaussian import (
    LEAST_BLANKET,
    GaussianBlanketBound,
    log_blanket_mass,
)
from epsilond.accountants.theorems.shuffling.local_curve import LocalCurve
from epsilond.accountants.theorems.shuffling.local_guarantee import LocalClonesBound
from epsilond.accountants.theorems.shuffling.statements import (
    APPROXIMATE_CLONES,
    BLANKET,
    CLONES,
    GAUSSIAN_BLANKET,
    LOCAL,
    RESPONSE,
    SAME_RANDOMIZER,
    THEOREMS,
)
from epsilond.accountants.theorems.shuffling.tails import PairBound, scaled_pair

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.specs import Shuffled
    from epsilond.accountants.theorem import Step, Theorem
    from epsilond.accountants.theorems.shuffling.tails import ScaledBound

__all__ = ["RULES", "THEOREMS"]

HIDDEN_FROM = frozenset({"shuffled-server", "released-models", "final-model"})
"""Observers who see the shuffler's output, or results computed from it."""

LARGEST_RESPONSE_EPSILON, MOST_CATEGORIES = 500.0, 10**6
"""Largest ε₀ in nats, and largest number of categories, of randomized response."""


def reject_other_relation(theorem: Theorem, case: Case) -> Refusal | None:
    """Reject a neighbouring relation other than replacing one client's contribution.

    Args:
        theorem: the theorem that the refusal names.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        A refusal, an object that says why the theorem does not apply; None for replace-one.
    """
    if case.setting.relation == "replace-one":
        return None
    return Refusal(theorem, "the number of reports is seen, so a contribution is replaced; nothing else is covered")


def reject_without_amplification(theorem: Theorem, spec: Shuffled, case: Case) -> Refusal | None:
    """Reject cases in which no theorem shows that shuffling improves the guarantee of a report.

    These are relations other than replace-one, observers who know the senders, a single client, and the protection of
    records of which a client samples only some.

    Args:
        theorem: the theorem that the refusal names.
        spec: specification of the shuffled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        A refusal, an object with the first reason why the theorem does not apply; None if it may apply.
    """
    if refusal := reject_other_relation(theorem, case):
        return refusal
    if case.setting.observer not in HIDDEN_FROM:
        return Refusal(theorem, f"the observer {case.setting.observer} knows senders, and order hides nothing")
    if spec.clients == 1:
        return Refusal(theorem, "there is no other report to hide among")
    if case.setting.unit == "record" and draws(spec.mechanism):
        return Refusal(theorem, "a client draws among several records, and a record is less than its contribution")
    return None


def attained_pairs(spec: Shuffled, case: Case) -> tuple[Pair, ...]:
    """Return distributions of shuffled reports on concrete neighbouring data sets, for lower bounds on δ.

    They are known for Gaussian reports, by the sum of the reports, and for randomized response, by the numbers of
    reports of some categories. The observer must be the server, which sees the shuffled reports.

    Args:
        spec: specification of the shuffled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        Pairs of distributions; none for other mechanisms and observers.
    """
    mechanism = spec.mechanism
    if case.setting.observer != "shuffled-server":
        return ()
    noise_multiplier = gaussian_multiplier(mechanism)
    if noise_multiplier is not None:
        # A contribution of norm C that is replaced by its opposite shifts the sum by 2C.
        noise_of_sum = noise_multiplier * math.sqrt(spec.clients)
        return (gaussian_pair(2.0 / noise_of_sum),)
    report = mechanism.primitive
    if isinstance(report, CategoryReport) and report.epsilon <= LARGEST_RESPONSE_EPSILON:
        by_two_counts = two_counts(spec.clients, report.epsilon, report.categories)
        by_one_count = response_instance(spec.clients, report.epsilon, report.categories)
        return (*by_two_counts, by_one_count)
    return ()


def local_guarantee(spec: Shuffled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of a single report, which holds after shuffling too.

    Shuffling is a post-processing of the reports, so the upper bound on δ holds. The lower bound of the report holds
    only if the observer knows its sender. Otherwise lower bounds are those of `attained_pairs`.

    Args:
        spec: specification of the shuffled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. For a relation other than replace-one, a refusal with the reason why the theorem does not apply.
    """
    if refusal := reject_other_relation(LOCAL, case):
        return refusal
    inner = case.account(of_records(spec.mechanism), case.setting)
    sender_is_known = case.setting.observer == "server" or spec.clients == 1
    if sender_is_known:
        curve = inner.curve
    else:
        larger_direction = scaled_pair(PairBound(inner.curve.upper))
        curve = Curve(larger_direction, attained_pairs(spec, case))
    step = LOCAL.because(inner.derivation, clients=spec.clients)
    return Guarantee(setting=case.setting, curve=curve, derivation=step, declared=inner.declared)


def _build_guarantee(bound: ScaledBound, inner: Guarantee, step: Step) -> Guarantee:
    """Build the guarantee of shuffled reports from a bound on δ that holds in both directions.

    Args:
        bound: upper bound on δ(ε) of the shuffled reports.
        inner: guarantee of a single report; its relation, unit, observer and declared conditions are kept.
        step: derivation of the bound.

    Returns:
        The guarantee. It declares that the shuffler is trusted, and that all clients run the same randomizer.
    """
    declared = tuple(dict.fromkeys((*inner.declared, TRUSTED_SHUFFLER, SAME_RANDOMIZER)))
    return Guarantee(setting=inner.setting, curve=Curve(scaled_pair(bound)), derivation=step, declared=declared)


def _account_single_report(theorem: Theorem, spec: Shuffled, case: Case) -> tuple[Guarantee, LocalCurve] | Refusal:
    """Account for a single report, unless no theorem shows that shuffling improves its guarantee.

    Args:
        theorem: the theorem that a refusal names.
        spec: specification of the shuffled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee of a single report, and the points (ε₀, δ₀) of its curve. Or a refusal, which says why the theorem
        does not apply.
    """
    if refusal := reject_without_amplification(theorem, spec, case):
        return refusal
    inner = case.account(of_records(spec.mechanism), case.setting)
    return inner, LocalCurve(inner.curve.upper)


def closed_form(spec: Shuffled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of shuffled reports by Theorem F.2 of Lowy and Razaviyayn, for clients with one record each.

    The theorem bounds δ in closed form, from the guarantee of a single report.

    Args:
        spec: specification of the shuffled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. Or a refusal with the reason why the theorem does not apply to the setting.
    """
    local = _account_single_report(SINGLE_ROUND, spec, case)
    if isinstance(local, Refusal):
        return local
    inner, curve = local
    step = SINGLE_ROUND.because(inner.derivation, clients=spec.clients, samples_per_client=1)
    return _build_guarantee(ClosedFormBound(spec.clients, curve), inner, step)


def clones_guarantee(spec: Shuffled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of shuffled ε₀-private reports, each of which hides among clones.

    A clone is another client's report that is distributed like that of the protected client. The reports must be purely
    private, that is, have δ₀ = 0 at some ε₀.

    Args:
        spec: specification of the shuffled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. For other reports and settings, a refusal with the reason why the theorem does not apply.
    """
    local = _account_single_report(CLONES, spec, case)
    if isinstance(local, Refusal):
        return local
    inner, curve = local
    if math.isinf(curve.pure_epsilon):
        return Refusal(CLONES, "a report is not purely private: δ₀ > 0 at every ε₀ up to 700")
    step = CLONES.because(inner.derivation, clients=spec.clients, local_epsilon=curve.pure_epsilon)
    bound = LocalClonesBound(spec.clients, curve, coarse=case.effort == "coarse")
    return _build_guarantee(bound, inner, step)


def approximate_clones_guarantee(spec: Shuffled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of shuffled (ε₀, δ₀)-private reports, each of which hides among clones.

    A clone is another client's report that is distributed like that of the protected client. The theorem is for reports
    with δ₀ > 0 at every ε₀. At each ε the bound is the best over the points (ε₀, δ₀) of the report's curve.

    Args:
        spec: specification of the shuffled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. For other reports and settings, a refusal with the reason why the theorem does not apply.
    """
    local = _account_single_report(APPROXIMATE_CLONES, spec, case)
    if isinstance(local, Refusal):
        return local
    inner, curve = local
    if math.isfinite(curve.pure_epsilon):
        return Refusal(APPROXIMATE_CLONES, "a report is purely private, and there is no δ₀ to account for")
    step = APPROXIMATE_CLONES.because(CLONES.because(clients=spec.clients), inner.derivation, clients=spec.clients)
    bound = LocalClonesBound(spec.clients, curve, coarse=case.effort == "coarse")
    return _build_guarantee(bound, inner, step)


def randomized_response(spec: Shuffled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of shuffled randomized response by its privacy blanket.

    The blanket is the part of a report's distribution that does not depend on the category. The bound is an exact sum
    for two categories, and a certified contour integral for more.

    Args:
        spec: specification of the shuffled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. For other reports and settings, or for parameters that are too large, a refusal with the reason
        why the theorem does not apply.
    """
    if refusal := reject_without_amplification(RESPONSE, spec, case):
        return refusal
    report = spec.mechanism.primitive
    if not isinstance(report, CategoryReport):
        return Refusal(RESPONSE, "the reports are not randomized responses")
    if report.epsilon > LARGEST_RESPONSE_EPSILON or report.categories > MOST_CATEGORIES:
        range_of_bound = f"computed for ε ≤ {LARGEST_RESPONSE_EPSILON:g} and up to {MOST_CATEGORIES:g} categories"
        return Refusal(RESPONSE, range_of_bound)
    inner = case.account(spec.mechanism, case.setting)
    bound = response_bound(spec.clients, report.epsilon, report.categories)
    # For two categories the sum is exact, without the theorem of the privacy blanket.
    premises = [inner.derivation]
    if report.categories > 2:
        premises.insert(0, BLANKET.because(clients=spec.clients))
    step = RESPONSE.because(*premises, clients=spec.clients, categories=report.categories)
    return _build_guarantee(bound, inner, step)


def gaussian_blanket(spec: Shuffled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of shuffled one-dimensional Gaussian reports by their privacy blanket.

    The blanket is the part of a report's distribution that does not depend on the contribution. The largest δ belongs
    to a contribution that is replaced by its opposite.

    Args:
        spec: specification of the shuffled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. For other reports and settings, or if too few clients are in the blanket on average, a refusal
        with the reason why the theorem does not apply.
    """
    if refusal := reject_without_amplification(GAUSSIAN_BLANKET, spec, case):
        return refusal
    noise_multiplier = gaussian_multiplier(spec.mechanism)
    if noise_multiplier is None:
        return Refusal(GAUSSIAN_BLANKET, "the reports are not single Gaussian releases")
    if spec.dimension != 1:
        return Refusal(
            GAUSSIAN_BLANKET, "computed for dimension 1; what reports share falls like e^(−√dimension/noise_multiplier)"
        )

    log_blanket_clients = log_blanket_mass(noise_multiplier) + math.log(spec.clients)
    if log_blanket_clients < math.log(LEAST_BLANKET):
        return Refusal(GAUSSIAN_BLANKET, f"fewer than {LEAST_BLANKET:g} clients are in the blanket on average")

    inner = case.account(of_records(spec.mechanism), case.setting)
    premise = BLANKET.because(clients=spec.clients)
    step = GAUSSIAN_BLANKET.because(premise, inner.derivation, clients=spec.clients, noise_multiplier=noise_multiplier)
    return _build_guarantee(GaussianBlanketBound(spec.clients, noise_multiplier), inner, step)


RULES: tuple[Rule, ...] = (
    Rule(LOCAL, "shuffled", local_guarantee, combines=True),
    Rule(SINGLE_ROUND, "shuffled", closed_form, combines=True),
    Rule(CLONES, "shuffled", clones_guarantee, combines=True),
    Rule(APPROXIMATE_CLONES, "shuffled", approximate_clones_guarantee, combines=True),
    Rule(RESPONSE, "shuffled", randomized_response, combines=True),
    Rule(GAUSSIAN_BLANKET, "shuffled", gaussian_blanket, combines=True),
)
