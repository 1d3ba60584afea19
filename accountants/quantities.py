"""The one place for names, symbols, units and domains of every number.

A field is declared once, `clients: Clients`, and its range, symbol, unit and description follow everywhere: the
library's own checks, the HTTP schema, the command line and the documents (`accountants/quantity.py` says how).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import ReadFrom
from epsilond.accountants.quantity import (
    ANY_SCALE,
    LARGEST_COUNT,
    RATIOS,
    SQUARES,
    AtMost,
    Checks,
    Quantity,
    Tagged,
    assumptions,
    check_quantities,
    check_scales,
    natural_log_delta,
    quantity_of,
    request,
    value_of,
    whole_number,
)

__all__ = [
    "ANY_SCALE",
    "LARGEST_COUNT",
    "RATIOS",
    "SQUARES",
    "AtMost",
    "Checks",
    "Quantity",
    "Tagged",
    "assumptions",
    "check_quantities",
    "check_scales",
    "natural_log_delta",
    "quantity_of",
    "request",
    "value_of",
    "whole_number",
]


def _count(symbol: str, description: str, *, ge: int = 1, unit: str = "") -> Quantity:
    return Quantity(symbol=symbol, description=description, unit=unit, ge=ge, le=LARGEST_COUNT)


def _positive(symbol: str, description: str, unit: str = "") -> Quantity:
    return Quantity(symbol=symbol, description=description, unit=unit, gt=0)


def _squared(symbol: str, description: str, unit: str = "") -> Quantity:
    """A positive number whose square enters formulas."""
    return Quantity(symbol=symbol, description=description, unit=unit, gt=0, scale=SQUARES)


def _squared_or_zero(symbol: str, description: str, unit: str) -> Quantity:
    return Quantity(symbol=symbol, description=description, unit=unit, ge=0, scale=SQUARES)


# Privacy ------------------------------------------------------------------------------------------------------------
EPSILON = Quantity(symbol="ε", unit="nat", gt=0, le=1e9, description="privacy loss bound ε of (ε, δ), natural logs")
DELTA = Quantity(symbol="δ", gt=0, lt=1, description="failure probability δ of (ε, δ)")
LOG10_DELTA = Quantity(symbol="log10 δ", lt=0, ge=-1e9, description="base-10 logarithm of δ, for a δ below any double")
NOISE_STD = _squared("σ", "standard deviation per coordinate of the Gaussian noise added to what is sent", "gradient")
LEAST_MULTIPLIER, LARGEST_MULTIPLIER = 1e-6, 1e15
NOISE_MULTIPLIER = Quantity(
    symbol="z",
    ge=LEAST_MULTIPLIER,
    le=LARGEST_MULTIPLIER,
    description="σ over the bound on the ℓ2 norm of one contribution to the noisy quantity, never over the sensitivity",
)
RATE = Quantity(
    symbol="q",
    gt=0,
    le=1,
    description="probability that a given record, or client where clients are drawn, is in a batch",
    of_unit="probability that a given {unit} is in a batch",
)
SCALE_MULTIPLIER = Quantity(
    symbol="b",
    ge=LEAST_MULTIPLIER,
    le=LARGEST_MULTIPLIER,
    description="Laplace scale over the bound on the ℓ1 norm of one contribution (never over the sensitivity)",
)
DECAY_RATE = Quantity(
    symbol="α", gt=0, le=700, description="decay of integer noise: its probability at y is proportional to e^(−α|y|)"
)
NOISE_LEVELS = Quantity(symbol="m", ge=1, le=10**24, description="largest absolute value of truncated integer noise")
INTEGER_SENSITIVITY = Quantity(
    symbol="Δ", ge=1, le=LARGEST_COUNT, description="ℓ1 distance of the integers on neighbouring data, at its largest"
)
L1_SENSITIVITY = Quantity(
    symbol="Δ₁", gt=0, le=LARGEST_COUNT, unit="grid step", description="ℓ1 distance of the values on neighbouring data"
)
LINF_SENSITIVITY = Quantity(
    symbol="Δ∞", gt=0, le=LARGEST_COUNT, unit="grid step", description="most that one coordinate differs between them"
)
L2_SENSITIVITY = Quantity(
    symbol="Δ₂", gt=0, le=LARGEST_COUNT, unit="grid step", description="ℓ2 distance of the values on neighbouring data"
)
CATEGORIES = Quantity(symbol="k", ge=2, le=LARGEST_COUNT, description="categories a report is one of")
PURE_DELTA = Quantity(symbol="δ", ge=0, lt=1, description="failure probability δ of (ε, δ), 0 for a pure guarantee")
LOCAL_EPSILON = Quantity(
    symbol="ε₀", unit="nat", gt=0, le=500, description="ε of what one client sends, to whoever sees it with its sender"
)
LOCAL_DELTA = Quantity(symbol="δ₀", ge=0, lt=1, description="δ of what one client sends, beside its ε₀; 0 if pure")
ZCDP_RHO = Quantity(symbol="ρ", gt=0, le=1e9, unit="nat", description="parameter of zero-concentrated privacy")
RENYI_ORDER = Quantity(symbol="a", gt=1, le=1e6, description="order of a Rényi divergence")

Relation = Literal["replace-one", "add-or-remove-one", "zero-out-one"]
Unit = Literal["record", "client"]
Observer = Literal["server", "shuffled-server", "released-models", "final-model", "other-clients"]
Sampling = Literal["poisson", "without-replacement", "with-replacement", "full"]
Level = Literal["records", "clients"]

RELATION = Quantity(description="what a neighbouring data set is")
UNIT = Quantity(description="whose data is protected: one record, or everything of one client")
OBSERVER = Quantity(description="who sees what: the adversary's view")
SAMPLING = Quantity(description="how a batch is drawn")
LEVEL = Quantity(
    description=(
        "what is drawn. Absent: the unit that is protected, or, if the mechanism draws again, whichever of both "
        "readings is the safe one; refused where neither bounds the other"
    )
)

Epsilon = Annotated[float, EPSILON]
Delta = Annotated[float, DELTA]
Log10Delta = Annotated[float, LOG10_DELTA]
NoiseStd = Annotated[float, NOISE_STD]
NoiseMultiplier = Annotated[float, NOISE_MULTIPLIER]
Rate = Annotated[float, RATE]
ScaleMultiplier = Annotated[float, SCALE_MULTIPLIER]
DecayRate = Annotated[float, DECAY_RATE]
NoiseLevels = Annotated[int, NOISE_LEVELS]
IntegerSensitivity = Annotated[int, INTEGER_SENSITIVITY]
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

    checks: ClassVar[Checks] = (lambda record: record.log_delta,)

    @property
    def log_delta(self) -> float:
        """The natural logarithm of δ."""
        return natural_log_delta(self.delta, self.log10_delta)


@request
class BudgetFields(DeltaFields):
    """A guarantee (ε, δ), the δ as exactly one of delta and log10_delta."""

    epsilon: Epsilon


GivenLogDelta = Annotated[float, ReadFrom(DeltaFields)]
"""A formula's parameter `log_delta`, which a request gives as delta or log10_delta."""


