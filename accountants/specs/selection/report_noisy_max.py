"""The spec of report-noisy-max."""

from __future__ import annotations

from typing import Annotated, Literal

from epsilond.accountants.quantities import Epsilon, Quantity, request
from epsilond.accountants.specs.primitives import KIND, ScoredChoice, ScoreNoise

SCORE_NOISE = Quantity(
    description="distribution of the noise of scale 2/ε that is added to each score",
    choices=(
        ("laplace", "Density ∝ e^(−ε |x|/2)."),
        ("gumbel", "The exponential mechanism: the largest score after Gumbel noise."),
        ("exponential", "Permute-and-flip: the largest score after one-sided noise of density ∝ e^(−ε x/2), x ≥ 0."),
    ),
)


@request
class ReportNoisyMax:
    """Adds independent noise of scale 2/ε to each score and releases the candidate with the largest sum.

    ε is `epsilon`, the pure privacy parameter of the mechanism. Between neighbours in the request's relation each score
    changes by at most 1. The noisy score itself is not released.

    Admits: any number of candidates, and any score within that sensitivity. The candidates are the same for all data.
    A zeroed record may change scores that an absent one does not.
    """

    kind: Annotated[Literal["report_noisy_max"], KIND] = "report_noisy_max"
    epsilon: Epsilon
    noise: Annotated[ScoreNoise, SCORE_NOISE]

    @property
    def primitive(self) -> ScoredChoice:
        """The candidate with the largest noisy score."""
        return ScoredChoice(self.epsilon, self.noise)
