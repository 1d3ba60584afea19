"""Formulas of Lowy and Razaviyayn and our bounds, in 40 digits from their definitions, sums written out as sums.

Nothing here is shared with the code under test. Letters are the papers'.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from mpmath import mp, mpf

mp.dps = 40
Real = Any
"""mpmath ships no types."""


def ln(x: Real) -> Real:
    return mp.log(x)


def xi(n: int, eps: float, log_delta: float, R: int) -> Real:
    delta = mp.exp(mpf(log_delta))
    return ln(mpf("2.5") * R / delta) * ln(2 / delta) / (mpf(n) * mpf(eps)) ** 2


def sigma(L: float, n: int, eps: float, log_delta: float, R: int) -> Real:
    return mp.sqrt(256 * mpf(L) ** 2 * R * xi(n, eps, log_delta, R))


def least_batch(n: int, eps: float, log_delta: float, R: int) -> Real:
    return mpf(eps) * n / (4 * mp.sqrt(2 * R * ln(2 / mp.exp(mpf(log_delta)))))


def proof(n: int, K: int, eps: float, log_delta: float, R: int) -> dict[str, Real]:
    """Every quantity of the privacy proof, with the composition of R equal rounds."""
    delta = mp.exp(mpf(log_delta))
    slack = ln(2 / delta)
    share = mpf(eps) / (2 * mp.sqrt(2 * R * slack))
    inner = n * share / (2 * K)
    amplified = ln(1 + mpf(K) / n * (mp.exp(inner) - 1))
    return {
        "share": share,
        "inner": inner,
        "amplified": amplified,
        "printed": mp.sqrt(2 * R * slack) * share + R * share * (mp.exp(share) - 1),
        "tight": min(mp.sqrt(2 * R * slack) * amplified + R * amplified * mp.tanh(amplified / 2), R * amplified),
    }


def group_factor(eps: float, k: int) -> Real:
    """1 + e^ε + … + e^{(k−1)ε}, term by term."""
    return mp.fsum(mp.exp(j * mpf(eps)) for j in range(k))


def composed(epsilons: Sequence[float], deltas: Sequence[float], slack: float, form: str) -> tuple[Real, Real]:
    spread = mp.sqrt(2 * ln(1 / mpf(slack)) * mp.fsum(mpf(e) ** 2 for e in epsilons))
    drifts: dict[str, Callable[[Real], Real]] = {
        "dwork-roth": lambda e: e * (mp.exp(e) - 1),
        "tanh": lambda e: e * (mp.exp(e) - 1) / (mp.exp(e) + 1),
        "corollary-f.1": lambda e: 2 * e * e,
    }
    drift = drifts[form]
    return spread + mp.fsum(drift(mpf(e)) for e in epsilons), mpf(slack) + mp.fsum(map(mpf, deltas))


def subsampled(eps: float, q: float) -> Real:
    return ln(1 + mpf(q) * (mp.exp(mpf(eps)) - 1))


def gaussian_delta(eps: float, sigma_: Real, sensitivity: float) -> Real:
    """Φ(Δ/2σ − εσ/Δ) − e^ε Φ(−Δ/2σ − εσ/Δ), with digits to spare for its cancellation."""
    with mp.workdps(80 + int(abs(eps) / 2)):
        r = mpf(sensitivity) / mpf(sigma_)
        return mp.ncdf(r / 2 - mpf(eps) / r) - mp.exp(mpf(eps)) * mp.ncdf(-r / 2 - mpf(eps) / r)


def complete_convex(
    *, n: int, N: int, M: int, K: int, eps: float, log_delta: float, d: int, D: float, L: float, beta: float, R: int
) -> dict[str, Real]:
    """The complete convex statement for equal clients at R rounds, M~ = M."""
    value = xi(n, eps, log_delta, R)
    root = mp.sqrt(d * value)
    nu = max(1 / mp.sqrt(n), root)
    divisor = K if M == N else 1
    needed = max(mpf(beta) * D * mp.sqrt(M) / (L * nu), 1 / (nu**2 * divisor))
    balanced = mpf(D) * mp.sqrt(M) / (mpf(L) * R * nu)
    eta = min(1 / (4 * mpf(beta)), balanced)
    master = mpf(D) ** 2 / (eta * R) + eta * mpf(L) ** 2 * (
        R * (mpf(2) / (M * n) + 256 * d * value / M) + mpf(8) / (M * K)
    )
    return {"needed": needed, "eta": eta, "bound": 272 * mpf(L) * D * nu / mp.sqrt(M), "master": master}


def largest_mean(values: Sequence[tuple[Real, int]], m: int) -> Real:
    """Mean of the m largest of a list given as (value, how often) pairs, one by one."""
    every = sorted((value for value, count in values for _ in range(count)), reverse=True)
    return mp.fsum(every[:m]) / m


def aggregates(
    groups: Sequence[tuple[int, int, float, float]],
    law: Sequence[tuple[int, float]],
    R: int,
    slopes: Sequence[float] | None = None,
) -> dict[str, Real]:
    """M, M', Ξ (of ψ_i/L² if there are slopes L_i), ξ_max and the selection, M~ still without a root.

    Groups are (clients, n, ε, ln δ).
    """  # fmt: skip
    L = max(map(mpf, slopes)) if slopes else mpf(1)
    ratio = [mpf(slope) / L for slope in slopes] if slopes else [mpf(1)] * len(groups)
    values = [
        (each**2 * xi(n, eps, log_delta, R), N) for each, (N, n, eps, log_delta) in zip(ratio, groups, strict=True)
    ]
    M = 1 / mp.fsum(mpf(p) / m for m, p in law)
    rms = 1 / mp.sqrt(mp.fsum(mpf(p) / mpf(m) ** 2 for m, p in law))
    if len(groups) == 1:
        average = values[0][0]
    else:
        average = mp.sqrt(mp.fsum(mpf(p) * largest_mean(values, m) ** 2 for m, p in law))
    largest = max(value for value, _ in values)
    chosen = (rms, average) if average / rms <= largest / M * (1 + mpf(2) ** -40) else (M, largest)
    return {"M": M, "rms": rms, "average": average, "largest": largest, "tilde": chosen[0], "xi": chosen[1]}


def complete_convex_envelope_printed(
    *,
    groups: Sequence[tuple[int, int, float, float]],
    law: Sequence[tuple[int, float]],
    d: int,
    D: float,
    L: float,
    R: int,
) -> dict[str, Real]:
    """Theorem 2.2, complete and convex, at R rounds: the bound as printed, and its b with M~ = √M' or √M."""
    seen = aggregates(groups, law, R)
    nu = max(1 / mp.sqrt(min(n for _, n, _, _ in groups)), mp.sqrt(d * seen["xi"]))
    tilde = mp.sqrt(seen["tilde"])
    return {
        "bound": 545 * mpf(L) * D * nu / mp.sqrt(seen["M"]),
        "bound_at_tilde": 545 * mpf(L) * D * nu / mp.sqrt(tilde),
        "b": mpf(L) * mp.sqrt(tilde) / (D * nu),
        "corrected_bound": mpf("272.5") * mpf(L) * D * nu / mp.sqrt(seen["tilde"]),
    }