def delta_outputs(log_delta: float, name: str = "delta") -> dict[str, float]:
    """δ beside log10 δ, as both stand in every answer; δ is absent where neither 0 nor a normal double holds it."""
    outputs = {f"log10_{name}": log_delta / math.log(10.0)}
    held = -708.0 < log_delta < 709.0 or log_delta == -math.inf
    return outputs | ({name: math.exp(log_delta)} if held else {})


# The shape of a run -------------------------------------------------------------------------------------------------
SAMPLES_PER_CLIENT = _count("n", "records of one client")
CLIENTS = _count("N", "clients in the federation")
PARTICIPANTS = _count("M", "clients that report in one round")
ROUNDS = _count("R", "communication rounds")
BATCH_SIZE = _count("K", "records of one client per round")
DRAWN = replace(
    _count("K", "how many records, or clients where clients are drawn, are in a batch"), of_unit="{unit}s in a batch"
)
POPULATION = replace(
    _count("n", "how many records, or clients where clients are drawn, a batch is drawn from"),
    of_unit="{unit}s that a batch is drawn from",
)
TIMES = _count("T", "how often the mechanism is run")
DIMENSION = _count("d", "coordinates of the model")
REPORT_DIMENSION = _count("d", "coordinates of what one client sends; absent: any number")
PROBABILITY = Quantity(symbol="p", ge=0, le=1, description="probability of this count")
PARTICIPATION = Quantity(description="law of the number of clients that report in one round")
CLIENT_GROUPS = Quantity(description="clients that are alike, as counts; what a group leaves out is as for all")
WEIGHT = _positive("p", "weight of one client's loss in the mean, relative to that of the others")
MAX_GRADIENTS = _count("", "gradient evaluations one client may spend, batch_size times rounds")
COMMUNICATION_BUDGET = _count("", "bits all clients together may send over the run", unit="bit")
MAX_ROUNDS = _count("", "most rounds of a run, where they are chosen")
MAX_BYTES_PER_CLIENT = _count(
    "", "bytes that one client may send over the run, in expectation over who is drawn", unit="byte"
)
MAX_REPORTS_PER_CLIENT = _positive(
    "", "rounds that one client may report in over the run, in expectation over who is drawn"
)
WITHIN = Quantity(
    ge=0,
    le=1e6,
    description="where rounds or batch_size are left open: how far the bound on the excess risk may be above the least "
    "one within the budgets, as a share of it; the smallest run that is no further is chosen",
)
IDENTICALLY_DISTRIBUTED = Quantity(description="whether all clients draw from one distribution")
GROUP_SIZE = _count("k", "records that may differ at once")

