"""Lower bounds on the excess risk of private federated learning: Theorems 3.1, F.3, F.4 and F.5 of Lowy and Razaviyayn.

Every constant is hidden, so that each figure is a scale: the order in which the least possible risk grows, never a
number that a run's risk must exceed. All clients participate. With r the privacy ratio,

    convex:           φD/√(nN) + LD min{1, r},      strongly convex:  φ²/(μnN) + LD min{1, r²},

r = √d/(ε₀n√N C²) where nobody is trusted and √d/(εnN) where the server is; for the mean loss on the data at hand the
first term is absent. A condition such as δ = o(1/(nN)²) is about a sequence of problems and can never be checked.
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.quantities import (
    ANY_SCALE,
    EPSILON,
    GRADIENT_STD,
    Clients,
    Diameter,
    Dimension,
    Epsilon,
    Lipschitz,
    Quantity,
    Radius,
    SamplesPerClient,
    StrongConvexity,
    request,
)
from epsilond.accountants.theorem import Condition, Erratum, Outputs, Sides, Source, Status, Theorem

_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_lower_bounds.py"
LN10 = math.log(10.0)

COMPOSITIONALITY = Quantity(
    symbol="C", ge=1, le=1e9, description="√(Σ(ε₀^r)²)/ε₀ of an algorithm, at least 1; 1 if it is sequential"
)
ROUND_EPSILON = Quantity(
    symbol="ε₀^r", unit="nat", gt=0, le=EPSILON.le, description="largest ε of one report of one client; absent: ε₀"
)
ROUND_DELTA = Quantity(symbol="δ₀^r", gt=0, lt=1, description="least δ of one report of one client")


# Formulas -----------------------------------------------------------------------------------------------------------
def statistical_scale(
    *, gradient_std: float, diameter: float, samples_per_client: int, clients: int, strong_convexity: float = 0.0
) -> float:
    """φD/√(nN), or φ²/(μnN): what any algorithm pays for nN records, private or not."""
    records = float(samples_per_client) * clients
    if strong_convexity > 0.0:
        return gradient_std * gradient_std / (strong_convexity * records)
    return gradient_std * diameter / math.sqrt(records)


def local_ratio(
    *, epsilon: float, dimension: int, samples_per_client: int, clients: int, compositionality: float = 1.0
) -> float:
    """√d/(ε₀n√N C²): what privacy against everyone costs, in units of LD."""
    spent = epsilon * samples_per_client * math.sqrt(clients)
    return math.sqrt(dimension) / (spent * compositionality * compositionality)


def central_ratio(*, epsilon: float, dimension: int, samples_per_client: int, clients: int) -> float:
    """√d/(εnN): what privacy costs if the server, or a shuffler, is trusted."""
    return math.sqrt(dimension) / (epsilon * samples_per_client * clients)


def privacy_scale(*, ratio: float, lipschitz: float, diameter: float, strong_convexity: float = 0.0) -> float:
    """LD min{1, r}, or LD min{1, r²} if strongly convex."""
    return lipschitz * diameter * min(1.0, ratio * ratio if strong_convexity > 0.0 else ratio)


def enough_clients(
    *, samples_per_client: int, clients: int, round_epsilon: float, round_delta: float, printed: bool
) -> float:
    """The fewest clients: 16 ln(2/(nδ₀)) as printed, 16 e^{nε₀^r} ln(2/(Nnδ₀)), the premise of Theorem F.2 (E-21).

    Infinite where Nnδ₀ ≥ 1, of which Theorem F.2 says nothing, and beyond every double.
    """
    if printed:
        return 16.0 * max(math.log(2.0) - math.log(samples_per_client) - math.log(round_delta), 0.0)
    transferred = math.log(samples_per_client) + math.log(clients) + math.log(round_delta)
    share = samples_per_client * round_epsilon
    if transferred >= 0.0 or share > 700.0:
        return math.inf
    return 16.0 * math.exp(share) * (math.log(2.0) - transferred)


def least_round_log_delta(*, samples_per_client: int, clients: int, local_epsilon: float, printed: bool) -> float:
    """ln of the least δ₀^r: 2e^{−N/16}/(Nn) as printed, 2e^{−Ne^{−nε₀}/16}/(Nn) in truth (E-21)."""
    share = 0.0 if printed else samples_per_client * local_epsilon
    return math.log(2.0) - clients * math.exp(-share) / 16.0 - math.log(clients) - math.log(samples_per_client)


# Inputs -------------------------------------------------------------------------------------------------------------
@request
class _Federation:
    samples_per_client: SamplesPerClient
    clients: Clients
    dimension: Dimension
    lipschitz: Lipschitz
    strong_convexity: StrongConvexity = 0.0
    epsilon: Epsilon

    @property
    def sizes(self) -> dict[str, int]:
        """Records of a client, and clients, by name."""
        return {"samples_per_client": self.samples_per_client, "clients": self.clients}

    def statistical(self, gradient_std: float | None, diameter: float) -> float:
        """What any algorithm pays for nN records; φ is L where it is absent."""
        return statistical_scale(
            gradient_std=self.lipschitz if gradient_std is None else gradient_std,
            diameter=diameter,
            strong_convexity=self.strong_convexity,
            **self.sizes,
        )

    def privacy(self, ratio: float, diameter: float) -> float:
        """What privacy costs at the privacy ratio r."""
        return privacy_scale(
            ratio=ratio, lipschitz=self.lipschitz, diameter=diameter, strong_convexity=self.strong_convexity
        )

    @property
    def central_ratio(self) -> float:
        """The privacy ratio of a trusted server."""
        return central_ratio(epsilon=self.epsilon, dimension=self.dimension, **self.sizes)


@request
class _LocalFederation(_Federation):
    round_epsilon: Annotated[float | None, ROUND_EPSILON] = None
    round_delta: Annotated[float, ROUND_DELTA]

    @property
    def largest_round_epsilon(self) -> float:
        """The largest ε of one report of one client."""
        return self.epsilon if self.round_epsilon is None else self.round_epsilon

    def local_ratio(self, compositionality: float = 1.0) -> float:
        """The privacy ratio where nobody is trusted."""
        return local_ratio(
            epsilon=self.epsilon, dimension=self.dimension, compositionality=compositionality, **self.sizes
        )


@request
class LocalInputs(_LocalFederation):
    """Privacy for every record against everyone but its client, the expected loss; φ is L where it is absent."""

    compositionality: Annotated[float, COMPOSITIONALITY] = 1.0
    diameter: Diameter
    gradient_std: Annotated[float | None, GRADIENT_STD, ANY_SCALE] = None


@request
class CentralInputs(_Federation):
    """Privacy for every record against those who see what a trusted server puts out, the expected loss."""

    radius: Radius
    gradient_std: Annotated[float | None, GRADIENT_STD, ANY_SCALE] = None


@request
class LocalEmpiricalInputs(_LocalFederation):
    """Privacy against everyone but the client, the mean loss on the data at hand."""

    radius: Radius


@request
class CentralEmpiricalInputs(_Federation):
    """Privacy against those who see what a trusted server puts out, the mean loss on the data at hand."""

    radius: Radius


def _scales(statistical: float | None, privacy: float) -> dict[str, float]:
    terms = {"privacy_term": privacy} if statistical is None else {"statistical_term": statistical}
    terms["privacy_term"] = privacy
    return {"excess_risk_scale": math.fsum(terms.values()), **terms}


def local_population(inputs: LocalInputs) -> Outputs:
    """The scale, its terms, and the fewest clients, as printed and as the proof needs."""
    statistical = inputs.statistical(inputs.gradient_std, inputs.diameter)
    return {
        **_scales(statistical, inputs.privacy(inputs.local_ratio(inputs.compositionality), inputs.diameter)),
        "least_clients": _clients_needed(inputs, printed=False),
        "printed_least_clients": _clients_needed(inputs, printed=True),
    }


def central_population(inputs: CentralInputs) -> Outputs:
    """The scale and its terms. With μ > 0 also `larger_scale`, with L²/μ for LD, which holds if L is of order μD."""
    ratio, mu = inputs.central_ratio, inputs.strong_convexity
    statistical = inputs.statistical(inputs.gradient_std, inputs.radius)
    outputs = _scales(statistical, inputs.privacy(ratio, inputs.radius))
    if mu > 0.0:
        larger = inputs.lipschitz * inputs.lipschitz / mu * min(1.0, ratio * ratio)
        outputs["larger_scale"] = statistical + larger
    return outputs


def local_empirical(inputs: LocalEmpiricalInputs) -> Outputs:
    """The scale, and the least δ₀^r, as printed and as the proof needs."""
    return {
        **_scales(None, inputs.privacy(inputs.local_ratio(), inputs.radius)),
        "log10_least_round_delta": _least_log_delta(inputs, printed=False) / LN10,
        "printed_log10_least_round_delta": _least_log_delta(inputs, printed=True) / LN10,
    }


def central_empirical(inputs: CentralEmpiricalInputs) -> Outputs:
    """The scale, which is the privacy term alone."""
    return _scales(None, inputs.privacy(inputs.central_ratio, inputs.radius))


# Conditions ---------------------------------------------------------------------------------------------------------
def _clients_needed(inputs: LocalInputs, *, printed: bool) -> float:
    return enough_clients(
        round_epsilon=inputs.largest_round_epsilon, round_delta=inputs.round_delta, printed=printed, **inputs.sizes
    )


def _least_log_delta(inputs: LocalEmpiricalInputs, *, printed: bool) -> float:
    return least_round_log_delta(local_epsilon=inputs.epsilon, printed=printed, **inputs.sizes)


def _least_round_delta(inputs: LocalEmpiricalInputs) -> Sides:
    return Sides.at_least(math.log10(inputs.round_delta), _least_log_delta(inputs, printed=False) / LN10)


def _steep_in_radius(inputs: CentralInputs | CentralEmpiricalInputs | LocalEmpiricalInputs) -> Sides:
    return Sides.at_least(inputs.lipschitz, inputs.strong_convexity * inputs.radius)


NOT_ABOVE_ROOT = Condition(
    "root-of-clients", "ε₀ ≤ √N", lambda inputs: Sides.at_most(inputs.epsilon, math.sqrt(inputs.clients))
)
ONE_OVER_RECORDS = Condition(
    "one-over-records",
    "ε₀^r ≤ 1/n",
    lambda inputs: Sides.at_most(inputs.largest_round_epsilon, 1.0 / inputs.samples_per_client),
)
ENOUGH_CLIENTS = Condition(
    "enough-clients",
    "N ≥ 16 e^{nε₀^r} ln(2/(Nnδ₀^r)), the premise of Theorem F.2",
    lambda inputs: Sides.at_least(inputs.clients, _clients_needed(inputs, printed=False)),
)
PRINTED_ENOUGH_CLIENTS = Condition(
    "printed-enough-clients",
    "N ≥ 16 ln(2/(nδ₀^r)), as printed",
    lambda inputs: Sides.at_least(inputs.clients, _clients_needed(inputs, printed=True)),
)
STEEP = Condition(
    "steep-enough",
    "L ≥ μD/2, as every μ-strongly convex loss has",
    lambda inputs: Sides.at_least(inputs.lipschitz, 0.5 * inputs.strong_convexity * inputs.diameter),
)
STEEP_IN_RADIUS = Condition("steep-enough", "L ≥ μD, D the radius", _steep_in_radius)
EVERYONE = Condition("all-participate", "every client takes part in every round (M = N)")
SYMMETRIC = Condition("symmetric", "the algorithm treats clients alike (class B)")
VANISHING_SQUARED = Condition("vanishing-delta", "δ₀, or Σδ₀^r, is o(1/(nN)²)", undecidable=True)
VANISHING = Condition("vanishing-delta", "δ is o(1/(nN))", undecidable=True)
HIDDEN = Condition("hidden-constants", "the constant and the logarithms that Ω̃ leaves out", undecidable=True)
LARGE_PRIVACY_TERM = Condition(
    "lipschitz-of-order", "L is of order μD, for `larger_scale` with L²/μ in place of LD", undecidable=True
)

# Errata -------------------------------------------------------------------------------------------------------------
MISSING_POWER = Erratum(
    "E-21",
    printed="N ≥ 16 ln(2/(nδ₀)) in Theorem 3.1, δ₀ ≥ 2e^{−N/16}/(Nn) in Theorem F.4",
    truth="the proof applies Theorem F.2, whose premise has e^{nε₀^r}: at ε₀^r = 1/n that is e times as many clients",
    test=f"{_TESTS}::test_the_printed_number_of_clients_lacks_a_power_of_e",
)
AT_LEAST_ONE = Erratum(
    "E-27",
    printed="C²; by Corollary F.1 it stands for max(C, C²)",
    truth="C ≥ 1 is needed: below 1 the bound would grow like 1/C² beyond what is proved",
    test=f"{_TESTS}::test_a_compositionality_below_one_is_refused",
)

LOCAL_POPULATION = Theorem(
    id="lowy.3.1",
    title="What privacy against everyone costs at least, for the expected loss",
    statement=(
        "C-compositional algorithms that are ε₀-private for every record against everyone: the excess risk is at least "
        "of order φD/√(nN) + LD min{1, √d/(ε₀n√N C²)}, or φ²/(μnN) + LD min{1, d/(ε₀²n²N C⁴)} if strongly convex"
    ),
    source=Source("lowy2023", "Theorem 3.1"),
    status=Status.PROVED,
    constants="hidden",
    conditions=(
        NOT_ABOVE_ROOT,
        ONE_OVER_RECORDS,
        ENOUGH_CLIENTS,
        PRINTED_ENOUGH_CLIENTS,
        STEEP,
        EVERYONE,
        VANISHING_SQUARED,
        HIDDEN,
    ),
    errata=(MISSING_POWER, AT_LEAST_ONE),
    inputs=LocalInputs,
    formula=local_population,
    examples=(
        {
            "samples_per_client": 10,
            "clients": 10_000,
            "dimension": 20,
            "lipschitz": 1.0,
            "epsilon": 0.1,
            "round_delta": 1e-12,
            "diameter": 1.0,
            "gradient_std": 0.5,
        },
    ),
)
CENTRAL_POPULATION = Theorem(
    id="lowy.f.3",
    title="What central privacy costs at least, for the expected loss",
    statement=(
        "ε-private algorithms with a trusted server: at least of order φD/√(nN) + LD min{1, √d/(εnN)}, or φ²/(μnN) + "
        "LD min{1, d/(εnN)²}, with L²/μ for LD if L is of order μD; D the radius"
    ),
    source=Source("lowy2023", "Theorem F.3"),
    status=Status.PROVED,
    constants="hidden",
    conditions=(STEEP_IN_RADIUS, LARGE_PRIVACY_TERM, VANISHING, HIDDEN),
    inputs=CentralInputs,
    formula=central_population,
    examples=(
        {
            "samples_per_client": 10,
            "clients": 1000,
            "dimension": 20,
            "lipschitz": 1.0,
            "strong_convexity": 0.5,
            "epsilon": 0.5,
            "radius": 1.0,
        },
    ),
)
LOCAL_EMPIRICAL = Theorem(
    id="lowy.f.4",
    title="What privacy against everyone costs at least, on the data at hand",
    statement=(
        "symmetric algorithms that are ε₀-private against everyone: at least of order LD min{1, √d/(ε₀n√N)}, or LD "
        "min{1, d/(ε₀²n²N)} if strongly convex"
    ),
    source=Source("lowy2023", "Theorem F.4"),
    status=Status.PROVED,
    constants="hidden",
    conditions=(
        NOT_ABOVE_ROOT,
        ONE_OVER_RECORDS,
        Condition("least-round-delta", "log10 δ₀^r ≥ log10(2e^{−Ne^{−nε₀}/16}/(Nn))", _least_round_delta),
        STEEP_IN_RADIUS,
        EVERYONE,
        SYMMETRIC,
        VANISHING_SQUARED,
        HIDDEN,
    ),
    errata=(MISSING_POWER,),
    inputs=LocalEmpiricalInputs,
    formula=local_empirical,
    examples=(
        {
            "samples_per_client": 10,
            "clients": 10_000,
            "dimension": 20,
            "lipschitz": 1.0,
            "epsilon": 0.1,
            "round_delta": 1e-12,
            "radius": 1.0,
        },
    ),
)
CENTRAL_EMPIRICAL = Theorem(
    id="lowy.f.5",
    title="What central privacy costs at least, on the data at hand",
    statement="at least of order LD min{1, √d/(εnN)}, or LD min{1, d/(εnN)²} if strongly convex; D the radius",
    source=Source("lowy2023", "Theorem F.5"),
    status=Status.PROVED,
    constants="hidden",
    conditions=(STEEP_IN_RADIUS, VANISHING, HIDDEN),
    inputs=CentralEmpiricalInputs,
    formula=central_empirical,
    examples=(
        {
            "samples_per_client": 10,
            "clients": 1000,
            "dimension": 20,
            "lipschitz": 1.0,
            "epsilon": 0.5,
            "radius": 1.0,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (LOCAL_POPULATION, CENTRAL_POPULATION, LOCAL_EMPIRICAL, CENTRAL_EMPIRICAL)