def unlike_convex(
    *,
    groups: Sequence[tuple[int, int, int, float, float, float]],
    law: Sequence[tuple[int, float]],
    d: int,
    D: float,
    beta: float,
    R: int,
    printed: bool,
) -> dict[str, Any]:
    """Theorem 2.1, complete and convex, at R rounds, from groups (clients, n, K, ε, ln δ, L_i), term by term.

    Printed: every σ for L = max L_i, M~ = √M' or √M, 1/ν² over K. Corrected: σ_i for L_i, ψ_i = L_i² ξ_i, M~ = M' or
    M, and 1/ν² over K only where all clients take part.
    """
    slopes = [one[5] for one in groups]
    L = max(map(mpf, slopes))
    seen = aggregates([(N, n, eps, ld) for N, n, _, eps, ld, _ in groups], law, R, None if printed else slopes)
    n_min, K = min(one[1] for one in groups), min(one[2] for one in groups)
    everyone = all(m == sum(one[0] for one in groups) for m, _ in law)
    tilde = mp.sqrt(seen["tilde"]) if printed else seen["tilde"]
    nu = max(1 / mp.sqrt(n_min), mp.sqrt(d * seen["xi"]))
    divisor = K if printed or everyone else 1
    eta = min(1 / (4 * mpf(beta)), D * mp.sqrt(tilde) / (L * R * nu))
    noise = seen["average"] / seen["rms"] if seen["tilde"] == seen["rms"] else seen["largest"] / seen["M"]
    terms = mpf(2) / (seen["M"] * n_min) * R + 256 * R * d * noise + mpf(8) / (seen["M"] * K)
    return {
        **seen,
        "needed": max(mpf(beta) * D * mp.sqrt(tilde) / (L * nu), 1 / (nu**2 * divisor)),
        "eta": eta,
        "bound": 272 * L * D * nu / mp.sqrt(tilde),
        "master": mpf(D) ** 2 / (eta * R) + eta * L**2 * terms,
        "sigmas": [sigma(float(L) if printed else own, n, eps, ld, R) for _, n, _, eps, ld, own in groups],
        "tilde": tilde,
    }


def figure_2_lower(*, n: int, N: int, d: int, eps: float) -> dict[str, Real]:
    """Theorem 3.1's convex lower bound at φ = D = L = 1, with C² = (εn√N/√d)^{2/5} of the one-pass algorithm."""
    C2 = (mpf(eps) * n * mp.sqrt(N) / mp.sqrt(d)) ** (mpf(2) / 5)
    return {"C2": C2, "lower": 1 / mp.sqrt(mpf(n) * N) + mp.sqrt(d) / (mpf(eps) * n * mp.sqrt(N) * C2)}


