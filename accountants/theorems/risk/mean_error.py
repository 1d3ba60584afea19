"""Squared error of a mean that is released with noise: the risk of mean estimation.

Gaussian noise: T rounds release the sum of a random batch of n vectors x_i in the ball of radius C, plus noise of
standard deviation σ per coordinate. Every sum is divided by the expected batch size b, and the T quotients are
averaged. The average is unbiased for the mean x̄, and the rounds are independent. So its mean squared error is:

    (V + dσ²)/(b²T),  V the expected squared distance of a batch's sum from b x̄.

V is 0 if a batch has all vectors. For Poisson batches of rate q, V = q(1 − q) Σ‖x_i‖² ≤ b(1 − q)C². For b distinct
vectors, V = b(n − b)/(n − 1) · (1/n)Σ‖x_i − x̄‖² ≤ b(n − b)/(n − 1) · C². With replacement, V ≤ bC².

Rounded messages: the message of a unit vector u of d coordinates is rounded at random to multiples of 1/s. The
rounding has no bias, and the noise is symmetric, of standard deviation σ per coordinate. The mean squared error of a
message is at most d/(4s²) + dσ². The messages of r clients are independent, so their mean has at most 1/r of this
error.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import formula
from epsilond.accountants.numerics.outward import round_up
from epsilond.accountants.quantities import (
    RATE,
    SAMPLING,
    Dimension,
    Participants,
    Quantity,
    Rounds,
    Sampling,
)
from epsilond.accountants.quantities.algorithms import QuantizationLevels
from epsilond.accountants.quantities.ranges import in_squares_or_zero
from epsilond.accountants.quantity import LARGEST_COUNT
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem

RECORDS = Quantity(symbol="n", ge=1, le=LARGEST_COUNT, description="number of vectors whose mean is estimated")
CONTRIBUTION_NORM = in_squares_or_zero("C", "bound on the ℓ2 norm of every vector", "that of the vectors")
SUM_NOISE_STD = in_squares_or_zero("σ", "noise per coordinate of the sum of a batch", "that of the vectors")
WHOLE = Fraction(1, 10**9)
"""Relative difference of rate · records from a whole number that counts as rounding of the rate."""
MESSAGE_NOISE_STD = in_squares_or_zero("σ", "noise per coordinate of a message", "that of the update")


def whole_batch(*, rate: float, records: int) -> int:
    """Return the size b = rate · records of a batch of a fixed size, as an exact whole number.

    A sum over b vectors is divided by rate · records. If this number were not whole, the quotient would be biased, and
    the error bounds would not hold.

    Args:
        rate: share b/n of the vectors that a batch has, in (0, 1].
        records: number n of vectors, at least 1.

    Returns:
        The batch size b, at least 1.

    Raises:
        InvalidInput: rate · records is not a whole number of at least 1, up to the relative tolerance `WHOLE` for the
            rounding of the rate.
    """
    # The product is exact, so that only the rounding of the rate remains.
    exact_batch = Fraction(rate) * records
    batch = round(exact_batch)
    is_whole = abs(exact_batch - batch) <= WHOLE * batch
    if batch >= 1 and is_whole:
        return batch

    nearest_rate = max(batch, 1) / records
    message = f"{rate:.10g} of {records} records is {rate * records:.10g}, and a batch has a whole number of them"
    raise InvalidInput.at("/rate", message, allowed=f"a multiple of 1/{records}, such as {nearest_rate}")


def batch_variance(*, sampling: Sampling, records: int, batch: Fraction, norm: float) -> Fraction:
    """Return the largest variance of the sum of the vectors in a random batch.

    The variance is the expected squared distance of the sum from its expectation. Its maximum depends on the sampling:

    - b(1 − b/n)C² for a Poisson batch,
    - bC² for b independent vectors,
    - b(n − b)/(n − 1) · C² for b distinct vectors.

    Vectors of norm C attain it. Unless the batch is a Poisson sample, their mean must also be 0.

    Args:
        sampling: method by which the batch is drawn, such as "poisson" or "with-replacement".
        records: number n of vectors, at least 1.
        batch: expected batch size b, at most n.
        norm: bound C ≥ 0 on the norm of every vector.

    Returns:
        The bound as an exact fraction, in squared units of the norm.
    """
    squared_norm = Fraction(norm) ** 2
    if sampling == "poisson":
        return batch * (1 - batch / records) * squared_norm
    if sampling == "with-replacement":
        return batch * squared_norm
    # Without replacement, the finite population correction applies. It makes the variance of a full batch 0.
    return batch * (records - batch) / max(records - 1, 1) * squared_norm


@formula(given="T rounds in which a random batch of n vectors is summed with Gaussian noise; their mean is estimated.")
def noisy_mean(
    *,
    sampling: Annotated[Sampling, SAMPLING],
    records: Annotated[int, RECORDS],
    rate: Annotated[float, RATE] = 1.0,
    dimension: Dimension,
    contribution_norm: Annotated[float, CONTRIBUTION_NORM],
    noise_std: Annotated[float, SUM_NOISE_STD],
    rounds: Rounds,
) -> Outputs:
    """Return the largest mean squared error of a mean of vectors that is estimated from T noisy random batches.

    The vectors of each batch are added up, and the sum gets Gaussian noise. Each sum is divided by the expected batch
    size b, and the T quotients are averaged. The average has no bias, so its mean squared error is:

        (V + dσ²)/(b²T),

    where V is the largest variance of a batch's sum.

    Args:
        sampling: method by which batches are drawn.
        records: number n of vectors.
        rate: expected batch size over n.
        dimension: number d of coordinates.
        contribution_norm: bound C on the norm of every vector.
        noise_std: standard deviation σ of the noise of a sum, per coordinate.
        rounds: number T of rounds.

    Returns:
        `squared_error`: the bound.
        `sampling_term`, `noise_term`: its summands V/(b²T) and dσ²/(b²T).
        `squared_error_of_zero`: C², the largest squared error of the estimate 0.
        All are rounded up.

    Raises:
        InvalidInput: `sampling` is "full" and `rate` is not 1, or a batch of a fixed size is not a whole number.
    """
    if sampling == "full" and rate != 1.0:
        raise InvalidInput.at("/rate", "a full batch has all vectors", allowed="1")
    batch = Fraction(rate) * records
    has_fixed_size = sampling in ("without-replacement", "with-replacement")
    if has_fixed_size:
        batch = Fraction(whole_batch(rate=rate, records=records))

    # A sum is divided by b, and T quotients are averaged, so that variances are divided by b²T.
    divisor = batch**2 * rounds
    variance = batch_variance(sampling=sampling, records=records, batch=batch, norm=contribution_norm)
    sampling_term = variance / divisor
    noise_term = dimension * Fraction(noise_std) ** 2 / divisor
    return {
        "squared_error": round_up(sampling_term + noise_term),
        "sampling_term": round_up(sampling_term),
        "noise_term": round_up(noise_term),
        "squared_error_of_zero": round_up(Fraction(contribution_norm) ** 2),
    }


@formula(given="The mean of r clients' unit updates, rounded to a grid of 1/s and sent with noise.")
def mean_of_messages(
    *,
    participants: Participants,
    dimension: Dimension,
    quantization_levels: QuantizationLevels,
    noise_std: Annotated[float, MESSAGE_NOISE_STD],
) -> Outputs:
    """Bound the mean squared error of an average of r unit vectors that are rounded to a grid and get noise.

    Each coordinate is rounded at random to a multiple of 1/s without bias, which adds a variance of at most 1/(4s²).
    The messages are independent, so the variance of their mean is divided by r.

    Args:
        participants: number r of clients.
        dimension: number d of coordinates.
        quantization_levels: grid steps s in a unit.
        noise_std: standard deviation σ of a message's noise per coordinate, in units of the update.

    Returns:
        `squared_error`: d/(4s²r) + dσ²/r, rounded up.
        `rounding_term`, `noise_term`: its two summands, rounded up.
        `squared_error_of_zero`: 1, the bound for the estimate 0.
    """
    rounding = Fraction(dimension, 4 * quantization_levels**2 * participants)
    noise = dimension * Fraction(noise_std) ** 2 / participants
    return {
        "squared_error": round_up(rounding + noise),
        "rounding_term": round_up(rounding),
        "noise_term": round_up(noise),
        "squared_error_of_zero": 1.0,
    }


BOUNDED_VECTORS = Condition("bounded-vectors", "every vector has ℓ2 norm at most C, as no vector is clipped")
FRESH_ROUNDS = Condition("fresh-rounds", "batches are drawn afresh in every round, and every sum has fresh noise")
KNOWN_DIVISOR = Condition("known-divisor", "every sum is divided by the expected batch size, whatever the batch holds")
UNBIASED_ROUNDING = Condition(
    "unbiased-rounding",
    "every client rounds each coordinate of its unit update at random, without bias, and adds its own noise",
)
NOISY_MEAN = Theorem(
    id="epsilond.noisy-mean-error",
    title="The squared error of a mean from noisy sums of random batches",
    statement=(
        "Let T noisy sums of random batches be divided by the expected batch size b and averaged. The mean squared "
        "error for the mean of all n vectors is (V + dσ²)/(b²T). V is 0 for full batches. It is at most b(1 − b/n)C² "
        "for Poisson batches. For whole b it is at most bC² with replacement, and b(n − b)C²/(n − 1) without. The "
        "answer 0 has at most C²"
    ),
    source=Source("epsilond", "accountants/theorems/risk/mean_error.py"),
    status=Status.PROVED,
    conditions=(BOUNDED_VECTORS, FRESH_ROUNDS, KNOWN_DIVISOR),
    formula=noisy_mean,
    examples=(
        {
            "sampling": "poisson",
            "records": 1000,
            "rate": 0.05,
            "dimension": 10,
            "contribution_norm": 1.0,
            "noise_std": 2.0,
            "rounds": 100,
        },
    ),
)
MEAN_OF_MESSAGES = Theorem(
    id="epsilond.mean-of-messages-error",
    title="The squared error of the mean of rounded and noisy messages",
    statement=(
        "The mean of the messages of r clients has a mean squared error of at most d/(4s²r) + dσ²/r about the mean of "
        "their d-dimensional unit updates. The updates are rounded to multiples of 1/s, with noise σ per coordinate. "
        "The answer 0 has an error of at most 1"
    ),
    source=Source("epsilond", "accountants/theorems/risk/mean_error.py"),
    status=Status.PROVED,
    conditions=(UNBIASED_ROUNDING,),
    formula=mean_of_messages,
    examples=({"participants": 10, "dimension": 100, "quantization_levels": 64, "noise_std": 0.1},),
)
THEOREMS: tuple[Theorem, ...] = (NOISY_MEAN, MEAN_OF_MESSAGES)
