"""Events of dp-accounting of which only a guarantee is known, and selections, as specs."""

from __future__ import annotations

import math

from epsilond.accountants.specs import Approximate
from epsilond.integrations.dp_accounting.placed import NotPrivate, Parts, PlacedEvent

ORDERS = (1.125, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 128.0, 256.0, 1024.0)
"""Rényi orders at which a (ξ, ρ)-zCDP guarantee is declared. It holds at every order; a finite list is weaker."""


def read_epsilon_delta(placed: PlacedEvent) -> Parts:
    """Convert a dp-accounting event of which only (ε, δ) is known to a spec, the library's description of a mechanism.

    The account of this spec uses the worst mechanism with this guarantee.

    Args:
        placed: the event, with the numbers `epsilon` and `delta`.

    Returns:
        The mechanism, run once. Empty if ε = δ = 0, because nothing is released then.

    Raises:
        NotPrivate: ε is infinite or δ is 1.
        InvalidInput: a number is out of range.
    """
    epsilon = placed.number("epsilon", least=0.0)
    delta = placed.number("delta", least=0.0, most=1.0)
    if epsilon == delta == 0.0:
        return []
    if math.isinf(epsilon) or delta == 1.0:
        raise NotPrivate.at(placed.at, "is not private: no ε is finite")
    return [(placed.build(Approximate, {}, epsilon=epsilon, delta=delta), 1)]


def read_zcdp(placed: PlacedEvent) -> Parts:
    """Convert a (ξ, ρ)-zCDP event of dp-accounting to a spec, the library's description of a mechanism.

    The Rényi divergence of every order a is at most ξ + ρ a. For ξ = 0 the spec is that of a ρ-zCDP mechanism. For
    ξ > 0 it declares the divergences at a list of orders, rounded up.

    Args:
        placed: the event, with the number `rho` and possibly `xi`.

    Returns:
        The spec, run once. Empty if ρ = ξ = 0, because nothing is released then.

    Raises:
        NotPrivate: ρ or ξ is infinite.
        InvalidInput: a number is out of range.
    """
    rho = placed.number("rho", least=0.0)
    offset = placed.number("xi", least=0.0) if hasattr(placed.event, "xi") else 0.0
    if rho == offset == 0.0:
        return []
    if math.isinf(rho) or math.isinf(offset):
        raise NotPrivate.at(placed.at, "is not private: no ε is finite")
    if offset == 0.0:
        return [(placed.build_kind("zcdp", {}, rho=rho), 1)]
    epsilons = []
    for order in ORDERS:
        divergence = offset + rho * order
        # The product and the sum err by at most half a unit each. Raise the result by two units.
        epsilons.append(math.nextafter(math.nextafter(divergence, math.inf), math.inf))
    return [(placed.build_kind("rdp", {"epsilons": "rho"}, orders=list(ORDERS), epsilons=epsilons), 1)]


def read_exponential(placed: PlacedEvent) -> Parts:
    """Convert an exponential mechanism event of dp-accounting to a spec, the library's description of a mechanism.

    Args:
        placed: the event, with the number `epsilon`, the bound on the range of the privacy loss.

    Returns:
        The spec, run once. Empty if ε = 0, because the output then does not depend on the data.

    Raises:
        InvalidInput: ε is out of range.
    """
    epsilon = placed.number("epsilon", least=0.0)
    if epsilon == 0.0:
        return []
    return [(placed.build_kind("exponential", {}, epsilon=epsilon, monotonic=False), 1)]


def read_permute_and_flip(placed: PlacedEvent) -> Parts:
    """Convert a permute-and-flip event of dp-accounting to a spec, the library's description of a mechanism.

    Args:
        placed: the event, with the number `epsilon`.

    Returns:
        The spec, run once. Empty if ε = 0, because the output then does not depend on the data.

    Raises:
        InvalidInput: ε is out of range.
    """
    epsilon = placed.number("epsilon", least=0.0)
    if epsilon == 0.0:
        return []
    return [(placed.build_kind("permute_and_flip", {}, epsilon=epsilon), 1)]


def read_selection(placed: PlacedEvent) -> Parts:
    """Convert the release of the best of a random number of runs to a spec, the library's description of a mechanism.

    The number of runs has a truncated negative binomial distribution with the stated mean and shape: geometric for
    shape 1, logarithmic for shape 0, and Poisson for shape ∞. A truncated number of mean 1 is always 1, so that the
    selection is a single run.

    Args:
        placed: the event, with the numbers `mean` and `shape`, and the inner event of a run.

    Returns:
        The spec, run once. Empty if the inner event releases nothing.

    Raises:
        InvalidInput: a number is out of range, or no spec describes the inner event.
    """
    mean = placed.number("mean", least=1.0)
    shape = placed.number("shape", least=0.0)
    inner = placed.inner_mechanism()
    if inner is None:
        return []
    if mean == 1.0 and not math.isinf(shape):
        return [(inner, 1)]

    if math.isinf(shape):
        repetitions: dict[str, object] = {"kind": "poisson", "mean": mean}
    elif shape == 1.0:
        repetitions = {"kind": "geometric", "mean": mean}
    else:
        repetitions = {"kind": "negative-binomial", "mean": mean, "shape": shape}
    return [(placed.build_kind("select_best", {}, mechanism=inner, repetitions=repetitions), 1)]
