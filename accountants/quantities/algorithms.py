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
    "standard deviation of the noise on the sum of the bits of a round. Each participant sends one "
    "bit, −½ if its update was clipped and ½ otherwise",
)
UPDATE_NORM = in_squares(
    "C", "bound on the ℓ2 norm of one client's update. With adaptive clipping it is the bound in the present round"
)
SHARED_DIMENSION = count("d_w", "number of coordinates of the shared part of the model")
NOISE_CONSTANT = in_squares(
    "c",
    "constant in the paper's formulas for the noise, which it does not specify: c in equation (4), c₂ in equation (12)",
)
SHARED_NOISE_STD = in_squares_or_zero(
    "σ_ζ",
    "standard deviation per coordinate of the noise that the server adds to the average of the "
    "clients' shared gradients",
    "loss/length",
)
SHARED_GRADIENT_STD = in_squares_or_zero(
    "σ_w",
    "root mean square distance of a record's gradient in the shared part from the expected "
    "gradient of its client, at the optimum",
    "loss/length",
)
LOCAL_GRADIENT_STD = in_squares_or_zero(
    "σ_θ",
    "root mean square norm of a record's gradient in its client's own part of the model, at the optimum",
    "loss/length",
)
SHARED_GRADIENT_NORM = in_squares_or_zero(
    "‖∇_w f_i‖",
    "bound on the norm of a client's expected gradient in the shared part, at the optimum. It is 0 "
    "if a client's model is the sum of shared and own part",
    "loss/length",
)
OPTIMUM_NORM = in_squares_or_zero(
    "‖v̄‖", "distance between the initial model and the mean of the clients' own optimal models", "length"
)
OPTIMUM_SPREAD = in_squares_or_zero(
    "√(S_v/N)",
    "root mean square distance of the clients' own optimal models from their mean; 0 if they are all equal",
    "length",
)
WEIGHTED_NORM = in_squares_or_zero("‖z*‖_α", "√(‖w*‖²/α + Σ‖θ_i*‖²), the distance that the bound pays for", "length")
WEIGHTED_NORM_OLDER_NAME = in_squares_or_zero(
    "‖z*‖_α",
    "older name of weighted_optimum_norm here, √(‖w*‖²/α + Σ‖θ_i*‖²); give one of the two. "
    "Elsewhere optimum_norm is ‖v̄‖, the norm of the mean of the clients' own optima",
    "length",
)
WEIGHTING = Quantity(
    description="weights in the average of the messages. clients: every client has the same weight. samples: "
    "the weight is proportional to the records in the client's batch"
)
FINITE_PERSONALIZATION = Quantity(
    symbol="α",
    ge=0,
    le=1e100,
    description="step size of the shared part, divided by N times the step size of a client's own part, for N clients",
)
PERSONALIZATION = Quantity(
    symbol="α",
    description="degree of sharing: step size of the shared part, divided by N times the step size of a "
    'client\'s own part, for N clients. 0: each client learns without the others. "unbounded": all '
    "clients have one model",
)

ClippingNorm = Annotated[float, CLIPPING_NORM]
SharedDimension = Annotated[int, SHARED_DIMENSION]
Personalization = Annotated[Annotated[float, FINITE_PERSONALIZATION] | Literal["unbounded"], PERSONALIZATION]


