"""Proved statements about finite distributions, on random instances with atoms, zeros, equal and disjoint supports.

Each oracle sums over the outcomes. No figure comes from the formulas under test except the one that is compared.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom

from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems import THEOREMS

FORMULAS: dict[str, Theorem] = {theorem.id: theorem for theorem in THEOREMS if theorem.formula is not None}
SLACK = 1e-12
"""Absolute tolerance of comparisons of probabilities, for sums of at most 1e4 doubles."""
INSTANCES = 25
seeds = pytest.mark.parametrize("seed", range(6))


def serve(name: str, reading: Any = None, **fields: Any) -> Any:
    """Return the outputs of a theorem's formula, of its last reading unless one is named."""
    theorem = FORMULAS[name]
    return theorem.evaluate(theorem.request(**fields), reading or theorem.readings[-1]).outputs


def served_delta(name: str, reading: Any = None, **fields: Any) -> float:
    """Return the δ of a theorem's formula, at most 1."""
    return min(10.0 ** serve(name, reading, **fields)["log10_delta"], 1.0)


def hockey_stick(p: Any, q: Any, epsilon: float) -> float:
    """Return Σ max{p − e^ε q, 0}; an infinite factor times 0 is 0."""
    factor = math.exp(min(epsilon, 700.0))
    return math.fsum(np.maximum(p - factor * q, 0.0))


def least_delta(p: Any, q: Any, epsilon: float) -> float:
    """Return the larger hockey-stick divergence of both directions."""
    return max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))


def total_variation(p: Any, q: Any) -> float:
    """Return half of the sum of absolute differences."""
    return 0.5 * math.fsum(np.abs(p - q))


def random_distribution(rng: np.random.Generator, size: int) -> Any:
    """Draw a distribution with zeros and atoms of very different masses."""
    weights = rng.gamma(0.3, size=size) * (rng.random(size) > 0.2)
    if weights.sum() <= 0.0:
        weights[rng.integers(size)] = 1.0
    return weights / weights.sum()


def near(rng: np.random.Generator, p: Any) -> Any:
    """Draw a distribution at a random distance from another: equal, near, far, or unrelated."""
    share = rng.choice([0.0, 1e-6, 0.05, 0.5, 1.0])
    return (1.0 - share) * p + share * random_distribution(rng, len(p))


def bounded_ratio(rng: np.random.Generator, p: Any, epsilon: float) -> Any:
    """Draw a distribution that is ε-indistinguishable from one with the same support."""
    weights = p * np.exp(0.5 * epsilon * rng.uniform(-1.0, 1.0, len(p)))
    return weights / weights.sum()


def random_epsilon(rng: np.random.Generator) -> float:
    """Draw an ε between 1e-6 and 10."""
    return float(10.0 ** rng.uniform(-6.0, 1.0))


def extremal_pair(epsilon: float, delta: float) -> tuple[Any, Any]:
    """Return the pair of losses ∞, ε, −ε, −∞ that no (ε, δ) mechanism exceeds."""
    high = 1.0 / (1.0 + math.exp(-epsilon))
    p = np.array([delta, (1.0 - delta) * high, (1.0 - delta) * (1.0 - high), 0.0])
    return p, p[::-1].copy()


