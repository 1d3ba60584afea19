"""Contraction of the hockey-stick divergence under a common Gaussian kernel (Asoodeh et al. 2021, Section II).

θ_ε(r) is the hockey-stick divergence of two unit Gaussians at distance r (`special.log_theta`). A Markov kernel K that
is applied to both distributions multiplies E_{e^ε} by at most η_ε(K). This is the supremum over two inputs of
E_{e^ε}(K(y₁)‖K(y₂)). For y ↦ N(y, s²I) on a set of diameter D, with or without a projection after it, it is at most
θ_ε(D/s). Both sides have the same ε: θ_ε contracts E_{e^ε}, but not the divergence at another ε.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import formula
from epsilond.accountants.numerics.special import (
    log_theta,
    log_theta_complement,
)
from epsilond.accountants.quantities import Quantity, delta_outputs, request
from epsilond.accountants.quantities.algorithms import Distance, ImageDiameter, KernelNoiseStd, PrivacyLoss
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Source, Status, Theorem

_TESTS = "tests/theorems/hidden_states/test_contraction.py"
ROWS = Quantity(description="rows of a channel: each is the law of the output at one input")


# Theorem 1 and Lemmas 1 and 2 ---------------------------------------------------------------------------------------
def shift_outputs(epsilon: float, shift: float) -> Outputs:
    """Return the hockey-stick divergence of two unit Gaussians at distance r, and its complement to 1.

    The divergence, θ_ε(r) = E_{e^ε}(N(r, 1)‖N(0, 1)), is the δ of the Gaussian mechanism at ε.

    Args:
        epsilon: privacy loss ε ≥ 0, in nats.
        shift: distance r ≥ 0 of the means, in standard deviations.

    Returns:
        `theta` and `complement`, with `log10_theta` and `log10_complement` for values that are too small for a double,
        and `shift`, which is r. `theta` or `complement` is left out if it is positive, but below all normal doubles.
    """
    log_value = float(log_theta(epsilon, shift))
    log_complement = float(log_theta_complement(epsilon, shift))
    return {
        "shift": shift,
        **delta_outputs(log_value, "theta"),
        **delta_outputs(log_complement, "complement"),
    }


@request
class FiniteChannel:
    """A channel with finitely many inputs and outputs."""

    epsilon: PrivacyLoss
    rows: Annotated[tuple[tuple[float, ...], ...], ROWS]

    def check(self) -> None:
        """Check that the matrix of output probabilities is stochastic, with row sums within 1e-9 of 1.

        A row of the matrix is the distribution of the output for one input.

        Raises:
            InvalidInput: there is no row, or a row is not a probability vector as long as the first row.
        """
        rows: tuple[tuple[Any, ...], ...] = self.rows
        if not rows:
            raise InvalidInput.at("/rows", "must have at least one row")
        for index, row in enumerate(rows):
            are_probabilities = all(isinstance(entry, int | float) and 0.0 <= entry <= 1.0 for entry in row)
            is_distribution = are_probabilities and abs(math.fsum(row) - 1.0) <= 1e-9
            if not is_distribution or len(row) != len(rows[0]):
                raise InvalidInput.at(f"/rows/{index}", "is not a probability vector as long as the first row")


@formula(given="Two Gaussians of the same variance.", bounded=False)
def two_gaussians(*, epsilon: PrivacyLoss, distance: Distance, noise_std: KernelNoiseStd) -> Outputs:
    """Compute the hockey-stick divergence E_{e^ε} of two Gaussians of the same variance, the δ of one release at ε.

    Args:
        epsilon: ε ≥ 0, in nats.
        distance: Euclidean distance of the means.
        noise_std: common standard deviation s per coordinate.

    Returns:
        The divergence `theta`, its complement to 1, and the distance in standard deviations, `shift`.
    """
    return shift_outputs(epsilon, distance / noise_std)


@formula(given="y ↦ N(y, s²I) on a set of the given diameter.", bounded=False)
def gaussian_kernel(*, epsilon: PrivacyLoss, diameter: ImageDiameter, noise_std: KernelNoiseStd) -> Outputs:
    """Compute the contraction coefficient of the kernel y ↦ N(y, s²I), which adds Gaussian noise to its input.

    Applied to two distributions on a set of diameter D, the kernel multiplies their hockey-stick divergence E_{e^ε} by
    at most this coefficient.

    Args:
        epsilon: ε ≥ 0, in nats.
        diameter: diameter D of the set of inputs.
        noise_std: standard deviation s per coordinate.

    Returns:
        The coefficient `theta` = E_{e^ε}(N(D/s, 1)‖N(0, 1)), its complement to 1, and D/s as `shift`.
    """
    return shift_outputs(epsilon, diameter / noise_std)


def finite_channel(inputs: FiniteChannel) -> Outputs:
    """Compute the contraction coefficient of a finite channel for the hockey-stick divergence.

    A channel multiplies the hockey-stick divergence of two input distributions by at most this factor. It is the
    largest divergence Σ_i (p_i − e^ε q_i)₊ of the output distributions p and q for two inputs.

    Args:
        inputs: ε, and the rows of the channel; a row is the distribution of the output for one input.

    Returns:
        `coefficient`, a number in [0, 1].
    """
    rows = np.asarray(inputs.rows, dtype=np.float64)
    # The largest double is about e^709. A smaller γ only increases the coefficient.
    gamma = math.exp(min(inputs.epsilon, 700.0))
    # Σ_i (p_i − γ q_i)₊ for every two rows p and q.
    divergences = np.maximum(rows[:, None, :] - gamma * rows[None, :, :], 0.0).sum(axis=2)
    return {"coefficient": float(divergences.max())}


COMMON_KERNEL = Condition("common-kernel", "both input distributions pass through the same kernel")
BOUNDED_INPUT = Condition("bounded-input", "the set of values to which noise is added has at most the given diameter")

TWO_POINTS = Theorem(
    id="asoodeh.1",
    title="Two inputs decide how much a channel contracts",
    statement=(
        "The contraction factor of a kernel K is η_ε(K) = sup over y₁, y₂ of E_{e^ε}(K(y₁)‖K(y₂)). It is the least "
        "η with E_{e^ε}(μK‖νK) ≤ η E_{e^ε}(μ‖ν)"
    ),
    source=Source("asoodeh2021", "Theorem 1, (5)"),
    status=Status.PROVED,
    errata=(
        Erratum(
            "A-8",
            grade=Grade.MISPRINT,
            place="proof of Theorem 1 in the appendix, line before (14)",
            printed=(
                "The line multiplies an integral by the divergence E_ε(μ‖ν) of the two inputs, which the integrand "
                "contains already."
            ),
            truth=(
                "The factor before the integral is spurious, and the statement of Theorem 1 is right. The coefficient "
                "is the largest divergence over pairs of rows of the kernel."
            ),
            charitable="If the factor before the integral is left out, the line and the next one hold.",
            test=f"{_TESTS}::test_the_line_of_the_proof_holds_without_its_second_factor",
        ),
    ),
    inputs=FiniteChannel,
    formula=finite_channel,
    examples=({"epsilon": 0.5, "rows": ((0.75, 0.25), (0.25, 0.75))},),
)
LEMMA_1 = Theorem(
    id="asoodeh.lemma-1",
    title="Two Gaussians of the same variance",
    statement="E_{e^ε}(N(m₁, s²I)‖N(m₂, s²I)) = θ_ε(‖m₁ − m₂‖/s). Here θ_ε(r) = Q(ε/r − r/2) − e^ε Q(ε/r + r/2)",
    source=Source("asoodeh2021", "Lemma 1, eq. (6)"),
    status=Status.PROVED,
    formula=two_gaussians,
    examples=({"epsilon": 0.5, "distance": 2.0, "noise_std": 1.5},),
)
LEMMA_2 = Theorem(
    id="asoodeh.lemma-2",
    title="A Gaussian kernel on a bounded set contracts",
    statement=(
        "Let K: y ↦ N(y, s²I) on a set of diameter D, and γ = e^ε ≥ 1. Then E_γ(μK‖νK) ≤ θ_ε(D/s) E_γ(μ‖ν). "
        "The factor θ_ε(D/s) is the least possible. A projection follows K here, and the least factor may then "
        "be smaller"
    ),
    source=Source("asoodeh2021", "Lemma 2"),
    status=Status.PROVED,
    conditions=(COMMON_KERNEL, BOUNDED_INPUT),
    formula=gaussian_kernel,
    examples=({"epsilon": 0.5, "diameter": 2.0, "noise_std": 0.25},),
)
THEOREMS: tuple[Theorem, ...] = (TWO_POINTS, LEMMA_1, LEMMA_2)
