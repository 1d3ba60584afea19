"""Quantities of single kinds of mechanisms: mixtures, integer noise, and how batches are drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from epsilond.accountants.quantities.ranges import count
from epsilond.accountants.quantity import LARGEST_COUNT, Quantity

MIXTURE_SENSITIVITY = Quantity(
    symbol="s_i",
    ge=0,
    le=LARGEST_COUNT,
    description="bound on the ℓ2 norm of a contribution, divided by the bound C that noise_multiplier refers to",
)


MIXTURE_PROBABILITY = Quantity(
    symbol="p_i", ge=0, le=1, description="probability that a contribution has this bound on its norm"
)


MIXTURE_SENSITIVITIES = Quantity(
    description="possible bounds on the ℓ2 norm of one record's contribution, divided by the bound C that "
    "noise_multiplier refers to"
)


MIXTURE_PROBABILITIES = Quantity(
    description="probability of each of the sensitivities, in their order. They add up to 1. The largest is "
    "replaced by 1 minus the sum of the others"
)


INTEGER_SENSITIVITY = Quantity(
    symbol="Δ",
    ge=1,
    le=LARGEST_COUNT,
    description="ℓ1 sensitivity: largest ℓ1 distance between the integer vectors of two neighbouring data sets",
)


L1_SENSITIVITY = Quantity(
    symbol="Δ₁",
    gt=0,
    le=LARGEST_COUNT,
    unit="grid step",
    description="ℓ1 sensitivity: largest ℓ1 distance between the integer vectors of two neighbouring data "
    "sets, in grid steps",
)


LINF_SENSITIVITY = Quantity(
    symbol="Δ∞",
    gt=0,
    le=LARGEST_COUNT,
    unit="grid step",
    description="ℓ∞ sensitivity: largest difference in one coordinate between the integer vectors of two "
    "neighbouring data sets, in grid steps",
)


L2_SENSITIVITY = Quantity(
    symbol="Δ₂",
    gt=0,
    le=LARGEST_COUNT,
    unit="grid step",
    description="ℓ2 sensitivity: largest ℓ2 distance between the integer vectors of two neighbouring data "
    "sets, in grid steps",
)


LEVEL = Quantity(
    description=(
        "whether records or clients are drawn. Absent: the protected unit is drawn. If the inner "
        "mechanism draws again, both readings are bounded and the larger bound holds. The request is "
        "rejected if no bound covers both"
    )
)


IntegerSensitivity = Annotated[int, INTEGER_SENSITIVITY]


LARGEST_BATCH = replace(
    count(
        "B",
        "largest number of records, or of clients, in a batch. If more are drawn, a uniform subset of this size is "
        "kept",
    ),
    of_unit="largest number of {unit}s in a batch. If more are drawn, a uniform subset of this size is kept",
)


RECORDS_OF_ONE_CLIENT = count(
    "k",
    "largest number of records of one client. Give it if noise_multiplier refers to the norm bound "
    "of one record, and clients are protected",
)


ALLOCATED_STEPS = Quantity(symbol="t", ge=1, le=10**6, description="number of batches in one epoch")


TIMES_CHOSEN = Quantity(
    symbol="k",
    ge=1,
    le=10**6,
    description="number of batches of one epoch that contain a given record; if clients are protected, a given client",
)


KEPT = Quantity(
    description="true: a record or client is in the same batches in every epoch. false: its batches are drawn "
    "again in each epoch"
)


EPOCHS = count("E", "number of epochs, which are passes over the data")


REPORT_DIMENSION = count(
    "d", "number of coordinates of one client's message. Absent: the bound must hold for any number"
)
