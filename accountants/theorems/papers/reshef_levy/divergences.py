"""Appendix A of Reshef and Levy, on Rényi divergences: post-processing, products, and composition.

(ξ, ρ)-zCDP means D_a ≤ ξ + ρa for every order a > 1. This ρ is that of Bun and Steinke, half the square of the ρ in the
theorems of the paper.
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.outward import raise_by_units, sum_up
from epsilond.accountants.quantities import DeltaFields, Quantity, RenyiOrder, request
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem
from epsilond.accountants.theorems.conversions.finite_laws import (
    KERNEL,
    Probabilities,
    TwoLaws,
    apply_channel,
    check_distribution,
    check_kernel,
    difference,
    renyi_divergence,
    rounded_probabilities,
)
from epsilond.accountants.theorems.papers.reshef_levy.errata import ADAPTIVE_OUTPUTS

OTHER_FIRST = Quantity(symbol="P₂", description="the first distribution of an outcome that is released independently")
OTHER_SECOND = Quantity(symbol="Q₂", description="the second distribution of that outcome")
RHOS = Quantity(symbol="ρ_k", unit="nat", description="ρ of each mechanism's (ξ, ρ)-zCDP, in the order they are run")
OFFSETS = Quantity(symbol="ξ_k", unit="nat", description="ξ of each mechanism's (ξ, ρ)-zCDP; absent: all 0")
MOST = 1e9
"""Largest ρ or ξ [nat] of one mechanism."""
LONGEST = 10**6
"""Largest number of mechanisms in a list."""


@request
class ChannelInputs(TwoLaws):
    """Two distributions, a Rényi order, and a channel that is applied to the outcome."""

    order: RenyiOrder
    kernel: Annotated[tuple[Probabilities, ...], KERNEL]

    def check(self) -> None:
        """Check the two distributions and the channel."""
        super().check()
        check_kernel("/kernel", self.kernel, len(self.first))


def post_process(inputs: ChannelInputs) -> Outputs:
    """Compute the Rényi divergence of two distributions, before and after a channel is applied to their outcomes.

    Args:
        inputs: the distributions, the channel (for each outcome, the probabilities of its outputs), and the Rényi
            order.

    Returns:
        `renyi_divergence` and `renyi_divergence_after_kernel`, in nats, each rounded up.
    """
    # The difference P − Q is passed on, because it keeps its digits if both distributions are close.
    change = difference(inputs.first, inputs.second)
    second = rounded_probabilities(inputs.second)
    change_after = apply_channel(change, inputs.kernel)
    second_after = apply_channel(second, inputs.kernel)
    return {
        "renyi_divergence": renyi_divergence(change, second, inputs.order),
        "renyi_divergence_after_kernel": renyi_divergence(change_after, second_after, inputs.order),
    }


@request
class ProductInputs(TwoLaws):
    """Two pairs of distributions, and a Rényi order. The product of the pairs is a pair of joint distributions.

    `first` and `second` are the distributions of one outcome on neighbouring data. `other_first` and `other_second` are
    those of another outcome, which is independent of it.
    """

    order: RenyiOrder
    other_first: Annotated[Probabilities, OTHER_FIRST]
    other_second: Annotated[Probabilities, OTHER_SECOND]

    def check(self) -> None:
        """Check both pairs of distributions."""
        super().check()
        check_distribution("/other_first", self.other_first, len(self.other_first))
        check_distribution("/other_second", self.other_second, len(self.other_first))


def product(inputs: ProductInputs) -> Outputs:
    """Compute the Rényi divergences of two pairs of distributions, and that of the products of both pairs.

    The divergence of the product P × P' from Q × Q' is the sum of that of P from Q and that of P' from Q'.

    Args:
        inputs: the distributions P, Q, P' and Q', and the Rényi order.

    Returns:
        `renyi_divergence` of P from Q, `other_renyi_divergence` of P' from Q', and `joint_renyi_divergence` of the
        products. All are in nats and rounded up.
    """
    divergence = _pair_divergence(inputs.first, inputs.second, inputs.order)
    other_divergence = _pair_divergence(inputs.other_first, inputs.other_second, inputs.order)
    joint_divergence = math.nextafter(divergence + other_divergence, math.inf)
    return {
        "renyi_divergence": divergence,
        "other_renyi_divergence": other_divergence,
        "joint_renyi_divergence": joint_divergence,
    }


def _pair_divergence(first: Probabilities, second: Probabilities, order: float) -> float:
    """Compute the Rényi divergence of P from Q for two discrete distributions, rounded up.

    Args:
        first: probabilities of P, one for each outcome.
        second: probabilities of Q on the same outcomes.
        order: order a > 1 of the divergence.

    Returns:
        The divergence of P from Q, in nats. It is infinite if an outcome is possible under P but not under Q.
    """
    return renyi_divergence(difference(first, second), rounded_probabilities(second), order)


@request
class ConcentratedCompositionInputs(DeltaFields):
    """Adaptively composed mechanisms, and the δ at which ε of their composition is computed.

    Mechanism k is (ξ_k, ρ_k)-zCDP. If absent, all offsets ξ_k are 0.
    """

    zcdp_rhos: Annotated[tuple[float, ...], RHOS]
    zcdp_offsets: Annotated[tuple[float, ...] | None, OFFSETS] = None

    def check(self) -> None:
        """Check that there are 1 to 10^6 mechanisms, and that ρ and ξ of each are in [0, 1e9].

        Raises:
            InvalidInput: the lists have different lengths, are empty or too long, or an entry is out of range.
        """
        offsets = self.zcdp_offsets or (0.0,) * len(self.zcdp_rhos)
        lists: dict[str, tuple[object, ...]] = {"zcdp_rhos": self.zcdp_rhos, "zcdp_offsets": offsets}
        for name, values in lists.items():
            has_valid_length = len(values) == len(self.zcdp_rhos) and 1 <= len(values) <= LONGEST
            if not has_valid_length:
                raise InvalidInput.at(f"/{name}", "has too few or too many entries", allowed=f"1 to {LONGEST}")
            if not all(isinstance(value, int | float) and 0.0 <= value <= MOST for value in values):
                raise InvalidInput.at(f"/{name}", "an entry is out of range", allowed="≥ 0 and ≤ 1e+09")


def composition(inputs: ConcentratedCompositionInputs) -> Outputs:
    """Compute the (ξ, ρ)-zCDP of several mechanisms together, and its ε at δ, all rounded up.

    Zero-concentrated differential privacy, (ξ, ρ)-zCDP, bounds the Rényi divergence of each order a by ξ + ρa. These
    bounds add up under composition.

    Args:
        inputs: ρ_k and ξ_k of each mechanism, and δ.

    Returns:
        `zcdp_rho` ρ = Σρ_k, `zcdp_offset` ξ = Σξ_k, `concentrated_mu` √(2ρ), and `epsilon` ξ + ρ + 2√(ρ ln(1/δ)).
    """
    rho = sum_up(inputs.zcdp_rhos)
    offset = sum_up(inputs.zcdp_offsets or ())  # ξ
    epsilon = offset + rho + 2.0 * math.sqrt(rho * -inputs.log_delta)
    # The second argument of `raise_by_units` exceeds the rounding error of the first one, in units of roundoff.
    return {
        "zcdp_rho": rho,
        "zcdp_offset": offset,
        "concentrated_mu": raise_by_units(math.sqrt(2.0 * rho), 2.0),
        "epsilon": raise_by_units(epsilon, 8.0),
    }


_LAWS = {"first": (0.5, 0.375, 0.125), "second": (0.25, 0.25, 0.5)}
POST_PROCESSING = Theorem(
    id="reshef.appendix-a.post-processing",
    title="Post-processing does not increase a Rényi divergence",
    statement="D_a(μK‖νK) ≤ D_a(μ‖ν) for every channel K and a > 1: zCDP holds after every post-processing",
    source=Source("reshef2025", "Lemma A.4"),
    status=Status.PROVED,
    inputs=ChannelInputs,
    formula=post_process,
    examples=({**_LAWS, "order": 2.5, "kernel": ((0.75, 0.25), (0.5, 0.5), (0.25, 0.75))},),
)
PRODUCTS = Theorem(
    id="reshef.appendix-a.products",
    title="Rényi divergences of independent outcomes add up",
    statement="D_a(P₁ × P₂ ‖ Q₁ × Q₂) = D_a(P₁‖Q₁) + D_a(P₂‖Q₂)",
    source=Source("reshef2025", "a step in the proof of Lemma A.3"),
    status=Status.PROVED,
    inputs=ProductInputs,
    formula=product,
    examples=({**_LAWS, "order": 2.5, "other_first": (0.75, 0.25), "other_second": (0.5, 0.5)},),
)
LEMMA_A_3 = Theorem(
    id="reshef.lemma-a.3",
    title="Concentrated privacy composes",
    statement="Mechanisms of (ξ_k, ρ_k)-zCDP, each free to depend on earlier outputs, are (Σξ_k, Σρ_k)-zCDP together",
    source=Source("reshef2025", "Lemma A.3"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "each-given-the-past", "the k-th mechanism is (ξ_k, ρ_k)-zCDP at every value of the outputs before it"
        ),
    ),
    errata=(ADAPTIVE_OUTPUTS,),
    inputs=ConcentratedCompositionInputs,
    formula=composition,
    examples=({"zcdp_rhos": (0.125, 0.03125, 0.5), "zcdp_offsets": (0.0, 0.25, 0.0), "delta": 1e-6},),
)

THEOREMS: tuple[Theorem, ...] = (POST_PROCESSING, PRODUCTS, LEMMA_A_3)
