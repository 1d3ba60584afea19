"""Statements whose formula is a line or two, written out again in multiple precision from the statement alone.

Each stands beside its theorem's first example; the figures that it names have to be those of the formula.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from mpmath import ceil, cosh, exp, log, mp, mpf, ncdf, sinh, sqrt

from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems import THEOREMS

Given = Mapping[str, Any]
Statement = Callable[[Given], Mapping[str, Any]]

BY_ID = {theorem.id: theorem for theorem in THEOREMS}


def gaussian_delta(epsilon: Any, mu: Any) -> Any:
    """δ(ε) of N(0, 1) against N(μ, 1)."""
    return ncdf(mu / 2 - epsilon / mu) - exp(epsilon) * ncdf(-mu / 2 - epsilon / mu)


def exact(given: Given) -> dict[str, Any]:
    """Numbers as they stand in decimal, so that 0.1 is a tenth."""
    return {name: mpf(repr(value)) if isinstance(value, float) else value for name, value in given.items()}


def gaussian_release(e: Given) -> dict[str, Any]:
    mu = 1 / e["noise_multiplier"]
    return {"gaussian_dp_mu": mu, "delta": gaussian_delta(e["epsilon"], mu)}


def discrete_laplace(e: Given) -> dict[str, Any]:
    alpha, shift = e["decay_rate"], e["sensitivity"]
    norm = (1 - exp(-alpha)) / (1 + exp(-alpha))
    law = {y: norm * exp(-alpha * abs(y)) for y in range(-300, 301)}
    gaps = (weight - exp(e["epsilon"]) * law[y - shift] for y, weight in law.items() if y - shift in law)
    return {"pure_epsilon": alpha * shift, "delta": sum(max(gap, mpf(0)) for gap in gaps)}


def approximate_clones(e: Given) -> dict[str, Any]:
    local, epsilon, clients, delta = e["local_epsilon"], e["epsilon"], e["clients"], e["local_delta"]
    s = 1 / (1 + exp(local))
    return {
        "added_delta": (1 + exp(epsilon)) * (s + (clients - 1) * exp(-local) * (1 + s)) * delta,
        "printed_added_delta": (1 + exp(epsilon)) * (1 + exp(-local) / 2) * clients * delta,
    }


def shared_outcome(e: Given) -> dict[str, Any]:
    return {"needed": 2 / (exp(e["local_epsilon"]) + 1), "available": exp(-e["local_epsilon"])}


def pure_to_zcdp(e: Given) -> dict[str, Any]:
    return {"zcdp_rho": e["epsilon"] ** 2 / 2, "composed_zcdp_rho": e["times"] * e["epsilon"] ** 2 / 2}


def advanced_composition(e: Given) -> dict[str, Any]:
    epsilon, delta = (mpf(repr(e[name][0])) for name in ("epsilons", "deltas"))
    slack, times = e["slack_delta"], e["times"]
    spread = sqrt(2 * times * epsilon**2 * log(1 / slack))
    return {"epsilon": spread + times * epsilon * (exp(epsilon) - 1), "delta": slack + times * delta}


def record_target(e: Given) -> dict[str, Any]:
    epsilon, delta, n = e["epsilon"], e["delta"], e["samples_per_client"]
    growth = (exp(epsilon) - 1) / (exp(epsilon / n) - 1)
    return {"epsilon": epsilon / n, "delta": delta / n, "client_delta": growth * delta / n}


def accelerated_risk(e: Given) -> dict[str, Any]:
    n, m, t, d0 = e["clients"], e["participants"], e["rounds"], e["diameter"]
    drawn = e["gradient_std"] ** 2 / (m * e["batch_size"])
    between = e["heterogeneity"] ** 2 / m * mpf(n - m) / (n - 1)
    v = sqrt(drawn + between + e["dimension"] * e["noise_std"] ** 2 / m)
    first = 2 * e["smoothness"] * d0**2 / mpf(t + 1) ** 2
    return {"excess_risk": first + 2 * d0 * v * sqrt(mpf(2 * t + 1) / (6 * t * (t + 1)))}


def convex_descent(e: Given) -> dict[str, Any]:
    m, step = e["participants"], e["step_size"]
    variance = e["empirical_gradient_std"] ** 2 / (m * e["batch_size"])
    noise = e["dimension"] * e["noise_std"] ** 2 / m
    return {
        "excess_risk": e["initial_distance"] ** 2 / (step * e["rounds"]) + 2 * step * (variance + noise / 2),
        "sampling_variance": variance,
        "noise_variance": noise,
    }


def fresh_variance(e: Given) -> dict[str, Any]:
    n, m = e["clients"], e["participants"]
    sampling = e["gradient_std"] ** 2 / (m * e["batch_size"])
    clients = (1 - mpf(m - 1) / (n - 1)) * e["heterogeneity"] ** 2 / m
    noise = e["dimension"] * e["noise_std"] ** 2 / m
    return {
        "gradient_variance": sampling + clients + noise,
        "sampling_variance": sampling,
        "client_variance": clients,
        "noise_variance": noise,
    }


def reused_variance(e: Given) -> dict[str, Any]:
    m = e["participants"]
    sampling = e["empirical_gradient_std"] ** 2 / (m * e["batch_size"])
    return {"gradient_variance": sampling + e["dimension"] * e["noise_std"] ** 2 / m}


def compositional(e: Given) -> dict[str, Any]:
    clients, local, rounds = e["clients"], e["local_epsilon"], e["rounds"]
    delta = clients * e["local_delta"]
    inner = 8 * sqrt(exp(local) * log(4 / delta) / clients) + 8 * exp(local) / clients
    once = log(1 + sinh(local / 2) / cosh(local / 2) * inner)
    squares = 2 * rounds * once**2
    total = squares + sqrt(squares * log(1 / (rounds * delta)))
    return {"round_epsilon": once, "epsilon": total, "delta": 14 * rounds * delta}


def transfer(e: Given) -> dict[str, Any]:
    return {"delta": e["delta"] + (exp(e["epsilon"]) + 1) * e["distance"]}


def shuffled_noise(e: Given) -> dict[str, Any]:
    delta, m, r, bound = e["delta"], e["participants"], e["rounds"], e["lipschitz"]
    q = mpf(m) / (e["samples_per_client"] * e["clients"])
    step = e["epsilon"] / (2 * sqrt(2 * r * log(2 / delta)))
    shuffling = min(mpf(1) / 2, delta / (4 * r * q))
    a = 8 * sqrt(exp(1) * log(4 / shuffling) / m) + 8 * exp(1) / m
    grown = exp(step) - 1
    local = min(mpf(1), 2 * grown / (q * a))
    local_delta = delta / (8 * r * q * m * (2 + min(grown / q, a * local / 2)))
    std = sqrt(8 * log(mpf(5) / 4 / local_delta)) * bound / local
    return {"rate": q, "step_epsilon": step, "local_epsilon": local, "noise_std": std}


def central_population(e: Given) -> dict[str, Any]:
    records, bound = e["samples_per_client"] * e["clients"], e["lipschitz"]
    statistical = bound**2 / (e["strong_convexity"] * records)
    privacy = bound * e["radius"] * min(mpf(1), e["dimension"] / (e["epsilon"] * records) ** 2)
    return {"statistical_term": statistical, "privacy_term": privacy, "excess_risk_scale": statistical + privacy}


def local_empirical(e: Given) -> dict[str, Any]:
    reach = e["epsilon"] * e["samples_per_client"] * sqrt(mpf(e["clients"]))
    return {"excess_risk_scale": e["lipschitz"] * e["radius"] * min(mpf(1), sqrt(mpf(e["dimension"])) / reach)}


def central_empirical(e: Given) -> dict[str, Any]:
    reach = e["epsilon"] * e["samples_per_client"] * e["clients"]
    return {"excess_risk_scale": e["lipschitz"] * e["radius"] * min(mpf(1), sqrt(mpf(e["dimension"])) / reach)}


def figure_2(e: Given) -> dict[str, Any]:
    records, kappa = mpf(e["samples_per_client"] * e["clients"]), e["condition_number"]
    r = sqrt(mpf(e["dimension"])) / (e["epsilon"] * e["samples_per_client"] * sqrt(mpf(e["clients"])))
    return {
        "identical_convex": 1 / sqrt(records) + r,
        "identical_strongly_convex": 1 / records + r**2,
        "different_convex_upper": 1 / sqrt(records) + r ** (mpf(4) / 5),
        "different_convex_lower": 1 / sqrt(records) + r ** (mpf(7) / 5),
        "different_strongly_convex_lower": 1 / records + r**2 / kappa,
        "empirical_convex": r,
        "empirical_strongly_convex": r**2,
        "one_pass_strongly_convex_excess_factor": sqrt(kappa),
        "one_pass_strongly_convex_gap": sqrt(kappa) * r**2 / (r**2 / kappa),
    }


def experiment_settings(e: Given) -> dict[str, Any]:
    assert e["experiment"] == "mnist"
    return {
        "clients": 25,
        "samples_per_client": 1238,
        "dimension": 50,
        "participants": [12, 18, 25],
        "epsilons": [0.75, 1.5, 3, 6, 12, 18],
        "delta": mpf(1) / 1238**2,
        "trials": 20,
        "tuning_runs": 3,
    }


def gaussian_kernel(e: Given) -> dict[str, Any]:
    shift = e["diameter"] / e["noise_std"]
    return {"shift": shift, "theta": gaussian_delta(e["epsilon"], shift)}


def noisy_gd_in_ball(e: Given) -> dict[str, Any]:
    per_record = e["sensitivity"] / e["population"]
    steps = ceil(e["diameter"] / (e["step_size"] * per_record))
    inside = 3 * per_record * e["diameter"] / e["step_size"] + per_record**2 * steps
    return {"gaussian_dp_mu": sqrt(inside) / e["noise_std"]}


def noisy_cgd(e: Given) -> dict[str, Any]:
    c, period, passes = e["contraction"], e["period"], e["rounds"]
    later = c ** (period * (passes - 1))
    share = c ** (2 * period - 2) * (1 - c**2) / (1 - c**period) ** 2 * (1 - later) / (1 + later)
    return {"gaussian_dp_mu": e["sensitivity"] / (e["batch_size"] * e["noise_std"]) * sqrt(1 + share)}


def noisy_cgd_in_ball(e: Given) -> dict[str, Any]:
    per_batch, period = e["sensitivity"] / e["batch_size"], e["period"]
    steps = ceil(e["diameter"] / (e["step_size"] * per_batch))
    inside = 3 * per_batch * e["diameter"] / (e["step_size"] * period) + per_batch**2 * (1 + steps / period)
    return {"gaussian_dp_mu": sqrt(inside) / e["noise_std"]}


def reported_epsilon(e: Given) -> dict[str, Any]:
    mu = 2 * sqrt(mpf(e["rounds"])) / (e["noise_multiplier"] * e["clients"])
    low, high = mpf(0), mpf(1)
    for _ in range(90):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(middle, mu) > e["delta"] else (low, middle)
    return {"gaussian_dp_mu": mu, "epsilon": high}


def gap_factor(e: Given) -> dict[str, Any]:
    return {"factor": sqrt(mpf(e["clients"]) / e["participants"])}


def trusted_run(e: Given) -> dict[str, Any]:
    g, smooth, d, rho = e["lipschitz"], e["smoothness"], e["diameter"], e["gaussian_dp_mu"]
    m, t = e["participants"], e["rounds"]
    s = g + 2 * smooth * d
    spread = g + 2 * smooth * d  # σ̃ and ξ̃ where σ = ξ = G and σ_L = ξ_L = L
    return {
        "noise_std": 2 * s * sqrt(mpf(t)) / (rho * m),
        "optimisation_term": 4 * d * (g + 2 * smooth * d) / t,
        "statistical_term": 4 * d * sqrt(2 * spread**2) / sqrt(mpf(m * t)),
        "privacy_term": 4 * d * 2 * s * sqrt(mpf(e["dimension"])) / (rho * m * t),
    }


def small_movement(e: Given) -> dict[str, Any]:
    logarithm = log(1 / e["delta"])
    claimed = (
        e["rounds"] * mpf(2) ** -e["dimension"] + e["delta"] + 4 * (e["growth_ratio"] - 1) / e["samples_per_client"]
    )
    return {"claimed_epsilon": e["epsilon"] / 8 + e["epsilon"] ** 2 / (256 * logarithm), "claimed_delta": claimed}


def cube(e: Given) -> dict[str, Any]:
    s, d = e["quantization_levels"], e["dimension"]
    return {"l1_sensitivity": 2 * d * s, "linf_sensitivity": 2 * s}


def unit_vectors(e: Given) -> dict[str, Any]:
    s, root, d = e["quantization_levels"], sqrt(mpf(e["dimension"])), e["dimension"]
    return {
        "l1_sensitivity": min(mpf(2 * d * s), 2 * s * root + d),
        "linf_sensitivity": 2 * s,
        "l2_sensitivity": 2 * s + root,
    }


def coupled_rounding(e: Given) -> dict[str, Any]:
    s, d = e["quantization_levels"], e["dimension"]
    return {
        "l1_sensitivity": s * e["update_l1"] + d,
        "linf_sensitivity": ceil(s * e["update_linf"]),
        "l2_sensitivity": s * e["update_l2"] + sqrt(mpf(d)),
    }


def likely_rounding(e: Given) -> dict[str, Any]:
    s, d, often = e["quantization_levels"], e["dimension"], log(2 / e["failure_delta"])
    l1, l2 = s * e["update_l1"], s * e["update_l2"]
    squared = l2**2 + min(mpf(d) / 4, l1) + sqrt((4 * l2**2 + 4 * l1 + d) * often / 2)
    return {"l1_sensitivity": l1 + sqrt(d * often / 2), "l2_sensitivity": sqrt(squared)}


def relative_movement(e: Given) -> dict[str, Any]:
    s, d, mu = e["quantization_levels"], e["dimension"], e["relative_movement"]
    return {
        "l1_sensitivity": 2 * d + mu * s * sqrt(mpf(d)),
        "linf_sensitivity": 2 + mu * s,
        "l2_sensitivity": 2 * sqrt(mpf(d)) + mu * s,
    }


def federated_averaging(e: Given) -> dict[str, Any]:
    n, r = e["clients"], e["participants"]
    c = max(mpf(4), 2 + 23 * mpf(n - r) / (r * (n - 1)), 64 * mpf(n * (r - 1)) / (r * (n - 1)))
    bound = 32 * c * (e["smoothness"] / e["quasar_convexity"]) ** 2 * e["initial_distance"] ** 2 / e["rounds"]
    return {"variance_constant": c, "squared_gradient_norm": bound, "gradient_norm": sqrt(bound)}


def binomial_epsilon(e: Given, trials: int) -> Any:
    delta, d, v = e["delta"], e["dimension"], mpf(trials) / 4
    l1, l2, linf = e["l1_sensitivity"], e["l2_sensitivity"], e["linf_sensitivity"]
    first = l2 * sqrt(2 * log(mpf(5) / 4 / delta)) / sqrt(v)
    second = (l2 * 7 * sqrt(mpf(2)) / 4 * sqrt(log(10 / delta)) + l1 / 3) / (v * (1 - delta / 10))
    third = linf * 2 / 3 * (log(mpf(5) / 4 / delta) + log(20 * d / delta) * log(10 / delta)) / v
    return first + second + third


def binomial_given(e: Given) -> dict[str, Any]:
    return {"epsilon": binomial_epsilon(e, e["trials"])}


def binomial_least(e: Given) -> dict[str, Any]:
    least = ceil(4 * max(23 * log(10 * e["dimension"] / e["delta"]), 2 * e["linf_sensitivity"]))
    low, high = int(least) - 1, 10**12
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if binomial_epsilon(e, middle) > e["epsilon"] else (low, middle)
    error = e["dimension"] * mpf(high) / 4 / mpf(e["quantization_levels"]) ** 2
    return {"trials": high, "variance": mpf(high) / 4, "mean_squared_error": error}


def earlier_rates(e: Given) -> dict[str, Any]:
    n, clients, epsilon, kappa = e["samples_per_client"], e["clients"], e["epsilon"], e["condition_number"]
    cost = e["lipschitz"] ** 2 / e["strong_convexity"] * e["dimension"]
    own, first = cost * log(1 / e["delta"]) / (epsilon * n) ** 2 / clients, kappa * cost / (n * clients * epsilon**2)
    return {
        "theorem_2_4_scale": own,
        "gradient_scale": first,
        "additive_scale": epsilon,
        "ratio": own / first,
        "alternating_scale": clients / epsilon**2,
    }


STATEMENTS: dict[str, Statement] = {
    "balle-wang-2018.8": gaussian_release,
    "epsilond.discrete-laplace": discrete_laplace,
    "epsilond.approximate-clones": approximate_clones,
    "feldman-mcmillan-talwar-2023.lemma-3.5": shared_outcome,
    "bun-steinke-2016.proposition-1.4": pure_to_zcdp,
    "dwork-roth-2014.3.20": advanced_composition,
    "lowy.appendix-g.1": record_target,
    "epsilond.accelerated-sgd-excess-risk": accelerated_risk,
    "lowy.lemma-e.4": convex_descent,
    "lowy.lemma-e.5": fresh_variance,
    "lowy.lemma-e.5-erm": reused_variance,
    "lowy.f.1.compositional": compositional,
    "lowy.lemma-f.6": transfer,
    "epsilond.shuffled-sgd-noise": shuffled_noise,
    "lowy.f.3": central_population,
    "lowy.f.4": local_empirical,
    "lowy.f.5": central_empirical,
    "lowy.figure-2": figure_2,
    "lowy.appendix-a": earlier_rates,
    "lowy.appendix-h.settings": experiment_settings,
    "asoodeh.lemma-2": gaussian_kernel,
    "bok-su-altschuler-2024.noisy-gd-projected": noisy_gd_in_ball,
    "bok-su-altschuler-2024.noisy-cgd-strongly-convex": noisy_cgd,
    "bok-su-altschuler-2024.noisy-cgd-projected": noisy_cgd_in_ball,
    "bietti.section-6": reported_epsilon,
    "reshef.appendix-g": gap_factor,
    "reshef.f.2": trusted_run,
    "das.corollary-3.1": small_movement,
    "das.definition-1": cube,
    "epsilond.unit-vector-sensitivity": unit_vectors,
    "epsilond.coupled-rounding": coupled_rounding,
    "epsilond.hoeffding-rounding": likely_rounding,
    "das.equation-6": relative_movement,
    "das.4": federated_averaging,
    "agarwal-2018.1": binomial_least,
    "agarwal-2018.1-epsilon": binomial_given,
}


def outputs(theorem: Theorem, **changes: Any) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """The first example, with changes, and what the formula makes of it as printed."""
    given = {**theorem.examples[0], **changes}
    assert theorem.inputs is not None
    return exact(given), theorem.evaluate(theorem.inputs(**given)).outputs


def plain(value: Any) -> Any:
    return [float(each) for each in value] if isinstance(value, list) else float(value)


@pytest.mark.compares(*STATEMENTS)
@pytest.mark.parametrize("name", STATEMENTS)
def test_the_formula_is_the_statement(name: str) -> None:
    given, found = outputs(BY_ID[name])
    with mp.workdps(50):
        wanted = {key: plain(value) for key, value in STATEMENTS[name](given).items()}
    assert {key: found[key] for key in wanted} == {
        key: pytest.approx(value, rel=1e-10, abs=0.0) for key, value in wanted.items()
    }


def clone_delta(epsilon: float, local: float, clients: int, share: Any) -> Any:
    """δ(ε) of the clone pair, by the sum over all numbers of clones and of those that report one."""
    keep = exp(local) / (exp(local) + 1)
    first: dict[tuple[int, int], Any] = {}
    for clones in range(clients):
        weight = mp.binomial(clients - 1, clones) * share**clones * (1 - share) ** (clients - 1 - clones)
        for ones in range(clones + 1):
            each = weight * mp.binomial(clones, ones) / mpf(2) ** clones
            for one, mass in ((1, keep), (0, 1 - keep)):
                key = (ones + one, clones - ones + 1 - one)
                first[key] = first.get(key, mpf(0)) + each * mass
    gaps = (mass - exp(mpf(epsilon)) * first.get((key[1], key[0]), mpf(0)) for key, mass in first.items())
    return sum(max(gap, mpf(0)) for gap in gaps)


@pytest.mark.compares(
    "feldman-mcmillan-talwar-2021.3.1", "feldman-mcmillan-talwar-2023.3.2", "epsilond.shuffled-randomized-response"
)
@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("feldman-mcmillan-talwar-2021.3.1", lambda local: exp(-local)),
        ("feldman-mcmillan-talwar-2023.3.2", lambda local: 2 / (exp(local) + 1)),
        ("epsilond.shuffled-randomized-response", lambda local: 2 / (exp(local) + 1)),
    ],
)
def test_the_clone_pair_by_enumeration(name: str, share: Callable[[Any], Any]) -> None:
    given, found = outputs(BY_ID[name], clients=40, delta=1e-3)
    with mp.workdps(40):
        local = given["local_epsilon"]
        beyond, short = (clone_delta(found["epsilon"] * by, local, 40, share(local)) for by in (1.0, 1.0 - 2e-7))
    assert beyond <= 1e-3 * (1 + 1e-9)
    assert short > 1e-3


@pytest.mark.compares("balle-bell-gascon-nissim-2019.lemma-5.3", within=1e-4)
def test_the_blanket_by_enumeration() -> None:
    clients, first, second = 6, ("0.5", "0.3", "0.2"), ("0.2", "0.3", "0.5")
    _, found = outputs(BY_ID["balle-bell-gascon-nissim-2019.lemma-5.3"], clients=clients)
    with mp.workdps(40):
        laws = [[mpf(each) for each in law] for law in (first, second)]
        least = [min(pair) for pair in zip(*laws, strict=True)]
        mass = sum(least)
        blanket = [each / mass for each in least]
        growth = exp(mpf("0.1"))
        terms = [(p - growth * q) / w for p, q, w in zip(*laws, blanket, strict=True)]
        total = mpf(0)
        for m in range(clients + 1):
            chance = mp.binomial(clients, m) * mass**m * (1 - mass) ** (clients - m)
            for i in range(m + 1):
                for j in range(m - i + 1):
                    counts = (i, j, m - i - j)
                    ways = mp.factorial(m) / mp.fprod(mp.factorial(c) for c in counts)
                    weight = ways * mp.fprod(w**c for w, c in zip(blanket, counts, strict=True))
                    total += chance * weight * max(mp.fdot(counts, terms), mpf(0))
        wanted = float(total / (mass * clients))
    assert wanted <= found["delta"] <= wanted * (1 + 2e-5)  # sums are rounded up to a grid


@pytest.mark.compares("epsilond.mini-batch-sgd-excess-risk")
def test_the_excess_risk_of_mini_batches_at_its_own_step() -> None:
    given, found = outputs(BY_ID["epsilond.mini-batch-sgd-excess-risk"])
    with mp.workdps(40):
        step, rounds, m, n = mpf(found["step_size"]), given["rounds"], given["participants"], given["clients"]
        share = step / (2 * (1 - step * given["smoothness"]))
        between = given["lipschitz"] ** 2 / m * (1 - mpf(m - 1) / (n - 1))
        noise = given["dimension"] * given["noise_std"] ** 2 / m
        stability = given["lipschitz"] ** 2 * step * (rounds + 1) / (given["samples_per_client"] * n)
        wanted = given["initial_distance"] ** 2 / (2 * step * rounds) + share * (between + noise) + stability
    assert found["excess_risk"] == pytest.approx(float(wanted), rel=1e-9)
    assert found["averaging_ratio"] == pytest.approx(1.0)


@pytest.mark.compares("epsilond.one-large-step")
def test_rare_steps_are_as_bad_as_one_of_them_is() -> None:
    """Σ δ_t(ε) of single sampled steps; that two of them are large is rarer by forty orders."""
    given, found = outputs(BY_ID["epsilond.one-large-step"], rate=1e-7, noise_multiplier=1.0, rounds=1000, epsilon=0.07)
    with mp.workdps(80):
        q, growth = given["rate"], exp(given["epsilon"])
        from_here = log((growth - 1 + q) / q) + mpf(1) / 2
        once = (1 - q - growth) * ncdf(-from_here) + q * ncdf(1 - from_here)
        wanted = float(given["rounds"] * once)
    assert found["lower_delta"] == pytest.approx(wanted, rel=1e-9, abs=0.0)
    assert wanted <= found["delta"] <= 1.5 * wanted
