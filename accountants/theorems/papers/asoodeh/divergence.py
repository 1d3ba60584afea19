"""Properties of the hockey-stick divergence E_ε (Asoodeh et al., Section II), for finitely many outcomes."""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Quantity, request
from epsilond.accountants.quantities.algorithms import PrivacyLoss
from epsilond.accountants.theorem import Erratum, Grade, Outputs, Source, Status, Theorem
from epsilond.accountants.theorems.conversions.finite_laws import (
    KERNEL,
    Probabilities,
    TwoLaws,
    apply_channel,
    check_distribution,
    check_kernel,
    hockey_stick,
    largest_loss,
    normalise,
)

_TESTS = "tests/theorems/papers/asoodeh/test_divergence.py"
OTHER_FIRST = Quantity(symbol="P'", description="first distribution of the pair that this pair is mixed with")
OTHER_SECOND = Quantity(symbol="Q'", description="second distribution of that pair")
SHARE = Quantity(symbol="λ", ge=0, le=1, description="the share of the pair itself in the mixture")


@request
class DivergenceInputs(TwoLaws):
    """Two distributions and an ε, with an optional channel and an optional second pair to mix with."""

    epsilon: PrivacyLoss
    kernel: Annotated[tuple[Probabilities, ...] | None, KERNEL] = None
    other_first: Annotated[Probabilities | None, OTHER_FIRST] = None
    other_second: Annotated[Probabilities | None, OTHER_SECOND] = None
    share: Annotated[float, SHARE] = 0.5

    def check(self) -> None:
        """Check that all given distributions and the rows of the channel are probability vectors of matching lengths.

        Raises:
            InvalidInput: one of them is not a probability vector or has another length, or only one of the two
                distributions of the second pair is given.
        """
        super().check()
        if self.kernel is not None:
            check_kernel("/kernel", self.kernel, len(self.first))
        has_half_a_pair = (self.other_first is None) != (self.other_second is None)
        if has_half_a_pair:
            raise InvalidInput.at("/other_second", "both distributions of the second pair are needed, or none")
        if self.other_first is not None and self.other_second is not None:
            check_distribution("/other_first", self.other_first, len(self.first))
            check_distribution("/other_second", self.other_second, len(self.first))


def facts(inputs: DivergenceInputs) -> Outputs:
    """Compute the hockey-stick divergence E_ε(P‖Q) = Σ max(P − e^ε Q, 0), and divergences that show its properties.

    Args:
        inputs: two distributions P and Q, and ε. `kernel` is an optional channel, a matrix with the distribution of the
            output for each outcome. Also optional is a second pair P' and Q', which is mixed with P and Q. λ is the
            share of P and Q in the mixtures.

    Returns:
        `divergence`: E_ε(P‖Q).
        `reversed_divergence`: E_ε(Q‖P).
        `total_variation`: E_0(P‖Q).
        `singular_mass`: probability under P of the outcomes that are impossible under Q, the limit of E_ε for large ε.
        `largest_loss`: D_∞(P‖Q), infinite if `singular_mass` is positive.
        `divergence_after_kernel`: E_ε of the outputs of the channel, if there is one.
        `divergence_of_mixture`: E_ε of the mixtures, if there is a second pair.
        `mean_divergence`: λE_ε(P‖Q) + (1 − λ)E_ε(P'‖Q'), if there is a second pair.
    """
    first, second, epsilon = normalise(inputs.first), normalise(inputs.second), inputs.epsilon
    divergence = hockey_stick(first, second, epsilon)
    outputs = {
        "divergence": divergence,
        "reversed_divergence": hockey_stick(second, first, epsilon),
        "total_variation": hockey_stick(first, second, 0.0),
        "largest_loss": largest_loss(first, second),
        "singular_mass": math.fsum(first[second == 0.0]),
    }

    # Post-processing: a channel that both distributions go through does not enlarge the divergence.
    if inputs.kernel is not None:
        first_output = apply_channel(first, inputs.kernel)
        second_output = apply_channel(second, inputs.kernel)
        outputs["divergence_after_kernel"] = hockey_stick(first_output, second_output, epsilon)

    # Joint convexity: the divergence of mixtures is at most the mean of the divergences.
    if inputs.other_first is not None and inputs.other_second is not None:
        share = inputs.share
        further_first, further_second = normalise(inputs.other_first), normalise(inputs.other_second)
        first_mixture = share * first + (1.0 - share) * further_first
        second_mixture = share * second + (1.0 - share) * further_second
        further_divergence = hockey_stick(further_first, further_second, epsilon)
        outputs["divergence_of_mixture"] = hockey_stick(first_mixture, second_mixture, epsilon)
        outputs["mean_divergence"] = share * divergence + (1.0 - share) * further_divergence
    return outputs


FACTS = Theorem(
    id="asoodeh.section-2",
    title="Properties of E_ε for any two distributions",
    statement=(
        "The divergence has 0 ≤ E_ε(μ‖ν) ≤ TV(μ, ν) = E_0(μ‖ν), with the total variation TV. E_ε is jointly "
        "convex in (μ, ν). No channel that both distributions go through enlarges it. It is continuous in ε. "
        "It decreases strictly to the mass of the part of μ that is singular to ν. From there on it is "
        "constant. If the largest loss D_∞(μ‖ν) is finite, that mass is 0, and E_ε is 0 from D_∞(μ‖ν) on."
    ),
    source=Source("asoodeh2021", "Section II, the properties of E_ε"),
    status=Status.PROVED,
    errata=(
        Erratum(
            "A-8",
            grade=Grade.UNCLEAR,
            place="Section II-B, second property of E_ε",
            printed=(
                "The paper states that ε ↦ E_ε(μ‖ν) is strictly decreasing on (0, TV(μ, ν)] for "
                "distributions μ and ν with total variation TV(μ, ν). It names no premise."
            ),
            truth=(
                "The statement holds if ν dominates μ, as then TV ≤ D_∞, the largest privacy loss. "
                "Otherwise E_ε never falls below the mass of the part of μ that is singular to ν. For (½, "
                "½, 0) and (0, ½, ½) it is ½ at every ε."
            ),
            charitable=(
                "The section defines divergences by the density dμ/dν. If ν is read to dominate μ, as "
                "this density asks, the statement holds."
            ),
            test=f"{_TESTS}::test_laws_of_overlapping_halves_have_a_constant_divergence",
        ),
    ),
    inputs=DivergenceInputs,
    formula=facts,
    examples=(
        {
            "first": (0.5, 0.375, 0.125),
            "second": (0.25, 0.25, 0.5),
            "epsilon": 0.25,
            "kernel": ((0.75, 0.25), (0.5, 0.5), (0.25, 0.75)),
            "other_first": (0.25, 0.5, 0.25),
            "other_second": (0.125, 0.75, 0.125),
        },
        {"first": (0.5, 0.5, 0.0), "second": (0.25, 0.0, 0.75), "epsilon": 3.0},
    ),
)

THEOREMS: tuple[Theorem, ...] = (FACTS,)
