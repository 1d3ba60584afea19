"""Orders of the least excess risk that private algorithms can have, without constants and logarithms.

L is the Lipschitz constant, D the diameter or radius, and φ the standard deviation of gradients. μ is the strong
convexity, n the number of records of each of N clients, d the dimension, and ε the privacy parameter.

The statistical term is φD/√(nN) for convex losses and min{φ²/(μnN), φD/√(nN)} for μ-strongly convex losses. The
second form follows from losses f(w, x) = −φxw + μw²/2 on an interval of length D, where x = ±1 has mean ±1/(2√(nN)).
No algorithm infers the sign of the mean with certainty. The wrong sign costs φD/√(nN) in order if φ/√(nN) ≥ μD, and
φ²/(μnN) otherwise. The paper prints φ²/(μnN) for every μ, which exceeds the largest possible excess LD as μ → 0.
"""

from __future__ import annotations

import math


def statistical_scale(
    *,
    gradient_std: float,
    lipschitz: float,
    diameter: float,
    samples_per_client: int,
    clients: int,
    strong_convexity: float = 0.0,
) -> float:
    """Return the order of the least excess risk without privacy, which never exceeds LD.

    Args:
        gradient_std: bound φ on the standard deviation of gradients; a value above L counts as L.
        lipschitz: Lipschitz constant L of the losses.
        diameter: size D of the domain.
        samples_per_client: records n of each client.
        clients: number N of clients.
        strong_convexity: μ, 0 for convex losses.

    Returns:
        φD/√(nN), or min{φ²/(μnN), φD/√(nN)} if μ > 0.
    """
    deviation = min(gradient_std, lipschitz)
    records = float(samples_per_client) * clients
    convex = deviation * diameter / math.sqrt(records)
    if strong_convexity == 0.0:
        return convex
    printed = printed_statistical_scale(
        gradient_std=deviation,
        samples_per_client=samples_per_client,
        clients=clients,
        strong_convexity=strong_convexity,
    )
    return min(printed, convex)


def printed_statistical_scale(
    *, gradient_std: float, samples_per_client: int, clients: int, strong_convexity: float
) -> float:
    """Return φ²/(μnN), the statistical term of the paper for μ-strongly convex losses.

    Args:
        gradient_std: bound φ on the standard deviation of gradients.
        samples_per_client: records n of each client.
        clients: number N of clients.
        strong_convexity: μ > 0.

    Returns:
        The printed term; infinite if it exceeds the doubles.
    """
    return gradient_std * gradient_std / (strong_convexity * (float(samples_per_client) * clients))


def local_ratio(
    *, epsilon: float, dimension: int, samples_per_client: int, clients: int, compositionality: float = 1.0
) -> float:
    """Return the privacy ratio √d/(ε₀n√N C²) if only the client itself is trusted.

    Args:
        epsilon: ε₀ of each record against everyone except its client.
        dimension: d.
        samples_per_client: records n of each client.
        clients: number N of clients.
        compositionality: C of the algorithm, at least 1.
    """
    spent = epsilon * samples_per_client * math.sqrt(clients)
    return math.sqrt(dimension) / (spent * compositionality * compositionality)


def central_ratio(*, epsilon: float, dimension: int, samples_per_client: int, clients: int) -> float:
    """Return the privacy ratio √d/(εnN) if the server, or a shuffler, is trusted.

    Args:
        epsilon: ε of each record.
        dimension: d.
        samples_per_client: records n of each client.
        clients: number N of clients.
    """
    return math.sqrt(dimension) / (epsilon * samples_per_client * clients)


def privacy_scale(*, ratio: float, lipschitz: float, diameter: float, strong_convexity: float = 0.0) -> float:
    """Return the order LD min{1, r} of the cost of privacy, or LD min{1, r²} for strongly convex losses.

    Args:
        ratio: privacy ratio r.
        lipschitz: Lipschitz constant L.
        diameter: size D of the domain.
        strong_convexity: μ, 0 for convex losses.
    """
    return lipschitz * diameter * min(1.0, ratio * ratio if strong_convexity > 0.0 else ratio)


def cap_scale(*terms: float, lipschitz: float, diameter: float) -> float:
    """Return the sum of the terms, or LD if the sum is larger.

    No point of the domain has an excess risk above LD, so no lower bound can exceed LD.

    Args:
        terms: terms of a lower bound.
        lipschitz: Lipschitz constant L.
        diameter: size D of the domain.
    """
    return min(math.fsum(terms), lipschitz * diameter)


def enough_clients(
    *, samples_per_client: int, clients: int, round_epsilon: float, round_delta: float, printed: bool
) -> float:
    """Return the fewest clients for which the theorem holds.

    Args:
        samples_per_client: records n of each client.
        clients: number N of clients.
        round_epsilon: largest ε₀^r of one report.
        round_delta: least δ₀^r of one report.
        printed: True for 16 ln(2/(nδ₀)); False for 16 e^{nε₀^r} ln(2/(Nnδ₀)), the premise of Theorem F.2 (E-21).

    Returns:
        The number, not rounded. Infinite if Nnδ₀ ≥ 1, where Theorem F.2 does not apply, or beyond the doubles.
    """
    if printed:
        return 16.0 * max(math.log(2.0) - math.log(samples_per_client) - math.log(round_delta), 0.0)
    transferred = math.log(samples_per_client) + math.log(clients) + math.log(round_delta)
    share = samples_per_client * round_epsilon
    if transferred >= 0.0 or share > 700.0:
        return math.inf
    return 16.0 * math.exp(share) * (math.log(2.0) - transferred)


def least_round_log_delta(*, samples_per_client: int, clients: int, local_epsilon: float, printed: bool) -> float:
    """Return the natural logarithm of the least δ₀^r for which Theorem F.4 holds.

    Args:
        samples_per_client: records n of each client.
        clients: number N of clients.
        local_epsilon: ε₀.
        printed: True for 2e^{−N/16}/(Nn); False for 2e^{−Ne^{−nε₀}/16}/(Nn), which the proof uses (E-21).
    """
    share = 0.0 if printed else samples_per_client * local_epsilon
    return math.log(2.0) - clients * math.exp(-share) / 16.0 - math.log(clients) - math.log(samples_per_client)