SamplesPerClient = Annotated[int, SAMPLES_PER_CLIENT]
Clients = Annotated[int, CLIENTS]
Participants = Annotated[int, PARTICIPANTS]
Rounds = Annotated[int, ROUNDS]
BatchSize = Annotated[int, BATCH_SIZE]
Population = Annotated[int, POPULATION]
Times = Annotated[int, TIMES]
Within = Annotated[float, WITHIN]
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
LIPSCHITZ = _squared("L", "bound on the ℓ2 norm of one record's gradient", "loss/length")
SMOOTHNESS = _squared("β", "Lipschitz constant of the gradient", "loss/length²")
ENVELOPE_SMOOTHNESS = _squared("b", "smoothness of the Moreau envelope that stands in for the loss", "loss/length²")
STRONG_CONVEXITY = _squared_or_zero("μ", "strong convexity, 0 if only convex", "loss/length²")
DIAMETER = _squared("D", "diameter of the domain", "length")
INITIAL_DISTANCE = _squared("‖w₀−w*‖", "bound on the distance from the start to a minimiser", "length")
HETEROGENEITY = _squared_or_zero("v", "root mean square over clients of |∇F_i − ∇F|, at its largest", "loss/length")
STEP_SIZE = _squared("η", "step size", "length²/loss")
LEARNING_RADIUS = _squared("ρ", "radius of the domain", "length")
GRADIENT_STD = _squared_or_zero(
    "φ",
    "root mean square distance of a record's gradient from its client's expected one, at its largest",
    "loss/length",
)
EMPIRICAL_GRADIENT_STD = _squared_or_zero(
    "Φ̂",
    "root mean square over all records of |∇f − ∇F̂| on the data at hand, at its largest over the domain",
    "loss/length",
)
EMPIRICAL_HETEROGENEITY = _squared_or_zero(
    "v̂",
    "root mean square over clients of |∇F̂_i − ∇F̂| on the data at hand, at its largest over the domain",
    "loss/length",
)
INITIAL_GAP = _squared("Δ", "bound on the excess risk of the start", "loss")
EXCESS_RISK = Quantity(symbol="α", unit="loss", ge=0, description="expected loss above the least one")
STABILITY = Quantity(
    symbol="α", unit="loss", ge=0, description="most that replacing one record changes the expected loss of the output"
)
SENSITIVITY = _positive("Δ", "ℓ2 distance of the values on neighbouring data, at its largest", "that of the value")

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

# Personalised learning: a shared part w of every model, and a part θ_i of each client's own ---------------------------
Weighting = Literal["clients", "samples"]

