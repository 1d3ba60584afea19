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


def not_replaced(theorem: Theorem, case: Case) -> Refusal | None:
    """Return a refusal for a relation other than replacing one client's contribution.

    A refusal is an object that says why a theorem does not apply.

    Args:
        theorem: the theorem that the refusal names.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The refusal; None for replace-one.
    """
    if case.setting.relation == "replace-one":
        return None
    return Refusal(theorem, "the number of reports is seen, so a contribution is replaced; nothing else is covered")


def not_hidden(theorem: Theorem, spec: Shuffled, case: Case) -> Refusal | None:
    """Return a refusal if shuffling amplifies nothing for the requested relation, unit and observer.

    A refusal is an object that says why a theorem does not apply. Shuffling amplifies nothing for a relation other than
    replace-one, and for an observer who knows the senders. The same holds for a single client, and for records of which
    a client samples only some.

    Args:
        theorem: the theorem that the refusal names.
        spec: specification of the shuffled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The first reason for a refusal; None if the theorem may apply.
    """
    if refusal := not_replaced(theorem, case):
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

    They are known for Gaussian reports and for randomized response, if the server sees the shuffled reports. Of
    Gaussian reports the sum is used, and of randomized responses the numbers of some categories.

    Args:
        spec: specification of the shuffled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        Pairs of distributions; an empty tuple for other mechanisms and observers.
    """
    mechanism = spec.mechanism
    if case.setting.observer != "shuffled-server":
        return ()
    noise_multiplier = gaussian_multiplier(mechanism)
    if noise_multiplier is not None:
        # The sum of the reports, for two opposite contributions of norm C.
        noise_of_sum = noise_multiplier * math.sqrt(spec.clients)
        return (gaussian_pair(2.0 / noise_of_sum),)
    report = mechanism.primitive
    if isinstance(report, CategoryReport) and report.epsilon <= LARGEST_RESPONSE_EPSILON:
        by_two_counts = two_counts(spec.clients, report.epsilon, report.categories)
        by_one_count = response_instance(spec.clients, report.epsilon, report.categories)
        return (*by_two_counts, by_one_count)
    return ()


def local_guarantee(spec: Shuffled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of a single report, which holds after shuffling too; or a refusal.

    Shuffling is a post-processing of the reports. The lower bounds are the report's own if the observer knows its
    sender. Otherwise they are the bounds of `attained_pairs`.

    Args:
        spec: specification of the shuffled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. It is a refusal, which says why the theorem does not apply, for a relation other than
        replace-one.
    """
    if refusal := not_replaced(LOCAL, case):
        return refusal
    inner = case.account(of_records(spec.mechanism), case.setting)
    # If the sender is known, the report's own lower bounds hold too. Otherwise only its upper bound does.
    sender_is_known = case.setting.observer == "server" or spec.clients == 1
    if sender_is_known:
        curve = inner.curve
    else:
        larger_direction = scaled_pair(PairBound(inner.curve.upper))
        curve = Curve(larger_direction, attained_pairs(spec, case))
    step = LOCAL.because(inner.derivation, clients=spec.clients)
    return Guarantee(setting=case.setting, curve=curve, derivation=step, declared=inner.declared)


def _guarantee_of(bound: ScaledBound, inner: Guarantee, step: Step) -> Guarantee:
    """Return the guarantee of shuffled reports from a bound on δ that holds in both directions.

    Args:
        bound: upper bound on δ(ε) of the shuffled reports.
        inner: guarantee of a single report; its relation, unit, observer and declared conditions are kept.
        step: derivation of the bound.

    Returns:
        The guarantee. It declares that the shuffler is trusted, and that all clients run the same randomizer.
    """
    declared = tuple(dict.fromkeys((*inner.declared, TRUSTED_SHUFFLER, SAME_RANDOMIZER)))
    return Guarantee(setting=inner.setting, curve=Curve(scaled_pair(bound)), derivation=step, declared=declared)


def _local_curve(theorem: Theorem, spec: Shuffled, case: Case) -> tuple[Guarantee, LocalCurve] | Refusal:
    """Return the guarantee of a single report and its points (ε₀, δ₀), or a refusal if shuffling amplifies nothing.

    A refusal is an object that says why a theorem does not apply.

    Args:
        theorem: the theorem that the refusal names.
        spec: specification of the shuffled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee and its points, or the refusal.
    """
    if refusal := not_hidden(theorem, spec, case):
        return refusal
    inner = case.account(of_records(spec.mechanism), case.setting)
    return inner, LocalCurve(inner.curve.upper)


