"""Quantities of single algorithms: personalised learning, projected descent, and updates on a grid."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Literal

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import LEARNING_RADIUS
from epsilond.accountants.quantities.ranges import count, in_squares, in_squares_or_zero, positive
from epsilond.accountants.quantity import Quantity

# Personalised learning: a shared part w of every model, and a part θ_i of each client's own ---------------------------
Weighting = Literal["clients", "samples"]

CLIPPING_NORM = in_squares("C", "bound on the ℓ2 norm of one client's message in a round", "loss/length")
COUNT_STD = in_squares(
    "σ_b",
    "standard deviation of the noise on the sum of the clipped bits of a round. The unit is a bit's range, which is "
    "1: from −½ to ½",
)
UPDATE_NORM = in_squares(
    "C", "bound on the ℓ2 norm of one client's update; with adaptive clipping the bound of the present round"
)
SHARED_DIMENSION = count("d_w", "coordinates of the shared part of the model")
NOISE_CONSTANT = in_squares("c", "value of the constant that the paper leaves open in its noise: c in (4), c₂ in (12)")
SHARED_NOISE_STD = in_squares_or_zero(
    "σ_ζ", "standard deviation per coordinate of the server's noise on the averaged shared gradient", "loss/length"
)
SHARED_GRADIENT_STD = in_squares_or_zero(
    "σ_w",
    "root mean square distance, at the optimum, of a record's shared gradient from its expected one",
    "loss/length",
)
LOCAL_GRADIENT_STD = in_squares_or_zero(
    "σ_θ", "root mean square norm, at the optimum, of a record's gradient in its client's own part", "loss/length"
)
SHARED_GRADIENT_NORM = in_squares_or_zero(
    "‖∇_w f_i‖",
    "bound on the norm, at the optimum, of a client's expected shared gradient; 0 for models w + θ_i",
    "loss/length",
)
OPTIMUM_NORM = in_squares_or_zero("‖v̄‖", "norm of the mean of the clients' own optima, from the start", "length")
OPTIMUM_SPREAD = in_squares_or_zero(
    "√(S_v/N)", "root mean square distance of the clients' own optima from their mean, 0 if all are equal", "length"
)
WEIGHTED_NORM = in_squares_or_zero("‖z*‖_α", "√(‖w*‖²/α + Σ‖θ_i*‖²), the distance that the bound pays for", "length")
WEIGHTED_NORM_OLDER_NAME = in_squares_or_zero(
    "‖z*‖_α",
    "older name of weighted_optimum_norm here, √(‖w*‖²/α + Σ‖θ_i*‖²); give one of the two. "
    "Elsewhere optimum_norm is ‖v̄‖, the norm of the mean of the clients' own optima",
    "length",
)
WEIGHTING = Quantity(
    description="weight of a client in the average: the same for all clients, or by the records of its batch"
)
FINITE_PERSONALIZATION = Quantity(
    symbol="α",
    ge=0,
    le=1e100,
    description="step size of the shared part, divided by N times the step size of a client's own part",
)
PERSONALIZATION = Quantity(
    symbol="α",
    description="step size of the shared part, divided by N times the step size of a client's own part. "
    '0: clients learn alone; "unbounded": they share everything',
)

ClippingNorm = Annotated[float, CLIPPING_NORM]
SharedDimension = Annotated[int, SHARED_DIMENSION]
Personalization = Annotated[Annotated[float, FINITE_PERSONALIZATION] | Literal["unbounded"], PERSONALIZATION]


def personalization_value(value: float | str) -> float:
    """Return the personalisation α of PPSGD, the weight of the shared part of the models, as a double.

    Args:
        value: α in JSON, a number or "unbounded", which gives math.inf.

    Raises:
        InvalidInput: the value is neither "unbounded" nor a number in [0, 1e100].
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
KERNEL_NOISE_STD = positive("s", "standard deviation per coordinate of the noise a kernel adds", "that of the values")
PRIVACY_LOSS = Quantity(symbol="ε", unit="nat", ge=0, le=1e9, description="privacy loss ε ≥ 0, natural logs")

Distance = Annotated[float, DISTANCE]
ImageDiameter = Annotated[float, IMAGE_DIAMETER]
KernelNoiseStd = Annotated[float, KERNEL_NOISE_STD]
PrivacyLoss = Annotated[float, PRIVACY_LOSS]
Radius = Annotated[float, LEARNING_RADIUS]

# Updates on a grid, with integer noise ------------------------------------------------------------------------------
QUANTIZATION_LEVELS = count("s", "grid steps per unit: coordinates in [−1, 1] are rounded to multiples of 1/s")
FLAT_DECAY_RATE = Quantity(symbol="α", ge=0, le=700, description="decay of truncated integer noise, 0 if it is uniform")
UPDATE_L1 = Quantity(symbol="‖u−u'‖₁", ge=0, description="ℓ1 distance of the unit updates on neighbouring data")
UPDATE_L2 = Quantity(symbol="‖u−u'‖₂", ge=0, le=2, description="ℓ2 distance of the unit updates on neighbouring data")
UPDATE_LINF = Quantity(
    symbol="‖u−u'‖∞",
    ge=0,
    le=2,
    description="largest difference of one coordinate of the unit update between neighbours",
)
RELATIVE_MOVEMENT = Quantity(
    symbol="μ", gt=0, le=2, description="ℓ2 distance of the unit updates on neighbouring data, in equation (6)"
)
FAILURE_DELTA = Quantity(
    symbol="2e^−L", gt=0, lt=1, description="probability, over the rounding, that the values move further than said"
)
GROWTH_RATIO = Quantity(
    symbol="ρ",
    gt=1,
    description="largest norm of a record's gradient, divided by the norm of its client's mean gradient",
)
MOST_PARTICIPATIONS = count(
    "K", "largest number of rounds in which one client may report; absent: all rounds, or the most of any group"
)
LOCAL_STEPS = count("E", "gradient steps of one client per round")
QUASAR_CONVEXITY = Quantity(symbol="ζ", gt=0, le=1, description="quasar-convexity of every client's loss, 1 if convex")
COMPRESSION = Quantity(symbol="γ", ge=0, description="mean squared error of one client's message")
CLIENT_OPTIMUM_DISTANCE = Quantity(
    symbol="‖w*_i−w*‖", unit="length", ge=0, description="distance of a client's own minimiser from the common one"
)
VALUE = Quantity(symbol="y", description="a value of the noise", ge=-(10**24), le=10**24)
SHIFT = Quantity(symbol="k", description="how far one coordinate moves, in grid steps", ge=0, le=10**24)
TRIALS = count("N", "trials of the Binomial noise")
STEP_RATIO = positive("β/η", "step of the server over the clients' step", "length")

QuantizationLevels = Annotated[int, QUANTIZATION_LEVELS]
FlatDecayRate = Annotated[float, FLAT_DECAY_RATE]
GrowthRatio = Annotated[float, GROWTH_RATIO]
LocalSteps = Annotated[int, LOCAL_STEPS]
QuasarConvexity = Annotated[float, QUASAR_CONVEXITY]
