"""Theorems E.1 and 2.4 of Lowy and Razaviyayn for clients that differ, in 40 digits, client by client.

Nothing here is shared with the code under test. A client is (n, K, ε, ln δ, L), L that of its weighted losses; the law
of the number of participants is a list of (count, probability).
"""

from collections.abc import Sequence
from typing import Any

from mpmath import mp, mpf

from tests.oracles.lowy import ln, xi

Real = Any
Client = tuple[int, int, float, float, float]


def moments(law: Sequence[tuple[int, float]]) -> tuple[Real, Real]:
    """1/E[1/M_r] and 1/√E[1/M_r²]."""
    first = mp.fsum(mpf(p) / m for m, p in law)
    second = mp.fsum(mpf(p) / mpf(m) ** 2 for m, p in law)
    return 1 / first, 1 / mp.sqrt(second)


def over_largest(values: Sequence[Real], law: Sequence[tuple[int, float]]) -> Real:
    """√E[(the mean of the M_r largest)²]."""
    falling = sorted(values, reverse=True)
    return mp.sqrt(mp.fsum(mpf(p) * (mp.fsum(falling[:m]) / m) ** 2 for m, p in law))


def statement(
    clients: Sequence[Client],
    law: Sequence[tuple[int, float]],
    *,
    d: int,
    D: float,
    beta: float | None,
    mu: float,
    gap: float,
    phi: Real,
    v: float,
    R: int,
    printed: bool,
    own_noise: bool,
) -> dict[str, Real]:
    """Everything a complete statement says at R rounds; `beta` None is Theorem 2.4, on its envelope."""
    N = len(clients)
    largest = max(mpf(L) for *_, L in clients)
    psis = [(mpf(L) if own_noise else largest) ** 2 * xi(n, eps, log_delta, R) for n, _, eps, log_delta, L in clients]
    M, rms = moments(law)
    average, most = over_largest(psis, law), max(psis)
    by_average = average / rms <= most / M
    tilde, psi = (rms, average) if by_average else (M, most)
    plain = tilde
    if printed and beta is None:
        tilde = mp.sqrt(tilde)
    least = min(average / rms, most / M)
    b = mpf(beta) if beta is not None else None
    if b is None:
        b = mpf(mu) * tilde * largest**2 / (d * psi) if mu > 0 else largest**2 * mp.sqrt(tilde / (d * psi)) / D
    everyone = all(m == N for m, p in law if p > 0)
    K = min(k for _, k, *_ in clients)
    records = sum(n for n, *_ in clients)
    drawn = any(k < n for n, k, *_ in clients) if everyone and not printed else records > M * K
    between = 0 if everyone or N == 1 or printed else (1 - (M - 1) / (N - 1)) / M * mpf(v) ** 2
    sampling = mpf(phi) ** 2 / (M * K) if drawn else mpf(0)
    in_term = largest**2 / (M * K) if drawn and beta is None else sampling
    argument = mpf(gap) * mu * plain / (d * psi)
    unsmooth = mp.sqrt(plain * largest**2 / (d * psi))
    if mu > 0:
        first = (unsmooth if beta is None else mp.sqrt(b / mu)) * ln(argument)
        terms = [gap * mp.exp(-R * mp.sqrt(mu / b)), sampling / (mu * R), between / (mu * R), d * least / mu]
    else:
        first = unsmooth if beta is None else mp.sqrt(b * D * mp.sqrt(plain / (d * psi)))
        terms = [
            b * mpf(D) ** 2 / mpf(R) ** 2,
            D * mp.sqrt(in_term / R),
            D * mp.sqrt(between / R),
            D * mp.sqrt(d * least),
        ]
    whole = mpf(phi) if beta is not None else largest
    second = (whole**2 / (1 if printed else K) if drawn else 0) + between * M
    variance = sampling + between + 256 * R * d * least
    return {
        "prescribed_rounds": max(first, second / (d * psi)),
        "excess_risk_scale": terms[-1],
        "before_excess_risk_scale": mp.fsum(terms),
        "gradient_variance": variance,
        "regularization": mp.sqrt(variance / R) / (2 * D),
        "effective_participants": tilde,
        "mean_participants": M,
        "rms_participants": rms,
        "psi": psi,
        "average_psi": average,
        **({} if beta is not None else {"envelope_smoothness": b}),
        "optimisation_term": terms[0],
        "minibatch_term": terms[1],
        "clients_term": terms[2],
    }


def one_stage(
    clients: Sequence[tuple[int, int, float, float]],
    law: Sequence[tuple[int, float]],
    *,
    d: int,
    D: float,
    beta: float | None,
    R: int,
    used_once: bool,
) -> dict[str, Real]:
    """The explicit bound of one stage at μ = 0 for clients (n, K, σ, L), statistics at their largest.

    `beta` None is the best envelope, b = G(R + 1)/(2D) with G² the mean of the squared Lipschitz constants.
    """
    N = len(clients)
    M, _ = moments(law)
    between = (1 - (M - 1) / (N - 1)) / M
    each = [mpf(1) / K if used_once else mpf(n - K) / ((n - 1) * K) for n, K, *_ in clients]
    worst = mp.fsum(max(a / M, between) * mpf(L) ** 2 for a, (*_, L) in zip(each, clients, strict=True)) / N
    noise = d * mp.fsum(mpf(std) ** 2 for _, _, std, _ in clients) / N / M
    squared = mp.fsum(mpf(L) ** 2 for *_, L in clients) / N
    b = mpf(beta) if beta is not None else mp.sqrt(squared) * (R + 1) / (2 * mpf(D))
    variance, cubes = worst + noise, mpf(2 * R + 1) * R * (R + 1)
    spare = mp.sqrt(variance * cubes / (24 * mpf(D) ** 2))
    weight = spare + b * R / (R + 1)
    steps = mp.fsum(mpf(t) ** 2 for t in range(1, R + 1)) / (4 * spare)
    scale = mpf(2) / (R * (R + 1))
    smoothing = squared / (2 * b) if beta is None else mpf(0)
    return {
        "excess_risk": scale * (weight * mpf(D) ** 2 + variance * steps) + smoothing,
        "optimisation_term": scale * weight * mpf(D) ** 2,
        "noise_term": scale * noise * steps,
        "smoothing_term": smoothing,
        "prox_weight": weight,
    }
