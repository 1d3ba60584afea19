"""k-ary randomized response, exactly."""

from __future__ import annotations

import math

import numpy as np

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.facts import FiniteLaw
from epsilond.accountants.curve.pair import Pair
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
    """Return the pair of the reports of two clients with different categories.

    The loss is ε for a report of the first category, −ε for one of the second, and 0 for any other report.

    Args:
        epsilon: ε of a report.
        categories: number of categories.
    """
    log_true = -math.log1p((categories - 1) * math.exp(-epsilon))
    losses, log_masses = [-epsilon, epsilon], [log_true - epsilon, log_true]
    cancellation = 0.0
    if categories > 2:
        losses.insert(1, 0.0)
        log_masses.insert(1, math.log(categories - 2) + log_true - epsilon)
        cancellation = (math.log(categories - 2) - log_true + epsilon) / (1.0 + abs(log_masses[1]))
    profile = AtomicProfile(tuple(losses), tuple(log_masses))
    accuracy = 8 * UNIT_ROUNDOFF * (1.0 + cancellation)
    atoms = FiniteLaw(tuple(losses), tuple(log_masses), tuple(reversed(log_masses)), accuracy=accuracy)
    return Pair(profile, profile, atoms=atoms)


def report(inputs: RandomizedResponseInputs) -> Outputs:
    """Compute the probability of a true report, δ at ε = 0, and the Rényi divergence between two categories."""
    pair = response_pair(inputs.epsilon, inputs.categories)
    law = pair.atoms
    assert law is not None
    losses = np.asarray(law.losses)
    divergence = divergence_of_atoms(inputs.order, np.asarray(law.log_first) - losses, losses)
    advantage = float(pair.log_delta(np.zeros(1)).upper[0])
    return {
        "true_report_probability": math.exp(law.log_first[-1]),
        "renyi_divergence": divergence.upper,
        **delta_outputs(advantage, "advantage"),
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
    statement="A report drawn from any mixture of categories is no farther from another than two categories are",
    source=Source("epsilond", "by joint convexity"),
    status=Status.PROVED,
    conditions=(ONE_REPORT, ZEROED_IS_ANSWERED),
)


def randomized_response(spec: RandomizedResponse, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of a report of a category, which two records with different categories attain; or a refusal.

    Add-or-remove-one has no guarantee, because an absent record sends no report.

    Args:
        spec: the mechanism.
        case: the requested setting and effort.
    """
    if case.setting.relation == "add-or-remove-one":
        return Refusal(EXACT, "whether a record reports at all is not hidden, so adding or removing one has no bound")
    pair = response_pair(spec.epsilon, spec.categories)
    step = EXACT.because(epsilon=spec.epsilon, categories=spec.categories)
    if case.setting.relation == "replace-one":
        return Guarantee(setting=case.setting, curve=Curve(pair, (pair,)), derivation=step, declared=(ONE_REPORT,))
    declared = (ONE_REPORT, ZEROED_IS_ANSWERED)
    return Guarantee(setting=case.setting, curve=Curve(pair), derivation=ZEROED.because(step), declared=declared)


THEOREMS: tuple[Theorem, ...] = (EXACT, ZEROED)
RULES: tuple[Rule, ...] = (Rule(EXACT, "randomized_response", randomized_response),)
KIND = MechanismKind(
    sentence="randomised response among {categories} categories with ε = {epsilon}".format_map,
    at_noise=lambda noise: RandomizedResponse(epsilon=1.0 / noise, categories=4),
)