def personalization_value(value: float | str) -> float:
    """Return the personalisation parameter α of PPSGD from its JSON form.

    PPSGD is personalised private gradient descent. A model has a part shared by all N clients, and a part of the
    client's own. α is the step size of the shared part, divided by N times the step size of the own part.

    Args:
        value: α in JSON, a number or "unbounded".

    Returns:
        α as a double; infinity for "unbounded", where all clients have one model.

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

BATCHES = Quantity(description="how the clients in the batch of each step are chosen")
RELEASE = Quantity(
    description="which model is released. last: the model after the last step. random-stop: after a uniformly "
    "random step. suffix: after a uniformly random step among the last ones"
)
CONVEX = Quantity(description="whether every record's loss is convex")
SUFFIX_FRACTION = Quantity(
    symbol="α",
    gt=0,
    lt=1,
    description="for release `suffix`: fraction α. The released model is that after a step drawn uniformly "
    "from ⌈αT⌉, …, T, where T is the number of steps",
)
STEP_SCHEDULE = Quantity(symbol="η_t", unit="length²/loss", description="step size in each step of the run")
NOISE_SCHEDULE = Quantity(
    symbol="σ_t",
    unit="gradient",
    description="standard deviation per coordinate of the noise that one client adds, in each step of the run",
)
SCHEDULE_VALUE = Quantity(description="value at every step", unit="that of the schedule", ge=1e-100, le=1e100)
SCHEDULE_SCALE = replace(SCHEDULE_VALUE, description="value s at step 1; the value at step t is s/t")
SCHEDULE_VALUES = Quantity(description="value at each step, in the order of the steps")
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
QUANTIZATION_LEVELS = count(
    "s", "number s of grid steps in a unit: coordinates in [−1, 1] are rounded to multiples of 1/s"
)
FLAT_DECAY_RATE = Quantity(symbol="α", ge=0, le=700, description="decay of truncated integer noise, 0 if it is uniform")
UPDATE_L1 = Quantity(
    symbol="‖u−u'‖₁",
    ge=0,
    description="largest ℓ1 distance between the normalised updates (of norm 1) of two neighbouring data sets, "
    "before rounding",
)
UPDATE_L2 = Quantity(
    symbol="‖u−u'‖₂",
    ge=0,
    le=2,
    description="largest ℓ2 distance between the normalised updates (of norm 1) of two neighbouring data sets, "
    "before rounding",
)
UPDATE_LINF = Quantity(
    symbol="‖u−u'‖∞",
    ge=0,
    le=2,
    description="largest difference in one coordinate between the normalised updates (of norm 1) of two "
    "neighbouring data sets, before rounding",
)
RELATIVE_MOVEMENT = Quantity(
    symbol="μ",
    gt=0,
    le=2,
    description="μ in equation (6) of Das et al.: largest ℓ2 distance between the normalised updates (of norm "
    "1) of two neighbouring data sets",
)
FAILURE_DELTA = Quantity(
    symbol="2e^−L",
    gt=0,
    lt=1,
    description="probability, over the random rounding, that two neighbouring integer vectors are further "
    "apart than the sensitivities state",
)
GROWTH_RATIO = Quantity(
    symbol="ρ",
    gt=1,
    description="largest ratio of the norm of a record's gradient to the norm of its client's mean gradient",
)
MOST_PARTICIPATIONS = count(
    "K",
    "largest number of rounds in which one client may take part. Absent: the number of rounds; "
    "with groups, the largest number of any group",
)
LOCAL_STEPS = count("E", "number of gradient steps of one client in a round")
QUASAR_CONVEXITY = Quantity(
    symbol="ζ", gt=0, le=1, description="quasar-convexity constant of every client's loss; 1 if the losses are convex"
)
COMPRESSION = Quantity(symbol="γ", ge=0, description="mean squared error of one client's message")
CLIENT_OPTIMUM_DISTANCE = Quantity(
    symbol="‖w*_i−w*‖",
    unit="length",
    ge=0,
    description="bound on the distance between the minimiser of a client's own loss and the minimiser of the mean loss",
)
VALUE = Quantity(symbol="y", description="a value of the noise", ge=-(10**24), le=10**24)
SHIFT = Quantity(symbol="k", description="how far one coordinate moves, in grid steps", ge=0, le=10**24)
TRIALS = count("N", "number of trials (coin flips) of the Binomial noise of one coordinate")
STEP_RATIO = positive("β/η", "step size of the server, divided by the step size of the clients", "length")

QuantizationLevels = Annotated[int, QUANTIZATION_LEVELS]
FlatDecayRate = Annotated[float, FLAT_DECAY_RATE]
GrowthRatio = Annotated[float, GROWTH_RATIO]
LocalSteps = Annotated[int, LOCAL_STEPS]
QuasarConvexity = Annotated[float, QUASAR_CONVEXITY]
