"""k-ary randomized response, exactly."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.finite_law import FiniteLaw
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.plateaus import pure_plateau
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.kinds.kind import MechanismKind
from epsilond.accountants.numerics.renyi_divergence import divergence_of_atoms
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.atoms import AtomicProfile
from epsilond.accountants.quantities import Categories, Epsilon, RenyiOrder, delta_outputs, request
from epsilond.accountants.rule import Case, Refusal, Rule
from epsilond.accountants.specs import RandomizedResponse
from epsilond.accountants.structure import ONE_REPORT
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem


@request
class RandomizedResponseInputs:
    """One report, and the order of its Rényi divergence."""

    epsilon: Epsilon
    categories: Categories
    order: RenyiOrder = 2.0


def response_pair(epsilon: float, categories: int) -> Pair:
    """Return the distributions of the randomized-response reports of two clients with different categories.

    The privacy loss is ε for a report of the first client's category, and −ε for that of the second client. It is 0 for
    each of the other k − 2 categories. If the first client reports, these losses have the probabilities e^ε/S, 1/S and
    (k − 2)/S, where S = e^ε + k − 1.

    Args:
        epsilon: privacy parameter ε > 0 of a report, in nats.
        categories: number k ≥ 2 of categories.

    Returns:
        The two distributions with their privacy losses. They are the same in both directions.
    """
    # Logarithms of the probabilities of a true report, and of a report of one other category.
    log_true = -math.log1p((categories - 1) * math.exp(-epsilon))
    log_false = log_true - epsilon
    losses: tuple[float, ...] = (-epsilon, epsilon)
    log_masses: tuple[float, ...] = (log_false, log_true)
    # Reports of a third category do not distinguish the two clients. Their log probability is a sum of which the terms
    # may cancel: the sum of their sizes, over 1 plus the size of the result, bounds the loss of digits.
    cancellation = 0.0
    if categories > 2:
        log_third_categories = math.log(categories - 2)
        log_others = log_third_categories + log_true - epsilon
        losses = (-epsilon, 0.0, epsilon)
        log_masses = (log_false, log_others, log_true)
        cancellation = (log_third_categories - log_true + epsilon) / (1.0 + abs(log_others))

    profile = AtomicProfile(losses, log_masses)
    # Bound on the error of a log probability, per unit of 1 plus its size.
    accuracy = 8 * UNIT_ROUNDOFF * (1.0 + cancellation)
    atoms = FiniteLaw(losses, log_masses, log_masses[::-1], accuracy=accuracy)
    return Pair(profile, profile, atoms=atoms, plateau=pure_plateau(Fraction(epsilon)))


def report(inputs: RandomizedResponseInputs) -> Outputs:
    """Compute the probability of a true report, and two divergences between the reports of two categories.

    Args:
        inputs: ε of a report, number of categories, and order of the Rényi divergence.

    Returns:
        `true_report_probability`, `renyi_divergence` (an upper bound, in nats), and δ at ε = 0 as `advantage`, with its
        logarithm.
    """
    pair = response_pair(inputs.epsilon, inputs.categories)
    outcomes = pair.atoms
    assert outcomes is not None  # `response_pair` lists its outcomes
    losses = np.asarray(outcomes.losses)
    log_second = np.asarray(outcomes.log_first) - losses
    divergence = divergence_of_atoms(inputs.order, log_second, losses)
    log_advantage = float(pair.log_delta(np.zeros(1)).upper[0])
    log_true = outcomes.log_first[-1]
    return {
        "true_report_probability": math.exp(log_true),
        "renyi_divergence": divergence.upper,
        **delta_outputs(log_advantage, "advantage"),
    }


EXACT = Theorem(
    id="epsilond.randomized-response",
    title="Randomized response over k categories, exactly",
    statement=(
        "Replacing a record's category: losses ε, −ε and 0 of probabilities e^ε, 1 and k − 2 over e^ε + k − 1; "
        "δ(ε') = (e^ε − e^ε')₊/(e^ε + k − 1)"
    ),
    source=Source("epsilond", "by enumeration of the k reports"),
    status=Status.PROVED,
    conditions=(ONE_REPORT,),
    inputs=RandomizedResponseInputs,
    formula=report,
    examples=({"epsilon": 1.0, "categories": 2}, {"epsilon": 2.0, "categories": 10, "order": 1.5}),
)
ZEROED_IS_ANSWERED = Condition(
    "zeroed-is-answered", "a zeroed record is answered as some category would be, chosen at random or not"
)
ZEROED = Theorem(
    id="epsilond.randomized-response-zeroed",
    title="Randomized response to a zeroed record",
    statement=(
        "A report drawn from any mixture of categories is no farther from another than two categories are. A "
        "zeroed record that is answered as one fixed category attains the bound"
    ),
    source=Source("epsilond", "by joint convexity"),
    status=Status.PROVED,
    conditions=(ONE_REPORT, ZEROED_IS_ANSWERED),
)


def randomized_response(spec: RandomizedResponse, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of randomized response, which two records with different categories attain.

    Under zero-out-one the zeroed record is answered as some category c, fixed or random. If c is fixed, and the record
    has another category, the two reports have the distributions of two categories, so the bound is attained.
    Add-or-remove-one has no guarantee, because an absent record sends no report.

    Args:
        spec: the mechanism, with ε of a report and the number of categories.
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.

    Returns:
        The guarantee; a refusal under add-or-remove-one.
    """
    relation = case.setting.relation
    if relation == "add-or-remove-one":
        return Refusal(EXACT, "whether a record reports at all is not hidden, so adding or removing one has no bound")
    pair = response_pair(spec.epsilon, spec.categories)
    curve = Curve(pair, (pair,))
    step = EXACT.because(epsilon=spec.epsilon, categories=spec.categories)
    if relation == "replace-one":
        return Guarantee(setting=case.setting, curve=curve, derivation=step, declared=(ONE_REPORT,))
    declared = (ONE_REPORT, ZEROED_IS_ANSWERED)
    return Guarantee(setting=case.setting, curve=curve, derivation=ZEROED.because(step), declared=declared)


THEOREMS: tuple[Theorem, ...] = (EXACT, ZEROED)
RULES: tuple[Rule, ...] = (Rule(EXACT, "randomized_response", randomized_response),)
KIND = MechanismKind(
    sentence="randomised response among {categories} categories with ε = {epsilon}".format_map,
    at_noise=lambda noise: RandomizedResponse(epsilon=1.0 / noise, categories=4),
)
