"""The places of a record in the order of the batches, by the steps from its last use to the release of the model.

At the places, bounds on δ are logarithms with bounds on their errors.
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
"""Number of places nearest to the release that are evaluated one by one; blocks follow."""


@dataclass(frozen=True)
class RecordPlaces:
    """Possible places of a record in a run of SGD, at all of which the record is used equally often.

    A place says which steps use the record, and which step's model is released. Bounds depend on it only by v, the
    number of steps from the last use to the release. The number of places with the same v is min(`cap`, `top` − v). It
    is 1 unless a random step is released and the order of the batches is secret.

    Attributes:
        uses: number of steps that use the record, at least 1.
        first: least v, in steps.
        last: largest v, in steps.
        cap: limit on the number of places with the same v: the number of steps that may be released, otherwise 1.
        top: number of steps of the run, of which only top − v have a step v later; infinite if each v has `cap` places.
    """

    uses: int
    first: int
    last: int
    cap: float = 1.0
    top: float = math.inf

    def before(self, steps_after_use: FloatArray) -> FloatArray:
        """Count the possible positions of the record with fewer than v steps from its last use to the release.

        The count is Σ_{first ≤ w < v} min(cap, top − w). Below w = `turn` every term is `cap`. From there on the terms
        top − w fall by one each, so that their sum is that of an arithmetic series.

        Args:
            steps_after_use: array of numbers v of steps from the last use to the release.

        Returns:
            An array with one count for each v.
        """
        turn = max(float(self.first), min(self.last + 1.0, self.top - self.cap + 1.0))
        # No place is before the first v or after the last one.
        inside = np.clip(steps_after_use, self.first, self.last + 1.0)
        level_sum = self.cap * (np.minimum(inside, turn) - self.first)
        if math.isinf(self.top):
            return np.asarray(level_sum)
        falling_count = np.maximum(inside - turn, 0.0)
        falling_sum = falling_count * (self.top - turn) - 0.5 * falling_count * (falling_count - 1.0)
        return np.asarray(level_sum + falling_sum)

    @cached_property
    def nodes(self) -> FloatArray:
        """Numbers v of steps after the last use of the record at which bounds on δ are evaluated.

        They are all v below `EXACT_PLACES`, then the first v of each block. A block is a range of consecutive v. The
        last and the first v of a block have a ratio of at most `BLOCK_RATIO`, so that there are few blocks. All places
        of a block are bounded by the bound at its first v, which is the largest.
        """
        # Short times have a node each; longer ones grow by the constant ratio from block to block.
        exact = np.arange(min(self.last + 1, EXACT_PLACES), dtype=np.float64)
        if self.last < EXACT_PLACES:
            return exact
        block_count = math.ceil(math.log((self.last + 1.0) / EXACT_PLACES) / math.log(BLOCK_RATIO))
        blocks = np.floor(EXACT_PLACES * BLOCK_RATIO ** np.arange(block_count))
        return np.unique(np.concatenate((exact, blocks[blocks <= self.last])))

    @cached_property
    def weights(self) -> FloatArray:
        """The number of places in the block of each node; a v below `EXACT_PLACES` is a block of its own."""
        node_bounds = np.append(self.nodes, self.last + 1.0)
        return np.asarray(np.diff(self.before(node_bounds)))

    @cached_property
    def log_weights(self) -> FloatArray:
        """Natural logarithms of `weights`; −∞ for a block without places."""
        with np.errstate(divide="ignore"):
            return np.log(self.weights)


class PossiblePlaces(NamedTuple):
    """All possible positions (places) of a record in a run of SGD: the steps that use it, and the released step.

    Attributes:
        kinds: the places, by the number of uses of the record.
        log_probability: logarithm of the probability of a single place; 0 if only one place counts.
    """

    kinds: tuple[RecordPlaces, ...]
    log_probability: float


def places(run: ProjectedRun) -> PossiblePlaces:
    """Return the possible positions of a record in the order of the batches, for a run of equal steps.

    Such a position (place) says which steps use the record, and which step's model is released. If the order is known,
    only the worst place is returned.

    Args:
        run: the run of projected SGD, with equal step sizes and noises.

    Returns:
        The places in groups of equally many uses, with the probability of each place.
    """
    if run.stops > 1:
        return _places_of_random_release(run)
    return _places_of_last_release(run)


def _places_of_random_release(run: ProjectedRun) -> PossiblePlaces:
    """Return the possible positions of a record in a single pass of SGD with a release at a random step.

    A place says which step j uses the record, and after which step τ the model is released. The record is used once.
    Its use is v = τ − j steps before the release, and counts only if v ≥ 0. In a secret order, j and τ vary
    independently. The model is released after one of the last S of T steps. Hence min(S, T − v) choices of j and τ have
    the same v. In a known order the worst place is the first step that may be released, and v is uniform.

    Args:
        run: a single pass of projected SGD with equal steps.

    Returns:
        The one kind of places, because the record is used once at all of them.
    """
    log_release = -math.log(run.stops)
    if run.known_order:
        kind = RecordPlaces(uses=1, first=0, last=run.stops - 1)
        return PossiblePlaces((kind,), log_release)
    kind = RecordPlaces(uses=1, first=0, last=run.steps - 1, cap=float(run.stops), top=float(run.steps))
    return PossiblePlaces((kind,), math.log(run.participants) - math.log(run.clients) - math.log(run.stops))


def _places_of_last_release(run: ProjectedRun) -> PossiblePlaces:
    """Return the possible positions of a record in a run of SGD with a release after the last step.

    A position (place) says which steps use the record. The run has T = `run.steps` steps in passes of l = `run.period`
    batches. They are E full passes and r further steps, T = E l + r. A record in the first r batches is used E + 1
    times, and any other record E times. In a known order the worst record has the most uses, and its last use is the
    last step.

    Args:
        run: a run of projected SGD with equal steps.

    Returns:
        One or two kinds of places, by the number of uses.
    """
    passes, extra = divmod(run.steps, run.period)
    if run.known_order:
        most_uses = passes + 1 if extra else passes
        return PossiblePlaces((RecordPlaces(uses=most_uses, first=0, last=0),), 0.0)
    kinds = []
    # The records of the first r batches.
    if extra:
        kinds.append(RecordPlaces(uses=passes + 1, first=0, last=extra - 1))
    # All other records, if there is a full pass.
    if passes:
        kinds.append(RecordPlaces(uses=passes, first=extra, last=run.period - 1))
    return PossiblePlaces(tuple(kinds), math.log(run.participants) - math.log(run.clients))


class LogProduct(NamedTuple):
    """The product of the contraction factors of the last steps of a run, as a logarithm with a bound on its error.

    Attributes:
        value: natural logarithm of the product.
        error: bound on the error of the logarithm.
    """

    value: float = 0.0
    error: float = 0.0


class LogValues(NamedTuple):
    """Logarithms of bounds on δ, or of factors that multiply δ, with bounds on their numerical errors.

    Attributes:
        value: the logarithms, one for each place of a record, its number of steps from use to release.
        error: bound on the error of each logarithm.
    """

    value: FloatArray
    error: FloatArray


def replace_by_smaller(best: LogValues, candidates: LogValues, places: slice) -> None:
    """Replace bounds in a range of an array by candidates that are smaller, together with their errors.

    The arrays have one entry for each place, that is, a number of steps from a record's use to the release.

    Args:
        best: logarithms and bounds on their errors, one for each place; both arrays are changed in place.
        candidates: logarithms and bounds on their errors, one for each place of `places`.
        places: range of the places that the candidates are for.
    """
    values, errors = best.value[places], best.error[places]
    is_smaller = candidates.value < values
    best.value[places] = np.where(is_smaller, candidates.value, values)
    best.error[places] = np.where(is_smaller, candidates.error, errors)


def running_products(product: LogProduct, factors: LogValues, last: int) -> LogValues:
    """Compute the logs of running products: of a given product, and of it times the first 1, 2, … further factors.

    The factors are the contraction factors of steps, by which a step multiplies a bound on δ.

    Args:
        product: log of the product of the previous factors, with its error.
        factors: logs of the further factors, with bounds on their errors.
        last: number of all factors, which bounds the number of roundings of a running sum.

    Returns:
        One logarithm more than `factors` has, with bounds on the errors.
    """
    # A factor of 0 is replaced by a tiny one, so that sums stay finite.
    logs = np.maximum(factors.value, LEAST_LOG_FACTOR)
    sums = np.append(product.value, product.value + np.cumsum(logs))
    errors = np.append(product.error, product.error + np.cumsum(factors.error))
    # The sums themselves are rounded as well.
    errors += UNIT_ROUNDOFF * last * np.abs(sums)
    return LogValues(sums, errors)
