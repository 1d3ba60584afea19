"""The one place for names, symbols, units and domains of every number.

A field is declared once, `clients: Clients`, and its range, symbol, unit and description follow everywhere: the
library's own checks, the HTTP schema, the command line and the documents (`accountants/quantity.py` says how).
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import replace
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, get_type_hints

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import ReadFrom
from epsilond.accountants.json_types import Tagged
from epsilond.accountants.quantities.privacy import ANY_EPSILON, DELTA, EPSILON, LOG10_DELTA
from epsilond.accountants.quantities.ranges import count, in_squares, in_squares_or_zero, positive
from epsilond.accountants.quantities.risks import TargetFields
from epsilond.accountants.quantities.units import UNIT, ProtectedUnit, Unit, WindowedUnit, base_unit, require_unit
from epsilond.accountants.quantity import LARGEST_COUNT, Checks, Quantity, quantity_of, whole_number
from epsilond.accountants.records import AtMost, assumptions, check_quantities, check_scales, request, value_of
from epsilond.accountants.scale import ANY_SCALE, RATIOS, SQUARES
from epsilond.accountants.target import Target, check_delta, natural_log_delta

__all__ = [
    "ANY_EPSILON",
    "ANY_SCALE",
    "DELTA",
    "EPSILON",
    "LARGEST_COUNT",
    "LOG10_DELTA",
    "RATIOS",
    "SQUARES",
    "UNIT",
    "AtMost",
    "Checks",
    "ProtectedUnit",
    "Quantity",
    "Tagged",
    "Unit",
    "WindowedUnit",
    "assumptions",
    "base_unit",
    "check_quantities",
    "check_scales",
    "quantity_of",
    "request",
    "require_unit",
    "value_of",
    "whole_number",
]


# Privacy ------------------------------------------------------------------------------------------------------------
NOISE_STD = in_squares(
    "σ", "standard deviation per coordinate of the Gaussian noise that is added to a message", "gradient"
)
LEAST_MULTIPLIER, LARGEST_MULTIPLIER = 1e-6, 1e15
NOISE_MULTIPLIER = Quantity(
    symbol="z",
    ge=LEAST_MULTIPLIER,
    le=LARGEST_MULTIPLIER,
    description="standard deviation σ of the noise per coordinate, divided by the bound C on the ℓ2 norm of "
    "one contribution. It is not divided by the sensitivity, which is 2C for replace-one",
)
RATE = Quantity(
    symbol="q",
    gt=0,
    le=1,
    description="probability that a given record, or client if clients are drawn, is in a batch",
    of_unit="probability that a given {unit} is in a batch",
)
SCALE_MULTIPLIER = Quantity(
    symbol="b",
    ge=LEAST_MULTIPLIER,
    le=LARGEST_MULTIPLIER,
    description="scale of the Laplace noise, divided by the bound C on the ℓ1 norm of one contribution. It is "
    "not divided by the sensitivity, which is 2C for replace-one",
)
DECAY_RATE = Quantity(
    symbol="α",
    gt=0,
    le=700,
    description="decay rate α of the integer noise: the value y has probability proportional to e^(−α|y|)",
)
NOISE_LEVELS = Quantity(
    symbol="m", ge=1, le=10**24, description="largest absolute value of the integer noise, in grid steps"
)
CATEGORIES = Quantity(
    symbol="k", ge=2, le=LARGEST_COUNT, description="number of categories; a report names one of them"
)
PURE_DELTA = Quantity(symbol="δ", ge=0, lt=1, description="δ of the (ε, δ) guarantee; 0 for pure differential privacy")
LOCAL_EPSILON = Quantity(
    symbol="ε₀",
    unit="nat",
    gt=0,
    le=500,
    description="ε of one client's message, if its sender is known",
)
LOCAL_DELTA = Quantity(symbol="δ₀", ge=0, lt=1, description="δ of one client's message, next to its ε₀; 0 if pure")
ZCDP_RHO = Quantity(
    symbol="ρ", gt=0, le=1e9, unit="nat", description="parameter ρ of zero-concentrated differential privacy"
)
RENYI_ORDER = Quantity(symbol="a", gt=1, le=1e6, description="order of a Rényi divergence")

Relation = Literal["replace-one", "add-or-remove-one", "zero-out-one"]
Observer = Literal["server", "shuffled-server", "released-models", "final-model", "other-clients"]
Sampling = Literal["poisson", "without-replacement", "with-replacement", "full"]
SpecSampling = Literal["poisson", "without-replacement", "with-replacement", "full", "shuffled-epochs"]
"""Schemes of a spec. A calibration chooses among those of `Sampling`."""
DrawScheme = SpecSampling | Literal["random-allocation", "truncated-poisson"]
Level = Literal["records", "clients"]

RELATION = Quantity(
    description="how two neighbouring data sets differ",
    choices=(
        ("replace-one", "One unit's data is replaced by any other data, and the number of units is the same."),
        ("add-or-remove-one", "One unit is in one of the data sets and absent from the other."),
        ("zero-out-one", "One unit's contribution counts as zero in one of the data sets."),
    ),
)
OBSERVER = Quantity(
    description="the adversary, and what it sees",
    choices=(
        (
            "server",
            "The server itself is the adversary and sees every message by name; each client must add its own noise.",
        ),
        (
            "shuffled-server",
            "The server is the adversary and sees every message, but a trusted shuffler hides who sent it.",
        ),
        (
            "released-models",
            "The adversary sees the model after every round; a trusted curator trains it, as in central DP-SGD.",
        ),
        ("final-model", "The adversary sees only the last model."),
        (
            "other-clients",
            "All other clients together are the adversary and see every model that a trusted server sends them.",
        ),
    ),
)
SAMPLING = Quantity(description="how the members of a batch are drawn")

Epsilon = Annotated[float, EPSILON]
AnyEpsilon = Annotated[float, ANY_EPSILON]
Delta = Annotated[float, DELTA]
NoiseStd = Annotated[float, NOISE_STD]
NoiseMultiplier = Annotated[float, NOISE_MULTIPLIER]
Rate = Annotated[float, RATE]
ScaleMultiplier = Annotated[float, SCALE_MULTIPLIER]
DecayRate = Annotated[float, DECAY_RATE]
NoiseLevels = Annotated[int, NOISE_LEVELS]
Categories = Annotated[int, CATEGORIES]
PureDelta = Annotated[float, PURE_DELTA]
LocalEpsilon = Annotated[float, LOCAL_EPSILON]
LocalDelta = Annotated[float, LOCAL_DELTA]
ZcdpRho = Annotated[float, ZCDP_RHO]
RenyiOrder = Annotated[float, RENYI_ORDER]


@request
class DeltaFields:
    """A δ, as exactly one of delta and log10_delta."""

    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None

    checks: ClassVar[Checks] = (check_delta,)

    @property
    def log_delta(self) -> float:
        """The natural logarithm of δ."""
        return natural_log_delta(self.delta, self.log10_delta)


@request
class BudgetFields(DeltaFields):
    """A guarantee (ε, δ), the δ as exactly one of delta and log10_delta."""

    epsilon: Epsilon

    @property
    def target(self) -> Target:
        """The requested (ε, δ)."""
        return Target.of(self.epsilon, self.delta, self.log10_delta)


def check_unit(setting: NeighbourFields) -> None:
    """Require a unit that the request class admits: a record, a client, or one window of either.

    Args:
        setting: a request with a protected unit.

    Raises:
        InvalidInput: the unit is unknown, or is not a choice of this class.
    """
    request_class: Any = type(setting)
    quantity = _unit_of(request_class)
    unit = setting.unit
    base = unit if isinstance(unit, str) else base_unit(require_unit(unit))
    if base not in dict(quantity.choices):
        raise InvalidInput.at("/unit", quantity.not_a_choice, allowed=quantity.allowed)


@cache
def _unit_of(request_class: Hashable) -> Quantity:
    """Return the description and the choices of the protected unit in a request class, which may admit few units.

    Args:
        request_class: a request class with the field `unit`.

    Returns:
        Those of the annotation of the field; the general ones if it has none.
    """
    annotated_class: Any = request_class
    hints = get_type_hints(annotated_class, include_extras=True)
    _, quantity = quantity_of(hints["unit"])
    return quantity or UNIT


@request
class NeighbourFields:
    """The neighbouring relation and the protected unit.

    The fields have no defaults, because a guarantee for other neighbours than the intended ones is useless.
    """

    relation: Annotated[Relation, RELATION]
    unit: Annotated[ProtectedUnit, UNIT]

    checks: ClassVar[Checks] = (check_unit,)


@request
class SettingFields(NeighbourFields):
    """The setting of a guarantee: the neighbouring relation, the protected unit, and the adversary.

    The adversary has no default either.
    """

    observer: Annotated[Observer, OBSERVER]


@request
class TargetedProblem(SettingFields, TargetFields):
    """A problem with a target in a given setting: (ε, δ), or a risk in place of ε."""


GivenLogDelta = Annotated[float, ReadFrom(DeltaFields)]
"""The parameter `log_delta` of a formula; the request has delta or log10_delta."""


def delta_outputs(log_delta: float, name: str = "delta") -> dict[str, float]:
    """Return log10 δ and δ as outputs of a formula. A positive δ below every normal double is left out.

    Args:
        log_delta: natural logarithm of δ; −inf for δ = 0.
        name: name of the output δ; that of log10 δ is `log10_` and this name.

    Returns:
        The outputs by name.
    """
    outputs = {f"log10_{name}": log_delta / math.log(10.0)}
    # Between these limits e^x is neither subnormal nor infinite in double precision.
    has_normal_exponential = -708.0 < log_delta < 709.0
    if has_normal_exponential or log_delta == -math.inf:
        outputs[name] = math.exp(log_delta)
    return outputs


# The shape of a run -------------------------------------------------------------------------------------------------
SAMPLES_PER_CLIENT = count("n", "number of records of one client")
CLIENTS = count("N", "number of clients in the federation")
PARTICIPANTS = count("M", "number of clients in one round")
ROUNDS = count("R", "number of rounds")
BATCH_SIZE = count("K", "number of records that a client uses in one round")
DRAWN = replace(
    count("K", "number of records in a batch; if clients are drawn, number of clients"),
    of_unit="number of {unit}s in a batch",
)
POPULATION = replace(
    count("n", "number of records from which a batch is drawn; if clients are drawn, number of clients"),
    of_unit="number of {unit}s from which a batch is drawn",
)
TIMES = count("T", "number of runs of the mechanism")
DIMENSION = count("d", "number of coordinates of the model")
PROBABILITY = Quantity(
    symbol="p", ge=0, le=1, description="probability that this number of clients takes part in a round"
)
PARTICIPATION = Quantity(
    description="distribution of the number of clients that take part in a round. Absent: this number is fixed"
)
CLIENT_GROUPS = Quantity(
    description="groups of clients with equal properties. A field that a group leaves out has the value given "
    "for all clients"
)
WEIGHT = positive(
    "p",
    "weight of a client's loss in the average of the clients' losses. Only the ratio to the "
    "weights of other clients matters",
)
IDENTICALLY_DISTRIBUTED = Quantity(description="whether the records of all clients come from the same distribution")
GROUP_SIZE = count("k", "records that may differ at once")

SamplesPerClient = Annotated[int, SAMPLES_PER_CLIENT]
Clients = Annotated[int, CLIENTS]
Participants = Annotated[int, PARTICIPANTS]
Rounds = Annotated[int, ROUNDS]
BatchSize = Annotated[int, BATCH_SIZE]
Population = Annotated[int, POPULATION]
Times = Annotated[int, TIMES]
Dimension = Annotated[int, DIMENSION]
GroupSize = Annotated[int, GROUP_SIZE]

BATCH_WITHIN_CLIENT = AtMost("batch_size", "samples_per_client", "exceeds the client's records")
PARTICIPANTS_AMONG_CLIENTS = AtMost("participants", "clients", "exceeds the number of clients")


@request
class ParticipantFields:
    """How many clients there are, and how many of them report in one round."""

    clients: Clients
    participants: Participants

    checks: ClassVar[Checks] = (PARTICIPANTS_AMONG_CLIENTS,)


# The optimisation problem -------------------------------------------------------------------------------------------
LIPSCHITZ = in_squares("L", "bound on the ℓ2 norm of one record's gradient", "loss/length")
SMOOTHNESS = in_squares("β", "smoothness constant: Lipschitz constant of the gradient of the loss", "loss/length²")
ENVELOPE_SMOOTHNESS = in_squares("b", "smoothness of the Moreau envelope that replaces the loss", "loss/length²")
STRONG_CONVEXITY = in_squares_or_zero(
    "μ", "strong convexity constant of the loss; 0 if the loss is only convex", "loss/length²"
)
DIAMETER = in_squares("D", "diameter of the domain, to which the model is restricted", "length")
INITIAL_DISTANCE = in_squares(
    "‖w₀−w*‖", "bound on the distance between the initial model and a minimiser of the objective", "length"
)
HETEROGENEITY = in_squares_or_zero(
    "v",
    "root mean square over clients i of |∇F_i − ∇F|, at the model where it is largest. F_i is the "
    "expected loss of client i, and F the mean of all F_i",
    "loss/length",
)
STEP_SIZE = in_squares("η", "step size of a gradient step", "length²/loss")
LEARNING_RADIUS = in_squares("ρ", "radius of the domain, the ball to which the model is restricted", "length")
GRADIENT_STD = in_squares_or_zero(
    "φ",
    "root mean square distance of a record's gradient from the expected gradient of its client, at "
    "the model where it is largest",
    "loss/length",
)
EMPIRICAL_GRADIENT_STD = in_squares_or_zero(
    "Φ̂",
    "root mean square over all records of |∇f − ∇F̂|, at the model where it is largest. f is the "
    "loss of the record, and F̂ the mean loss of all records at hand",
    "loss/length",
)
EMPIRICAL_HETEROGENEITY = in_squares_or_zero(
    "v̂",
    "root mean square over clients of |∇F̂_i − ∇F̂| on the data at hand, at its largest over the domain",
    "loss/length",
)
INITIAL_GAP = in_squares("Δ", "bound on the excess risk of the initial model, before training", "loss")
EXCESS_RISK = Quantity(
    symbol="α",
    unit="loss",
    ge=0,
    description="excess risk: expected loss of the trained model minus the least expected loss",
)
STABILITY = Quantity(
    symbol="α", unit="loss", ge=0, description="most that replacing one record changes the expected loss of the output"
)
SENSITIVITY = positive("Δ", "ℓ2 distance of the values on neighbouring data, at its largest", "that of the value")

Lipschitz = Annotated[float, LIPSCHITZ]
Smoothness = Annotated[float, SMOOTHNESS]
StrongConvexity = Annotated[float, STRONG_CONVEXITY]
Diameter = Annotated[float, DIAMETER]
StepSize = Annotated[float, STEP_SIZE]
InitialDistance = Annotated[float, INITIAL_DISTANCE]
Heterogeneity = Annotated[float, HETEROGENEITY]
GradientStd = Annotated[float, GRADIENT_STD]
EmpiricalGradientStd = Annotated[float, EMPIRICAL_GRADIENT_STD]
EmpiricalHeterogeneity = Annotated[float, EMPIRICAL_HETEROGENEITY]
InitialGap = Annotated[float, INITIAL_GAP]
Sensitivity = Annotated[float, SENSITIVITY]

CONVEXITY_WITHIN_SMOOTHNESS = AtMost("strong_convexity", "smoothness", "exceeds the smoothness")
