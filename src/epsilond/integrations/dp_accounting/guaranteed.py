"""Events of dp-accounting of which only a guarantee is known, and selections, as specs."""

from __future__ import annotations

import math

from epsilond.accountants.specs import Approximate
from epsilond.integrations.dp_accounting.placed import NotPrivate, Parts, PlacedEvent

ORDERS = (1.125, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 128.0, 256.0, 1024.0)
"""Rényi orders at which a (ξ, ρ)-zCDP guarantee is declared. It holds at every order; a finite list is weaker."""


def read_epsilon_delta(placed: PlacedEvent) -> Parts:
    """Convert an event of which only (ε, δ) is known to a mechanism.

    Nothing more is known of its noise, so the account uses the worst mechanism with this guarantee.

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
    """Convert a zCDP event to a spec (description): a mechanism of which only its Rényi divergences are bounded.

    They are at most ξ + ρ a at every order a. With ξ = 0 the mechanism is ρ-zCDP. With ξ > 0 the divergences at a list
    of orders are declared, rounded up.

    Args:
        placed: the event, with its place in the composed event that contains it.

    Returns:
        The spec with its number of runs, in a list that is empty if nothing is released.

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
        # Two roundings, each of at most half a unit.
        divergence = offset + rho * order
        epsilons.append(math.nextafter(math.nextafter(divergence, math.inf), math.inf))
    return [(placed.build_kind("rdp", {"epsilons": "rho"}, orders=list(ORDERS), epsilons=epsilons), 1)]


def read_exponential(placed: PlacedEvent) -> Parts:
    """Convert an exponential mechanism of bounded range ε to a spec, the description of a mechanism.

    Args:
        placed: the event, with the number `epsilon`.

    Returns:
        The mechanism, run once. Empty if ε = 0, because the output then does not depend on the data.

    Raises:
        InvalidInput: ε is out of range.
    """
    epsilon = placed.number("epsilon", least=0.0)
    if epsilon == 0.0:
        return []
    return [(placed.build_kind("exponential", {}, epsilon=epsilon, monotonic=False), 1)]


def read_permute_and_flip(placed: PlacedEvent) -> Parts:
    """Convert a permute-and-flip mechanism, a choice of one candidate by noisy scores, to a spec (description).

    Args:
        placed: the event, with the number `epsilon`.

    Returns:
        The mechanism, run once. Empty if ε = 0, because the output then does not depend on the data.

    Raises:
        InvalidInput: ε is out of range.
    """
    epsilon = placed.number("epsilon", least=0.0)
    if epsilon == 0.0:
        return []
    return [(placed.build_kind("permute_and_flip", {}, epsilon=epsilon), 1)]


def read_selection(placed: PlacedEvent) -> Parts:
    """Convert a selection event to a spec (description): the best of a random number of runs is released.

    The number has a truncated negative binomial distribution with the stated mean and shape: geometric for shape 1,
    logarithmic for shape 0, and Poisson for shape ∞. A truncated number of mean 1 is always 1, so that the event is its
    inner event.

    Args:
        placed: the event, with its place in the composed event that contains it.

    Returns:
        The spec with its number of runs, in a list that is empty if nothing is released.
    """
    mean = placed.number("mean", least=1.0)
    shape = placed.number("shape", least=0.0)
    inner = placed.inner_mechanism()
    if inner is None:
        return []
    if mean == 1.0 and not math.isinf(shape):
        return [(inner, 1)]

    # The distribution of the number of runs, as a field of the spec.
    if math.isinf(shape):
        repetitions: dict[str, object] = {"kind": "poisson", "mean": mean}
    elif shape == 1.0:
        repetitions = {"kind": "geometric", "mean": mean}
    else:
        repetitions = {"kind": "negative-binomial", "mean": mean, "shape": shape}
    return [(placed.build_kind("select_best", {}, mechanism=inner, repetitions=repetitions), 1)]
