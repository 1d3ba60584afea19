"""The spec of the sparse vector technique."""

from __future__ import annotations

from typing import Annotated, Literal

from epsilond.accountants.quantities import LARGEST_COUNT, Epsilon, Quantity, request
from epsilond.accountants.specs.primitives import KIND, ThresholdAnswers
from epsilond.accountants.specs.selection.threshold_crossings import ThresholdNoise

THRESHOLD_SHARE = Quantity(
    gt=0,
    lt=1,
    description="share s of ε for the noise on the threshold, which has scale 1/(s ε); the rest is for the queries",
)
LARGEST_ANSWERS = Quantity(
    symbol="c",
    ge=1,
    le=LARGEST_COUNT,
    description="number of answers above the threshold after which the mechanism stops",
)
MONOTONIC_QUERIES = Quantity(description="true: between two neighbours either no query increases or no query decreases")


@request
class SparseVector:
    """Answers for each of many queries whether it is above a noisy threshold, and stops after c such answers.

    ε is `epsilon`, s is `threshold_share` and c is `largest_answers`. The threshold has Laplace noise of scale 1/(s ε),
    drawn once. Each query has fresh Laplace noise of scale 2c/((1 − s) ε), or c/((1 − s) ε) if the queries are
    monotonic. Between neighbours in the request's relation each query changes by at most 1. Monotonic queries all
    change in the same direction. Only the answers are released, and no values of queries.

    Admits: any number of queries of that sensitivity, each chosen after the earlier answers. The thresholds do not
    depend on the data. A zeroed record may change queries that an absent one does not.
    """

    kind: Annotated[Literal["sparse_vector"], KIND] = "sparse_vector"
    epsilon: Epsilon
    threshold_share: Annotated[float, THRESHOLD_SHARE] = 0.5
    largest_answers: Annotated[int, LARGEST_ANSWERS] = 1
    monotonic: Annotated[bool, MONOTONIC_QUERIES] = False

    @property
    def noise(self) -> ThresholdNoise:
        """The noise on the threshold and on the queries."""
        factor = 1.0 if self.monotonic else 2.0
        query_scale = factor * self.largest_answers / ((1.0 - self.threshold_share) * self.epsilon)
        threshold_scale = 1.0 / (self.threshold_share * self.epsilon)
        return ThresholdNoise(threshold_scale, query_scale, self.largest_answers, self.monotonic)

    @property
    def primitive(self) -> ThresholdAnswers:
        """The comparisons of noisy queries with a noisy threshold."""
        return ThresholdAnswers(self.noise)