CLIPPING_NORM = _squared("C", "bound on the ℓ2 norm of what one client sends in a round", "loss/length")
COUNT_STD = _squared(
    "σ_b",
    "standard deviation of the noise on the sum of the clipped bits of a round, in multiples of a bit's range, which "
    "is 1: from −½ to ½",
)
UPDATE_NORM = _squared("C", "bound on the ℓ2 norm of one client's update; with adaptive clipping that of the round")
SHARED_DIMENSION = _count("d_w", "coordinates of the shared part of the model")
NOISE_CONSTANT = _squared("c", "the constant that a printed noise leaves open: c in (4), c₂ in (12)")
SHARED_NOISE_STD = _squared_or_zero(
    "σ_ζ", "standard deviation per coordinate of the server's noise on the averaged shared gradient", "loss/length"
)
SHARED_GRADIENT_STD = _squared_or_zero(
    "σ_w",
    "root mean square distance, at the optimum, of a record's shared gradient from its expected one",
    "loss/length",
)
LOCAL_GRADIENT_STD = _squared_or_zero(
    "σ_θ", "root mean square norm, at the optimum, of a record's gradient in its client's own part", "loss/length"
)
SHARED_GRADIENT_NORM = _squared_or_zero(
    "‖∇_w f_i‖",
    "bound on the norm, at the optimum, of a client's expected shared gradient; 0 for models w + θ_i",
    "loss/length",
)
OPTIMUM_NORM = _squared_or_zero("‖v̄‖", "norm of the mean of the clients' own optima, from the start", "length")
OPTIMUM_SPREAD = _squared_or_zero(
    "√(S_v/N)", "root mean square distance of the clients' own optima from their mean, 0 if all are equal", "length"
)
WEIGHTED_NORM = _squared_or_zero("‖z*‖_α", "√(‖w*‖²/α + Σ‖θ_i*‖²), the distance that the bound pays for", "length")
WEIGHTED_NORM_OLDER_NAME = _squared_or_zero(
    "‖z*‖_α",
    "older name of weighted_optimum_norm here, √(‖w*‖²/α + Σ‖θ_i*‖²); give one of the two. "
    "Elsewhere optimum_norm is ‖v̄‖, the norm of the mean of the clients' own optima",
    "length",
)
WEIGHTING = Quantity(
    description="what a client counts for in the average: the same as any other, or by the records of its batch"
)
FINITE_PERSONALIZATION = Quantity(
    symbol="α", ge=0, le=1e100, description="step size of the shared part over N times that of a client's own part"
)
PERSONALIZATION = Quantity(
    symbol="α",
    description="step size of the shared part over N times that of a client's own part: 0 learns locally only, "
    '"unbounded" globally only',
)

ClippingNorm = Annotated[float, CLIPPING_NORM]
SharedDimension = Annotated[int, SHARED_DIMENSION]
Personalization = Annotated[Annotated[float, FINITE_PERSONALIZATION] | Literal["unbounded"], PERSONALIZATION]


def personalization_value(value: float | str) -> float:
    """α as a double, math.inf for "unbounded".

    Raises:
        InvalidInput: neither that word nor a number from 0 to 1e100.
    """
    if value == "unbounded":
        return math.inf
    if isinstance(value, bool | str) or not FINITE_PERSONALIZATION.contains(value):
        raise InvalidInput.at(
            "/personalization", "is out of range", allowed=f'{FINITE_PERSONALIZATION.allowed}, or "unbounded"'
        )
    return float(value)


# A run of projected gradient descent whose last model alone is seen -------------------------------------------------
Batches = Literal["shuffled", "cyclic", "without-replacement"]
Release = Literal["last", "random-stop", "suffix"]

