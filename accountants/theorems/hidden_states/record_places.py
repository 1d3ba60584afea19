"""The places of a record in the order of the batches, by the number of steps from its last use to the release.

Bounds on δ at the places are stored as logarithms, with bounds on their errors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.numerics.factor_sums import LEAST_LOG_FACTOR
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.theorems.hidden_states.shifted_interpolation import BLOCK_RATIO

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.theorems.hidden_states.projected_run import ProjectedRun

EXACT_PLACES = 4096
"""Number of steps from the last use to the release below which every number is evaluated; blocks follow."""


@dataclass(frozen=True)
class RecordPlaces:
    """Possible places of a record in a run of SGD, all with the same number of uses of the record.

    A place is a choice of the steps that use the record and of the step that releases its model. Bounds depend on it
    only by v, the number of steps from the last use to the release. There are min(`cap`, `top` − v) places with the
    same v. This is 1 unless a random step is released and the order of the batches is secret.

    Attributes:
        uses: number of steps that use the record, at least 1.
        first: least v, in steps.
        last: largest v, in steps.
        cap: largest number of places with the same v: the number of steps that may be released, or 1.
        top: number of steps of the run, of which only `top` − v are followed by v others; infinite if each v has `cap`
            places.
    """

    uses: int
    first: int
    last: int
    cap: float = 1.0
    top: float = math.inf

    def before(self, steps_after_use: FloatArray) -> FloatArray:
        """Count the places with fewer than v steps from the last use of the record to the release.

        The count is:

            Σ_{first ≤ w < v} min(cap, top − w).

        The terms are `cap` below w = `turn`, and from there on top − w, an arithmetic series.

        Args:
            steps_after_use: array of numbers v of steps from the last use to the release.

        Returns:
            An array with one count for each v.
        """
        turn = max(float(self.first), min(self.last + 1.0, self.top - self.cap + 1.0))
        # The places have v from `first` to `last`.
        end = np.clip(steps_after_use, self.first, self.last + 1.0)
        constant_sum = self.cap * (np.minimum(end, turn) - self.first)
        if math.isinf(self.top):
            return np.asarray(constant_sum)
        decreasing_count = np.maximum(end - turn, 0.0)
        decreasing_sum = decreasing_count * (self.top - turn) - 0.5 * decreasing_count * (decreasing_count - 1.0)
        return np.asarray(constant_sum + decreasing_sum)

    @cached_property
    def nodes(self) -> FloatArray:
        """Numbers v of steps from the last use to the release at which bounds on δ are evaluated.

        They are all v below `EXACT_PLACES`, then the first v of each block. A block is a range of consecutive v. The
        ratio of its ends is at most about `BLOCK_RATIO`. The bound at its first v is valid for the others, because
        bounds decrease in v.
        """
        exact = np.arange(min(self.last + 1, EXACT_PLACES), dtype=np.float64)
        if self.last < EXACT_PLACES:
            return exact
        block_count = math.ceil(math.log((self.last + 1.0) / EXACT_PLACES) / math.log(BLOCK_RATIO))
        blocks = np.floor(EXACT_PLACES * BLOCK_RATIO ** np.arange(block_count))
        return np.unique(np.concatenate((exact, blocks[blocks <= self.last])))

    @cached_property
    def weights(self) -> FloatArray:
        """Number of places in the block of each node; a v below `EXACT_PLACES` is a block of its own."""
        node_bounds = np.append(self.nodes, self.last + 1.0)
        return np.asarray(np.diff(self.before(node_bounds)))

    @cached_property
    def log_weights(self) -> FloatArray:
        """Natural logarithms of `weights`; −∞ for a block without places."""
        with np.errstate(divide="ignore"):
            return np.log(self.weights)


class PossiblePlaces(NamedTuple):
    """All possible places of a record in a run of SGD.

    A place is a choice of the steps that use the record and of the step that releases its model.

    Attributes:
        kinds: the places, one entry for each number of uses of the record.
        log_probability: logarithm of the probability of each place, which is the same for all; 0 if there is only one.
    """

    kinds: tuple[RecordPlaces, ...]
    log_probability: float


def places(run: ProjectedRun) -> PossiblePlaces:
    """Return the possible places of a record in a run of equal steps.

    A place is a choice of the steps that use the record and of the step that releases its model. If the order of the
    batches is known, only the worst record is considered.

    Args:
        run: the run of projected SGD, with equal step sizes and noises.
    """
    if run.stops > 1:
        return _places_of_random_release(run)
    return _places_of_last_release(run)


def _places_of_random_release(run: ProjectedRun) -> PossiblePlaces:
    """Return the possible places of a record in a single pass of SGD with a release after a random step.

    A place is a pair of steps: the record is used in step j only, and the model is released after step τ. τ is uniform
    on the last S of T steps. Bounds depend only on v = τ − j, and the record has no effect if v < 0. In a secret order,
    min(S, T − v) pairs (j, τ) have the same v. In a known order, the worst j is the first step that may be released;
    v is then uniform on 0, …, S − 1.

    Args:
        run: a single pass of projected SGD with equal steps.
    """
    if run.known_order:
        kind = RecordPlaces(uses=1, first=0, last=run.stops - 1)
        return PossiblePlaces((kind,), -math.log(run.stops))
    # At most `cap` = S pairs have the same v, and at most `top` − v with `top` = T.
    kind = RecordPlaces(uses=1, first=0, last=run.steps - 1, cap=float(run.stops), top=float(run.steps))
    # Step j uses the record with probability m/n, for batches of m of n clients. Step τ is released with 1/S.
    log_probability = math.log(run.participants) - math.log(run.clients) - math.log(run.stops)
    return PossiblePlaces((kind,), log_probability)


def _places_of_last_release(run: ProjectedRun) -> PossiblePlaces:
    """Return the possible places of a record in a run of SGD that releases the model after the last step.

    The run has T = E l + r steps: E full passes of l = `run.period` batches, and r further steps. A record in one of
    the first r batches is used E + 1 times, and any other record E times. In a known order, the worst record is used
    most often, and is used in the last step.

    Args:
        run: a run of projected SGD with equal steps.

    Returns:
        The places, with one or two entries in `kinds`.
    """
    passes, extra = divmod(run.steps, run.period)
    if run.known_order:
        most_uses = passes + 1 if extra else passes
        return PossiblePlaces((RecordPlaces(uses=most_uses, first=0, last=0),), 0.0)
    kinds = []
    # Records of the first r batches; their last use is in the incomplete pass.
    if extra:
        kinds.append(RecordPlaces(uses=passes + 1, first=0, last=extra - 1))
    # Records of the other batches.
    if passes:
        kinds.append(RecordPlaces(uses=passes, first=extra, last=run.period - 1))
    return PossiblePlaces(tuple(kinds), math.log(run.participants) - math.log(run.clients))


class LogProduct(NamedTuple):
    """Product of the contraction factors of the last steps of a run, as a logarithm with a bound on its error.

    Attributes:
        value: natural logarithm of the product.
        error: bound on the error of the logarithm.
    """

    value: float = 0.0
    error: float = 0.0


class LogValues(NamedTuple):
    """Logarithms of bounds on δ, or of factors that multiply δ, with bounds on their numerical errors.

    Attributes:
        value: natural logarithms, one for each number of steps from the use of a record to the release.
        error: bound on the absolute error of each logarithm.
    """

    value: FloatArray
    error: FloatArray


def replace_by_smaller(best: LogValues, candidates: LogValues, places: slice) -> None:
    """Replace entries of an array of bounds by smaller candidates, together with the bounds on their errors.

    Args:
        best: logarithms of the bounds and their errors; both arrays are changed in place.
        candidates: logarithms of the candidates and their errors, one for each entry of the range.
        places: range of entries of `best` that are compared.
    """
    values, errors = best.value[places], best.error[places]
    is_smaller = candidates.value < values
    best.value[places] = np.where(is_smaller, candidates.value, values)
    best.error[places] = np.where(is_smaller, candidates.error, errors)


def running_products(product: LogProduct, factors: LogValues, last: int) -> LogValues:
    """Compute the logs of a product of factors, and of this product times the first 1, 2, … of further factors.

    A factor is the contraction factor of a step, by which the step multiplies a bound on δ.

    Args:
        product: log of the product of the previous factors, with its error.
        factors: logs of the further factors, with bounds on their errors.
        last: total number of factors, which bounds the number of roundings of each sum.

    Returns:
        One logarithm more than `factors` has, with bounds on the errors.
    """
    # A lower limit of the factors keeps the sums finite, also for a factor of 0.
    logs = np.maximum(factors.value, LEAST_LOG_FACTOR)
    sums = np.append(product.value, product.value + np.cumsum(logs))
    errors = np.append(product.error, product.error + np.cumsum(factors.error))
    # The sums themselves are rounded as well.
    errors += UNIT_ROUNDOFF * last * np.abs(sums)
    return LogValues(sums, errors)