def product(pairs: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """Return the distributions of all outcomes together, for independent mechanisms."""
    first, second = np.ones(1), np.ones(1)
    for p, q in pairs:
        first, second = np.outer(first, p).ravel(), np.outer(second, q).ravel()
    return first, second


# From one guarantee to another ----------------------------------------------------------------------------------------
@seeds
def test_groups_of_records(seed: int) -> None:
    """Lemmas F.2 and D.2: both readings bound a chain of k neighbouring steps."""
    rng = np.random.default_rng(seed)
    for _ in range(INSTANCES):
        steps, epsilon = int(rng.integers(1, 7)), random_epsilon(rng)
        chain = [random_distribution(rng, 5)]
        for _ in range(steps):
            chain.append(near(rng, chain[-1]))
        delta = max(*(least_delta(p, q, epsilon) for p, q in itertools.pairwise(chain)), 1e-300)
        if delta >= 1.0:
            continue
        truth = least_delta(chain[0], chain[-1], steps * epsilon)
        for reading in ("printed", "corrected"):
            group = served_delta("lowy.lemma-f.2", reading, epsilon=epsilon, delta=delta, group_size=steps)
            client = served_delta("lowy.lemma-d.2", reading, epsilon=epsilon, delta=delta, samples_per_client=steps)
            assert truth <= min(group, client) + SLACK


@seeds
def test_deletion_and_insertion_make_a_replacement(seed: int) -> None:
    """Lemma F.4."""
    rng = np.random.default_rng(seed)
    for _ in range(INSTANCES):
        without, epsilon = random_distribution(rng, 5), random_epsilon(rng)
        first, second = near(rng, without), near(rng, without)
        delta = max(least_delta(first, without, epsilon), least_delta(second, without, epsilon), 1e-300)
        if delta < 1.0:
            truth = least_delta(first, second, 2.0 * epsilon)
            assert truth <= served_delta("lowy.lemma-f.4", epsilon=epsilon, delta=delta) + SLACK


@seeds
def test_distributions_near_a_pair(seed: int) -> None:
    """Lemma F.6."""
    rng = np.random.default_rng(seed)
    for _ in range(INSTANCES):
        p, epsilon = random_distribution(rng, 5), random_epsilon(rng)
        q = near(rng, p)
        first, second = near(rng, p), near(rng, q)
        delta = max(hockey_stick(p, q, epsilon), 1e-300)
        distance = min(max(total_variation(first, p), total_variation(second, q)), 1.0)
        if delta < 1.0:
            served = served_delta("lowy.lemma-f.6", epsilon=epsilon, delta=delta, distance=distance)
            assert hockey_stick(first, second, epsilon) <= served + SLACK


@seeds
def test_a_mixture_with_a_common_distribution(seed: int) -> None:
    """Lemma F.7: three pairwise ε-indistinguishable distributions; the common one may also be the mean of the two."""
    rng = np.random.default_rng(seed)
    for _ in range(INSTANCES):
        centre, epsilon, rate = random_distribution(rng, 6), random_epsilon(rng), float(rng.random())
        first, second, common = (bounded_ratio(rng, centre, 0.5 * epsilon) for _ in range(3))
        if rng.random() < 0.3:
            common = 0.5 * (first + second)
        pairs = itertools.combinations((first, second, common), 2)
        assert max(least_delta(p, q, epsilon) for p, q in pairs) <= SLACK
        served = serve("lowy.lemma-f.7", epsilon=epsilon, rate=rate)["epsilon"]
        mixed, other = ((1.0 - rate) * common + rate * each for each in (first, second))
        assert least_delta(mixed, other, served) <= SLACK


def test_a_mixture_with_a_far_distribution_is_no_more_private() -> None:
    """A common part on other outcomes hides nothing: the mixed pair is ε-indistinguishable and no better."""
    first, second = np.array([0.75, 0.25, 0.0]), np.array([0.25, 0.75, 0.0])
    rate, epsilon = 0.1, math.log(3.0)
    mixed, other = ((1.0 - rate) * np.array([0.0, 0.0, 1.0]) + rate * each for each in (first, second))
    served = serve("lowy.lemma-f.7", epsilon=epsilon, rate=rate)["epsilon"]
    assert served < 0.2 < epsilon
    assert least_delta(mixed, other, served) == pytest.approx(0.1 * (0.75 - 1.2 * 0.25), rel=1e-9)
    names = [condition.id for condition in FORMULAS["lowy.lemma-f.7"].conditions]
    assert names == ["near-the-common-distribution"]


@seeds
def test_a_report_near_one_that_is_pure(seed: int) -> None:
    """Lemma F.5: the least total variation, by linear programming, to a distribution that is ε-indistinguishable."""
    rng = np.random.default_rng(seed)
    for _ in range(8):
        size, epsilon = 4, float(10.0 ** rng.uniform(-2.0, 0.7))
        fixed = random_distribution(rng, size)
        moved = near(rng, fixed)
        delta = max(least_delta(moved, fixed, epsilon), 1e-12)
        if delta >= 1.0:
            continue
        # Minimise Σ t over x, t with |x − moved| ≤ t, Σ x = 1 and e^−ε fixed ≤ x ≤ e^ε fixed.
        identity = np.eye(size)
        limits = np.block([[identity, -identity], [-identity, -identity]])
        bounds = [(math.exp(-epsilon) * each, math.exp(epsilon) * each) for each in fixed] + [(0.0, None)] * size
        solution = linprog(
            np.r_[np.zeros(size), np.full(size, 0.5)],
            A_ub=limits,
            b_ub=np.r_[moved, -moved],
            A_eq=np.r_[np.ones(size), np.zeros(size)][None],
            b_eq=[1.0],
            bounds=bounds,
        )
        assert solution.status == 0
        served = 10.0 ** serve("lowy.lemma-f.5", epsilon=epsilon, delta=delta)["log10_distance"]
        assert solution.fun <= served + 1e-9


@seeds
def test_the_extremal_pair_dominates(seed: int) -> None:
    """Kairouz, Oh and Viswanath: what is (ε, δ) has at every other ε' at most the δ of the extremal pair."""
    rng = np.random.default_rng(seed)
    for _ in range(INSTANCES):
        p, epsilon = random_distribution(rng, 5), random_epsilon(rng)
        q = near(rng, p)
        delta, other = least_delta(p, q, epsilon), random_epsilon(rng)
        if 0.0 < delta < 1.0:
            name = "kairouz-oh-viswanath-2015.extremal-pair"
            assert (
                least_delta(p, q, other) <= served_delta(name, epsilon=epsilon, delta=delta, at_epsilon=other) + SLACK
            )


# Composition and sampling ---------------------------------------------------------------------------------------------
@seeds
def test_composition_of_unequal_pairs(seed: int) -> None:
    """Basic and advanced composition against the product of extremal pairs, every outcome of it."""
    rng = np.random.default_rng(seed)
    for _ in range(12):
        count = int(rng.integers(1, 7))
        epsilons = [float(10.0 ** rng.uniform(-3.0, 0.5)) for _ in range(count)]
        deltas = [float(rng.choice([0.0, 1e-9, 0.01, 0.3])) for _ in range(count)]
        slack = float(10.0 ** rng.uniform(-6.0, -0.01))
        p, q = product([extremal_pair(*each) for each in zip(epsilons, deltas, strict=True)])
        fields = {"epsilons": tuple(epsilons), "deltas": tuple(deltas), "slack_delta": slack}
        names = ["dwork-roth-2014.3.16", "dwork-roth-2014.3.20", "kairouz-oh-viswanath-2015.3.5"]
        if math.expm1(max(epsilons)) <= 2.0 * max(epsilons):
            names.append("lowy.corollary-f.1")
        for name in names:
            outputs = serve(name, **fields)
            assert least_delta(p, q, outputs["epsilon"]) <= 10.0 ** outputs["log10_delta"] + SLACK


@seeds
def test_composition_of_equal_pairs(seed: int) -> None:
    """Optimal composition attains, and advanced composition bounds, k equal pure mechanisms: a sum over false reports."""
    rng = np.random.default_rng(seed)
    for _ in range(INSTANCES):
        runs, epsilon = int(rng.integers(1, 200)), float(10.0 ** rng.uniform(-3.0, 0.5))
        misses = np.arange(runs + 1)
        p, q = (
            binom.pmf(misses, runs, chance) for chance in (1 / (1 + math.exp(epsilon)), 1 / (1 + math.exp(-epsilon)))
        )
        index = int(rng.integers(0, runs // 2 + 1))
        fields = {"epsilon": epsilon, "delta": 0.0, "runs": runs, "index": index}
        optimal = serve("kairouz-oh-viswanath-2015.3.3", **fields)
        truth = hockey_stick(p, q, optimal["epsilon"])
        assert truth == pytest.approx(10.0 ** optimal["log10_delta"], rel=1e-8, abs=1e-11)
        slack = float(10.0 ** rng.uniform(-8.0, -0.01))
        fields = {"epsilons": (epsilon,), "deltas": (0.0,), "slack_delta": slack, "times": runs}
        for name in ("dwork-roth-2014.3.20", "kairouz-oh-viswanath-2015.3.5"):
            outputs = serve(name, **fields)
            assert hockey_stick(p, q, outputs["epsilon"]) <= 10.0 ** outputs["log10_delta"] + SLACK


@seeds
def test_sampling_without_replacement(seed: int) -> None:
    """Any mechanism on batches of K of n records: one record is replaced, and all batches are equally likely."""
    rng = np.random.default_rng(seed)
    for _ in range(INSTANCES):
        size, epsilon = int(rng.integers(1, 5)), random_epsilon(rng)
        batch = int(rng.integers(1, size + 1))
        base = random_distribution(rng, 4)
        outputs = {each: near(rng, base) for each in itertools.combinations(range(size + 1), batch)}
        before, after = range(size), range(1, size + 1)  # record 0 is replaced by record n
        tables = [[outputs[each] for each in itertools.combinations(records, batch)] for records in (before, after)]
        pairs = (
            (one, other) for one, other in itertools.combinations(outputs, 2) if len(set(one) & set(other)) == batch - 1
        )
        delta = max([least_delta(outputs[one], outputs[other], epsilon) for one, other in pairs] + [1e-300])
        if delta >= 1.0:
            continue
        kept, replaced = (np.mean(table, axis=0) for table in tables)
        fields = {"epsilon": epsilon, "delta": delta, "rate": batch / size}
        for reading in ("printed", "corrected") if epsilon <= 1.0 else ("corrected",):
            served = serve("ullman-2017.amplification", reading, **fields)
            assert least_delta(kept, replaced, served["epsilon"]) <= 10.0 ** served["log10_delta"] + SLACK


@seeds
def test_reports_with_a_shared_part(seed: int) -> None:
    """Lemma F.3 at its hardest: distinct reports of one client among Bin(N − 1, p) copies, half of each."""
    rng = np.random.default_rng(seed)
    for _ in range(8):
        delta = float(10.0 ** rng.uniform(-4.0, -0.1))
        share = float(rng.uniform(0.05, 1.0))
        least = 16.0 * math.log(2.0 / delta) / share
        clients = math.ceil(least * 10.0 ** rng.uniform(0.0, 0.3))
        copies = np.arange(clients)
        weights = binom.pmf(copies, clients - 1, share)
        p, q = [], []
        for count, weight in zip(copies, weights, strict=True):
            halves = weight * binom.pmf(np.arange(count + 2), count, 0.5)
            p.append(np.r_[0.0, halves[:-1]])
            q.append(halves)
        served = serve("lowy.lemma-f.3", delta=delta, share=share, clients=clients)["epsilon"]
        assert least_delta(np.concatenate(p), np.concatenate(q), served) <= delta


# Rényi divergences ----------------------------------------------------------------------------------------------------
def renyi(p: Any, q: Any, order: float) -> float:
    """Return the Rényi divergence; infinite where p has mass and q none."""
    if np.any((q == 0.0) & (p > 0.0)):
        return math.inf
    at = p > 0.0
    exponents = order * np.log(p[at]) + (1.0 - order) * np.log(q[at])
    return float(np.logaddexp.reduce(exponents)) / (order - 1.0)


@seeds
def test_renyi_divergences_to_a_delta(seed: int) -> None:
    """Mironov's Proposition 3, and Proposition 12 of Canonne, Kamath and Steinke, at several orders."""
    rng = np.random.default_rng(seed)
    for _ in range(INSTANCES):
        p = random_distribution(rng, 5)
        q = 0.9 * near(rng, p) + 0.1 * p
        orders = sorted(float(1.0 + 10.0 ** rng.uniform(-3.0, 2.0)) for _ in range(4))
        divergences = [max(renyi(p, q, order), 0.0) for order in orders]
        if not all(map(math.isfinite, divergences)):
            continue
        delta = float(10.0 ** rng.uniform(-8.0, -0.05))
        fields = {"orders": tuple(orders), "divergences": tuple(divergences), "delta": delta}
        for name in ("mironov-2017.proposition-3", "canonne-kamath-steinke-2020.proposition-12"):
            epsilon = serve(name, **fields)["epsilon"]
            assert hockey_stick(p, q, max(epsilon, 0.0)) <= delta + SLACK


@seeds
def test_pure_privacy_is_concentrated(seed: int) -> None:
    """Proposition 1.4 of Bun and Steinke on ε-indistinguishable pairs, and Corollary 13 on their compositions."""
    rng = np.random.default_rng(seed)
    for _ in range(INSTANCES):
        epsilon, order = float(10.0 ** rng.uniform(-2.0, 1.0)), float(1.0 + 10.0 ** rng.uniform(-3.0, 2.0))
        p = random_distribution(rng, 5)
        q = bounded_ratio(rng, p, epsilon)
        served = serve("bun-steinke-2016.proposition-1.4", epsilon=epsilon, times=1)["zcdp_rho"]
        assert max(renyi(p, q, order), renyi(q, p, order)) <= order * served * (1.0 + 1e-9) + 1e-12
        runs = int(rng.integers(1, min(200.0, 600.0 / epsilon)))  # every mass is a double
        misses = np.arange(runs + 1)
        chances = (1.0 / (1.0 + math.exp(epsilon)), 1.0 / (1.0 + math.exp(-epsilon)))
        first, second = (binom.pmf(misses, runs, chance) for chance in chances)
        rho = serve("bun-steinke-2016.proposition-1.4", epsilon=epsilon, times=runs)["composed_zcdp_rho"]
        target = float(rho * 10.0 ** rng.uniform(-1.0, 1.0))
        delta = served_delta("canonne-kamath-steinke-2020.corollary-13", rho=rho, epsilon=target)
        assert hockey_stick(first, second, target) <= delta + SLACK


@seeds
def test_channels_contract_by_the_coefficient(seed: int) -> None:
    """Theorem 1 of Asoodeh et al.: E_ε(μK‖νK) ≤ η E_ε(μ‖ν) for random channels, with identical and disjoint rows."""
    rng = np.random.default_rng(seed)
    for _ in range(INSTANCES):
        rows = [random_distribution(rng, 4) for _ in range(3)]
        rows[1] = rows[0] if rng.random() < 0.3 else near(rng, rows[0])
        epsilon = float(rng.choice([0.0, 0.1, 1.0, 5.0]))
        coefficient = serve("asoodeh.1", epsilon=epsilon, rows=tuple(tuple(map(float, row)) for row in rows))[
            "coefficient"
        ]
        first, second = random_distribution(rng, 3), random_distribution(rng, 3)
        kernel = np.array(rows)
        after, before = hockey_stick(first @ kernel, second @ kernel, epsilon), hockey_stick(first, second, epsilon)
        assert after <= coefficient * before + SLACK