def second_term_of_34(*, L: float, D: float, M: int, K: int, R: int) -> Real:
    """LD/√(MKR), as (34) prints it."""
    return mpf(L) * D / mp.sqrt(mpf(M) * K * R)


def weights(mu: float, eta: float, R: int) -> list[Real]:
    """(1 − μη)^{−r} for r = 1, …, R."""
    q = 1 - mpf(mu) * mpf(eta)
    return [q**-r for r in range(1, R + 1)]


def optimisation(D0: float, mu: float, eta: float, R: int) -> Real:
    """D₀²/(2η Σ weights): what telescoping leaves."""
    return mpf(D0) ** 2 / (2 * mpf(eta) * mp.fsum(weights(mu, eta, R)))


def stability(L: float, n: int, N: int, mu: float, eta: float, R: int) -> Real:
    """L · Σ weight · E|w_r − w_r'|, the distances by their recursion."""
    q, distance, distances = 1 - mpf(mu) * mpf(eta), mpf(0), []
    for _ in range(R):
        distance = q * distance + 2 * mpf(L) * mpf(eta) / (mpf(n) * N)
        distances.append(distance)
    w = weights(mu, eta, R)
    return mpf(L) * mp.fsum(a * b for a, b in zip(w, distances, strict=True)) / mp.fsum(w)


def recursion(a: float, c: float, r0: float, eta: float, T: int) -> Real:
    """The most that Σγ_t s_t/Γ + a r_T can be: the recursion with equality, all of the excess in the weights' mean.

    With s_t = 0 except at t = 0, where it is as large as r_1 ≥ 0 admits.
    """
    q = 1 - mpf(a) * mpf(eta)
    gammas = [q ** -(t + 1) for t in range(T)]
    s0 = (q * mpf(r0) + mpf(c) * mpf(eta) ** 2) / mpf(eta)
    r = mpf(0)
    for _ in range(T - 1):
        r = q * r + mpf(c) * mpf(eta) ** 2
    return gammas[0] * s0 / mp.fsum(gammas) + mpf(a) * r


def two_level_variance(data: Sequence[Sequence[float]], M: int, K: int) -> Real:
    """Variance of the mean over M random clients of the means of K of their values, by enumeration of all draws."""
    N = len(data)
    client_means = [[mp.fsum(map(mpf, batch)) / K for batch in combinations(values, K)] for values in data]
    truth = mp.fsum(mpf(value) for values in data for value in values) / sum(map(len, data))
    total, count = mpf(0), 0
    for chosen in combinations(range(N), M):
        grid = [mpf(0)]
        for client in chosen:
            grid = [sofar + mean for sofar in grid for mean in client_means[client]]
        # Every client has as many batches, so the draws are uniform over the grid.
        total += mp.fsum((value / M - truth) ** 2 for value in grid) / len(grid)
        count += 1
    return total / count


def one_pass(run: Any, K: int) -> dict[str, Real]:
    """The batches and terms of Theorem 2.3, mended."""
    n, N, M, d = (mpf(x) for x in (run.samples_per_client, run.clients, run.participants, run.dimension))
    L, D, beta, mu = (mpf(x) for x in (run.lipschitz, run.diameter, run.smoothness, run.strong_convexity))
    phi, v, gap, eps = (mpf(x) for x in (run.gradient_std, run.heterogeneity, run.gap, run.epsilon))
    logs, kappa = -mpf(run.log_delta), beta / mu
    rest = (N - M) / (N - 1)
    argument = mu * gap * min((eps * n) ** 2 * M / (L**2 * d * logs), n * M / phi**2)
    return {
        "convex_batch": (L / (beta * D)) ** (mpf(2) / 5) * n ** (mpf(3) / 5) * (d * logs) ** (mpf(1) / 5)
        / (eps ** (mpf(2) / 5) * M ** (mpf(1) / 5)),
        "strongly_convex_batch": n / (mp.sqrt(kappa) * ln(argument)) if argument > 1 else mp.inf,
        "convex_optimisation": beta * D**2 * K**2 / n**2,
        "convex_sampling": phi * D / mp.sqrt(n * M),
        "convex_privacy": L * D * mp.sqrt(d * logs) / (eps * mp.sqrt(K * n * M)),
        "convex_heterogeneity": mp.sqrt(K) * v * D / mp.sqrt(n * M) * mp.sqrt(rest),
        "strongly_optimisation": gap * mp.exp(-n / (K * mp.sqrt(kappa))),
        "strongly_sampling": phi**2 / (mu * n * M),
        "strongly_heterogeneity": v**2 * K / (mu * n * M) * rest,
        "strongly_privacy": L**2 * d * logs / (mu * K * n * eps**2 * M),
    }  # fmt: skip
