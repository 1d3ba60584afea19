"""The least bounds on δ that follow from Rényi divergences and from zero-concentrated privacy."""

from __future__ import annotations

import numpy as np

from epsilond.accountants.formula import formula
from epsilond.accountants.profiles.concentrated import concentrated_pair
from epsilond.accountants.profiles.declared.best_ratios import best_log_ratios
from epsilond.accountants.profiles.declared.binary_pairs import binary_log_bound
from epsilond.accountants.quantities import AnyEpsilon, Epsilon, RenyiOrder, ZcdpRho, delta_outputs
from epsilond.accountants.theorem import Outputs, Source, Status, Theorem

_SOURCE = "profiles/declared/binary_pairs.py"


@formula(given="A Rényi divergence of one order, in one direction, and the ε at which δ is computed.")
def delta_of_one_order(*, order: RenyiOrder, divergence: Epsilon, epsilon: AnyEpsilon) -> Outputs:
    """Compute an upper bound on δ at ε of a mechanism of which only one Rényi divergence is known.

    Each number v > 0, the difference of the logarithms of two likelihood ratios, gives a valid bound on δ. A search
    chooses a v with nearly the least bound.

    Args:
        order: order a > 1 of the divergence.
        divergence: upper bound D on the Rényi divergence of order a, in nats.
        epsilon: ε ≥ 0, in nats.

    Returns:
        The bound and its decimal logarithm, rounded up.
    """
    # The functions take arrays; here each has one entry.
    epsilons = np.asarray([epsilon])
    order_excesses = np.asarray([order - 1.0])
    divergences = np.asarray([divergence])
    log_ratios = best_log_ratios(epsilons, order_excesses, divergences)
    bounds = binary_log_bound(epsilons, order_excess=order_excesses, divergence=divergences, log_ratio=log_ratios)
    log_delta = min(bounds.item(), 0.0)
    return delta_outputs(log_delta)


ONE_ORDER = Theorem(
    id="epsilond.two-ratio-bound",
    title="The least bound on δ from one Rényi divergence",
    statement=(
        "Let D_a(P‖Q) ≤ D, a = b + 1, v > 0 and g(y) = log((1 − e^−y)/y). With log t₂ = ε + g(bv) − g(av), "
        "t₁ = t₂ e^−v and B(1) = 1 − t₁^a − a t₁^b (1 − t₁), E_{e^ε}(P‖Q) ≤ (e^{bD} − 1 + B(1))/(a (t₂^b − t₁^b)). "
        "The pair with the likelihood ratios t₁ and t₂ only attains the bound if its divergence is D. v = ∞ is "
        "Proposition 12 of Canonne, Kamath and Steinke"
    ),
    source=Source("epsilond", f"accountants/{_SOURCE}"),
    status=Status.PROVED,
    formula=delta_of_one_order,
    examples=({"order": 2.0, "divergence": 1.0, "epsilon": 0.5},),
)


@formula(given="ρ of zero-concentrated privacy, and the ε at which δ is computed.")
def delta_of_zcdp(*, rho: ZcdpRho, epsilon: AnyEpsilon) -> Outputs:
    """Compute an upper bound on δ at ε of every ρ-zCDP mechanism, from the divergences of all orders.

    ρ-zCDP (zero-concentrated differential privacy) bounds the Rényi divergence of each order a > 1 by ρa, in both
    directions of the neighbours.

    Args:
        rho: ρ, in nats.
        epsilon: ε ≥ 0, in nats.

    Returns:
        The bound and its decimal logarithm, rounded up.
    """
    return delta_outputs(concentrated_pair(rho).upper_log_delta(epsilon))


ZCDP_REGION = Theorem(
    id="epsilond.zcdp-region",
    title="The tests that zero-concentrated privacy allows",
    statement=(
        "A test of two neighbours with the true positive rate p and the false positive rate q has D_a(p‖q) ≤ ρa and "
        "D_a(q‖p) ≤ ρa for all a > 1 if the mechanism is ρ-zCDP. δ(ε) is at most the supremum of p − e^ε q over these "
        "p and q. Every such p and q are a ρ-zCDP mechanism, so that no smaller bound on δ or on p follows from ρ. "
        "The supremum is the least over a of the bound of `epsilond.two-ratio-bound`, and near ε = 0 a chord of it"
    ),
    source=Source("epsilond", f"accountants/{_SOURCE}, The region of tests"),
    status=Status.PROVED,
    formula=delta_of_zcdp,
    examples=({"rho": 0.5, "epsilon": 0.0}, {"rho": 0.1, "epsilon": 1.0}),
)

THEOREMS: tuple[Theorem, ...] = (ONE_ORDER, ZCDP_REGION)