def closed_form(spec: Shuffled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee by Theorem F.2 of Lowy and Razaviyayn, for clients with one record each; or a refusal.

    The theorem bounds δ of shuffled reports in closed form, from the guarantee of a single report.

    Args:
        spec: specification of the shuffled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. It is a refusal, which says why the theorem does not apply, if shuffling amplifies nothing.
    """
    local = _local_curve(SINGLE_ROUND, spec, case)
    if isinstance(local, Refusal):
        return local
    inner, curve = local
    step = SINGLE_ROUND.because(inner.derivation, clients=spec.clients, samples_per_client=1)
    return _guarantee_of(ClosedFormBound(spec.clients, curve), inner, step)


def clones_guarantee(spec: Shuffled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of shuffled ε₀-private reports by hiding each among clones; or a refusal.

    A clone is another client's report that is distributed like that of the protected client. The reports must be purely
    private, that is, have δ₀ = 0 at some ε₀.

    Args:
        spec: specification of the shuffled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. It is a refusal, which says why the theorem does not apply, for other reports and settings.
    """
    local = _local_curve(CLONES, spec, case)
    if isinstance(local, Refusal):
        return local
    inner, curve = local
    if math.isinf(curve.pure_epsilon):
        return Refusal(CLONES, "a report is not purely private: δ₀ > 0 at every ε₀ up to 700")
    step = CLONES.because(inner.derivation, clients=spec.clients, local_epsilon=curve.pure_epsilon)
    bound = LocalClonesBound(spec.clients, curve, coarse=case.effort == "coarse")
    return _guarantee_of(bound, inner, step)


def approximate_clones_guarantee(spec: Shuffled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of shuffled (ε₀, δ₀)-private reports by hiding each among clones; or a refusal.

    A clone is another client's report that is distributed like that of the protected client. The theorem is for reports
    with δ₀ > 0 at every ε₀. At each ε the bound is the best over the points (ε₀, δ₀) of the report's curve.

    Args:
        spec: specification of the shuffled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. It is a refusal, which says why the theorem does not apply, for other reports and settings.
    """
    local = _local_curve(APPROXIMATE_CLONES, spec, case)
    if isinstance(local, Refusal):
        return local
    inner, curve = local
    if math.isfinite(curve.pure_epsilon):
        return Refusal(APPROXIMATE_CLONES, "a report is purely private, and there is no δ₀ to account for")
    step = APPROXIMATE_CLONES.because(CLONES.because(clients=spec.clients), inner.derivation, clients=spec.clients)
    bound = LocalClonesBound(spec.clients, curve, coarse=case.effort == "coarse")
    return _guarantee_of(bound, inner, step)


def randomized_response(spec: Shuffled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of shuffled randomized response by its privacy blanket, or a refusal.

    The blanket is the part of a report's distribution that does not depend on the category. The bound is an exact sum
    for two categories, and a certified contour integral for more.

    Args:
        spec: specification of the shuffled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. It is a refusal, which says why the theorem does not apply, for other reports, units and
        observers. It also is a refusal for parameters that are too large to compute.
    """
    if refusal := not_hidden(RESPONSE, spec, case):
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
    return _guarantee_of(bound, inner, step)


def gaussian_blanket(spec: Shuffled, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of shuffled one-dimensional Gaussian reports by their privacy blanket, or a refusal.

    The blanket is the part of a report's distribution that does not depend on the contribution. The worst neighbours
    have opposite contributions.

    Args:
        spec: specification of the shuffled mechanism.
        case: the requested neighbouring relation, protected unit and observer, and the limit on the work.

    Returns:
        The guarantee. It is a refusal, which says why the theorem does not apply, for other reports, units and
        observers. It also is a refusal if too few clients are in the blanket on average.
    """
    if refusal := not_hidden(GAUSSIAN_BLANKET, spec, case):
        return refusal
    noise_multiplier = gaussian_multiplier(spec.mechanism)
    if noise_multiplier is None:
        return Refusal(GAUSSIAN_BLANKET, "the reports are not single Gaussian releases")
    if spec.dimension != 1:
        return Refusal(
            GAUSSIAN_BLANKET, "computed for dimension 1; what reports share falls like e^(−√dimension/noise_multiplier)"
        )

    # The bound needs enough clients with reports from the blanket, on average.
    log_blanket_clients = log_blanket_mass(noise_multiplier) + math.log(spec.clients)
    if log_blanket_clients < math.log(LEAST_BLANKET):
        return Refusal(GAUSSIAN_BLANKET, f"fewer than {LEAST_BLANKET:g} clients are in the blanket on average")

    inner = case.account(of_records(spec.mechanism), case.setting)
    premise = BLANKET.because(clients=spec.clients)
    step = GAUSSIAN_BLANKET.because(premise, inner.derivation, clients=spec.clients, noise_multiplier=noise_multiplier)
    return _guarantee_of(GaussianBlanketBound(spec.clients, noise_multiplier), inner, step)


RULES: tuple[Rule, ...] = (
    Rule(LOCAL, "shuffled", local_guarantee, combines=True),
    Rule(SINGLE_ROUND, "shuffled", closed_form, combines=True),
    Rule(CLONES, "shuffled", clones_guarantee, combines=True),
    Rule(APPROXIMATE_CLONES, "shuffled", approximate_clones_guarantee, combines=True),
    Rule(RESPONSE, "shuffled", randomized_response, combines=True),
    Rule(GAUSSIAN_BLANKET, "shuffled", gaussian_blanket, combines=True),
)