BATCHES = Quantity(description="how the batch of each step is chosen")
RELEASE = Quantity(description="which model is released")
CONVEX = Quantity(description="whether every record's loss is convex")
SUFFIX_FRACTION = Quantity(
    symbol="α", gt=0, lt=1, description="the released step is uniform on ⌈αT⌉, …, T (release `suffix` only)"
)
STEP_SCHEDULE = Quantity(symbol="η_t", unit="length²/loss", description="step size of each step t = 1, …, T")
NOISE_SCHEDULE = Quantity(
    symbol="σ_t", unit="gradient", description="standard deviation per coordinate of one client's noise in each step"
)
SCHEDULE_VALUE = Quantity(description="the value at every step", unit="that of the schedule", ge=1e-100, le=1e100)
SCHEDULE_SCALE = replace(SCHEDULE_VALUE, description="the value at step 1, divided by t at step t")
SCHEDULE_VALUES = Quantity(description="the values at steps 1, …, T in their order")
DISTANCE = Quantity(symbol="‖m₁−m₂‖", unit="that of the noise", ge=0, description="distance of two means")
IMAGE_DIAMETER = Quantity(
    symbol="D", unit="that of the noise", ge=0, description="diameter of the set that the noise is added to"
)
KERNEL_NOISE_STD = _positive("s", "standard deviation per coordinate of the noise a kernel adds", "that of the values")
PRIVACY_LOSS = Quantity(symbol="ε", unit="nat", ge=0, le=1e9, description="privacy loss ε ≥ 0, natural logs")

SuffixFraction = Annotated[float, SUFFIX_FRACTION]
Distance = Annotated[float, DISTANCE]
ImageDiameter = Annotated[float, IMAGE_DIAMETER]
KernelNoiseStd = Annotated[float, KERNEL_NOISE_STD]
PrivacyLoss = Annotated[float, PRIVACY_LOSS]
Radius = Annotated[float, LEARNING_RADIUS]

# Updates on a grid, with integer noise ------------------------------------------------------------------------------
QUANTIZATION_LEVELS = _count("s", "grid steps per unit: coordinates in [−1, 1] are rounded to multiples of 1/s")
FLAT_DECAY_RATE = Quantity(symbol="α", ge=0, le=700, description="decay of truncated integer noise, 0 if it is uniform")
UPDATE_L1 = Quantity(symbol="‖u−u'‖₁", ge=0, description="ℓ1 distance of the unit updates on neighbouring data")
UPDATE_L2 = Quantity(symbol="‖u−u'‖₂", ge=0, le=2, description="ℓ2 distance of the unit updates on neighbouring data")
UPDATE_LINF = Quantity(symbol="‖u−u'‖∞", ge=0, le=2, description="most that one coordinate of the unit update differs")
RELATIVE_MOVEMENT = Quantity(
    symbol="μ", gt=0, le=2, description="ℓ2 distance of the unit updates on neighbouring data, as equation (6) has it"
)
FAILURE_DELTA = Quantity(
    symbol="2e^−L", gt=0, lt=1, description="probability, over the rounding, that the values move further than said"
)
GROWTH_RATIO = Quantity(
    symbol="ρ", gt=1, description="largest norm of a record's gradient over that of its client's mean one"
)
LOCAL_STEPS = _count("E", "gradient steps of one client per round")
QUASAR_CONVEXITY = Quantity(symbol="ζ", gt=0, le=1, description="quasar-convexity of every client's loss, 1 if convex")
COMPRESSION = Quantity(symbol="γ", ge=0, description="mean squared error of one client's message")
CLIENT_OPTIMUM_DISTANCE = Quantity(
    symbol="‖w*_i−w*‖", unit="length", ge=0, description="distance of a client's own minimiser from the common one"
)
VALUE = Quantity(symbol="y", description="a value of the noise", ge=-(10**24), le=10**24)
SHIFT = Quantity(symbol="k", description="how far one coordinate moves, in grid steps", ge=0, le=10**24)
TRIALS = _count("N", "trials of the Binomial noise")
STEP_RATIO = _positive("β/η", "step of the server over the clients' step", "length")

QuantizationLevels = Annotated[int, QUANTIZATION_LEVELS]
FlatDecayRate = Annotated[float, FLAT_DECAY_RATE]
GrowthRatio = Annotated[float, GROWTH_RATIO]
LocalSteps = Annotated[int, LOCAL_STEPS]
QuasarConvexity = Annotated[float, QUASAR_CONVEXITY]
