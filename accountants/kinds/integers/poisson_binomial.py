"""The Poisson binomial mechanism: exactly for one client, and enclosed for sums of several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.formula import formula
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.kinds.declared.approximate import AT_EPSILON
from epsilond.accountants.kinds.kind import MechanismKind
from epsilond.accountants.profiles.integers.poisson_binomial import pure_epsilon, trials_bounds
from epsilond.accountants.quantities import Observer, delta_outputs
from epsilond.accountants.rule import Case, Refusal, Rule
from epsilond.accountants.specs import PoissonBinomial
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem


@formula(given="The mechanism, and the ε' at which δ is bounded.")
def bounds_on_delta(*, mechanism: PoissonBinomial, at_epsilon: Annotated[float, AT_EPSILON]) -> Outputs:
    """Compute the largest loss of one coordinate of the Poisson binomial mechanism, and bounds on its δ at ε'.

    In one dimension these are the bounds on δ of the mechanism.

    Args:
        mechanism: the mechanism, with its trials, θ and number of clients.
        at_epsilon: ε' at which δ is bounded, in nats.

    Returns:
        The largest loss in nats, and both bounds with their decimal logarithms.
    """
    bounds = trials_bounds(mechanism.trials, mechanism.theta, mechanism.clients)
    lower = max(pair.lower_log_delta(at_epsilon) for pair in bounds.attained)
    return {
        "pure_epsilon_of_one_coordinate": pure_epsilon(mechanism.trials, mechanism.theta),
        **delta_outputs(bounds.upper.upper_log_delta(at_epsilon), "delta_of_one_coordinate"),
        **delta_outputs(lower, "lower_delta_of_one_coordinate"),
    }


SUMS_ONLY = Condition(
    "sums-of-clients",
    "only sums over at least the given number of clients are seen, every client draws its trials afresh from its own "
    "value, and every coordinate of a value is within the bound",
)
SEE_MESSAGES: tuple[Observer, ...] = ("server", "shuffled-server")
"""Observers who see the message of each client, by name or not."""
_EXAMPLE = {"trials": 4, "theta": 0.25, "dimension": 1}
SUMS = Theorem(
    id="epsilond.poisson-binomial",
    title="The Poisson binomial mechanism under replace-one",
    statement=(
        "Let h of the others' (n − 1)m trials have success probability 1/2 + θ and the rest 1/2 − θ. The victim's "
        "extremes are worst, and the largest profile over h dominates every sum; multiples of m are attained. For one "
        "client the bound is exact. Coordinates compose. A server that sees messages sees sums over one client"
    ),
    source=Source("epsilond", "docs/integer-noise.md, Sums of binomial variables"),
    status=Status.PROVED,
    conditions=(SUMS_ONLY,),
    formula=bounds_on_delta,
    examples=({**_EXAMPLE, "at_epsilon": 1.0}, {**_EXAMPLE, "clients": 10, "at_epsilon": 0.5}),
)


def sums_of_trials(spec: PoissonBinomial, case: Case) -> Guarantee | Refusal:
    """Return the guarantee of the Poisson binomial mechanism: bounds for one coordinate, composed over all.

    Each client's value becomes the success probability of some random trials, and only sums of successes are published.

    Args:
        spec: the mechanism, with its trials, θ, number of clients and dimension.
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.

    Returns:
        The guarantee. It is a refusal, which says why the theorem does not apply, unless the relation is replace-one.
        It is also a refusal for sums if the observer sees single messages.
    """
    if case.setting.relation != "replace-one":
        return Refusal(SUMS, "an absent client changes the number of trials, so the bound is for a replaced value")
    observer = case.setting.observer
    if spec.clients > 1 and observer in SEE_MESSAGES:
        return Refusal(SUMS, f"the observer {observer} sees messages of single clients: set clients to 1")

    # Coordinates are independent, so their pairs compose.
    bounds = trials_bounds(spec.trials, spec.theta, spec.clients)
    upper = composed_pair([(bounds.upper, spec.dimension)], case.effort)
    witnesses = []
    for pair in bounds.attained:
        witness = upper if pair is bounds.upper else composed_pair([(pair, spec.dimension)], case.effort)
        witnesses.append(witness)
    step = SUMS.because(trials=spec.trials, theta=spec.theta, clients=spec.clients, dimension=spec.dimension)
    curve = Curve(upper, tuple(witnesses))
    return Guarantee(setting=case.setting, curve=curve, derivation=step, declared=(SUMS_ONLY,))


def sentence(fields: Mapping[str, str]) -> str:
    """Describe the Poisson binomial mechanism in words.

    Args:
        fields: values of the spec's fields as text, by name.

    Returns:
        A noun phrase that describes the mechanism.
    """
    clients = "one client" if fields["clients"] == "1" else f"at least {fields['clients']} clients"
    coordinates = "coordinate" if fields["dimension"] == "1" else "coordinates"
    return (
        f"the Poisson binomial mechanism with {fields['trials']} trials of θ = {fields['theta']}"
        f" in sums over {clients}, on {fields['dimension']} {coordinates}"
    )


THEOREMS: tuple[Theorem, ...] = (SUMS,)
RULES: tuple[Rule, ...] = (Rule(SUMS, "poisson_binomial", sums_of_trials),)
KIND = MechanismKind(
    sentence=sentence,
    at_noise=lambda noise: PoissonBinomial(trials=4, theta=0.45 / (1.0 + noise), dimension=1),
)
