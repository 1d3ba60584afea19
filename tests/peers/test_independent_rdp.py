"""Who is right where a test of dp-accounting's RdpAccountant differs: figures from the definitions, next to ours and to those of the peer.

`differences.json` names for each entry the function here that decides it.
"""

import math

import numpy as np
import pytest
from mpmath import mp, mpf, quad
from scipy.optimize import minimize_scalar
from scipy.stats import binom, laplace, norm

import epsilond
from tests.peers.adapters.risk import renyi_divergences, selected_divergence
from tests.peers.discretised import Mixture, larger_delta, poisson
from tests.peers.independent import curve_of, encloses, gaussian_batches


def decide_replaced_record_in_batches():
    """Return δ(1) for a record that is replaced in one Poisson batch, and in one batch drawn with replacement.

    In the latter all other records contribute −1, as the record does after the change.
    """
    opposite = poisson(1.0, 0.1, 1.0), poisson(-1.0, 0.1, 1.0)
    weights = tuple(binom.pmf(range(11), 10, 0.001))
    drawn = Mixture(norm, tuple(2.0 * k for k in range(11)), weights, 1.0), Mixture(norm, (0.0,), (1.0,), 1.0)
    return [larger_delta([(p, q, 1)], 1.0, cells=20_000) for p, q in (opposite, drawn)]


def test_decide_replaced_record_in_batches():
    gaussian = epsilond.Gaussian(noise_multiplier=1.0)
    batches = (
        epsilond.Subsampled(sampling="poisson", rate=0.1, mechanism=gaussian),
        epsilond.Subsampled(sampling="with-replacement", batch_size=10, population=1000, mechanism=gaussian),
    )
    for batch, delta in zip(batches, decide_replaced_record_in_batches(), strict=True):
        assert encloses(curve_of(batch, "replace-one").delta(epsilon=1.0), delta, 1e-5)


def decide_batches_with_an_offset():
    """Return δ(0.01) of a mechanism with D_a ≤ ½ + a, on batches: a Gaussian with ρ = 1 and a response with ε = ½."""
    own, noise = 1.0 / (1.0 + math.exp(-0.5)), math.sqrt(0.5)
    x = np.linspace(-12.0, 13.0, 200_001)
    absent, held = norm.pdf(x, 0.0, noise), norm.pdf(x, 1.0, noise)
    total = 0.0
    for with_record, without in ((own, 1.0 - own), (1.0 - own, own)):
        p = 0.99 * absent * without + 0.01 * held * with_record
        total += np.trapezoid(np.maximum(p - math.exp(0.01) * absent * without, 0.0), x)
    return float(total)


def test_decide_batches_with_an_offset():
    orders = tuple(1.0 + k / 8.0 for k in range(1, 200))
    declared = epsilond.Rdp(orders=orders, epsilons=tuple(0.5 + order for order in orders))
    batch = epsilond.Subsampled(sampling="poisson", rate=0.01, mechanism=declared)
    assert decide_batches_with_an_offset() <= curve_of(batch).delta(epsilon=0.01).upper <= 0.01


def decide_selection_of_pure_runs():
    """Return the largest log-ratio of the best of K runs with ε = 1, with K of shape 5 and mean 1000.

    A density ratio is at most e^ε f'(1 − p)/f'(1 − p') for the generating function f of K, where p and p' are the
    probabilities of something better. For shape η the quotient is ((γ + (1 − γ) p')/(γ + (1 − γ) p))^(η + 1).
    """
    shape, mean = 5.0, 1000.0
    low, high = 1e-9, 1.0
    for _ in range(200):
        gamma = math.sqrt(low * high)
        is_larger = shape * (1.0 - gamma) / (gamma * (1.0 - gamma**shape)) > mean
        low, high = (gamma, high) if is_larger else (low, gamma)
    corner = 1.0 / (1.0 + math.e)
    return 1.0 + (shape + 1.0) * math.log((gamma + (1 - gamma) * math.e * corner) / (gamma + (1 - gamma) * corner))


def test_decide_selection_of_pure_runs():
    runs = epsilond.SelectBest(
        mechanism=epsilond.Laplace(scale_multiplier=1.0),
        repetitions=epsilond.NegativeBinomialRepetitions(mean=1000.0, shape=5.0),
    )
    upper = curve_of(runs).epsilon(delta=1e-10).upper
    assert upper <= decide_selection_of_pure_runs() < 7.0


def decide_selection_of_gaussian_runs():
    """Return D_a of the best of K runs, K geometric with mean 100, for outputs N(1, σ²) and N(0, σ²), by quadrature."""
    gamma, noise, order = 0.01, 7.0711, 100.0
    x = np.linspace(-12.0 * noise, 12.0 * noise + 1.0, 400_001)

    def log_density(shift):
        slope = math.log(gamma) - 2.0 * np.log(gamma + (1.0 - gamma) * norm.sf(x, shift, noise))
        return norm.logpdf(x, shift, noise) + slope

    terms = order * log_density(1.0) + (1.0 - order) * log_density(0.0)
    return float(np.log(np.trapezoid(np.exp(terms - terms.max()), x)) + terms.max()) / (order - 1.0)


def test_decide_selection_of_gaussian_runs():
    ours = selected_divergence(100.0, {"noise_multiplier": 7.0711, "mean": 100.0, "shape": 1.0})
    assert decide_selection_of_gaussian_runs() <= ours < 1.8849


def _log_of_none(mean):
    """Return log(1 − e^-mean)."""
    return math.log(-math.expm1(-mean))


def decide_poisson_selection():
    """Return for (ε, mean) of the peer's test a pure bound, the divergence of one selection, and the peer's figure.

    The bound is ε + m tanh(ε/2): the quotient of f' at 1 − p and 1 − p' is e^(m (p' − p)), and p' − p is at most
    tanh(ε/2). The selection is the better one of two responses, or none.
    """
    figures = []
    for epsilon, mean in ((1.0, 1.0), (0.1, 2.0), (10.0, 10.0), (0.001, 100.0), (2.0, 1000.0)):
        order = 1.0 + 1.0 / math.expm1(epsilon)
        inner = math.expm1((1.0 - 2.0 * order) * epsilon) * (order - 1.0) / (2.0 * order - 1.0)
        theirs = epsilon + math.log1p(inner) / (order - 1.0) + math.log(mean) * math.expm1(epsilon)
        own, other = (1.0 / (1.0 + math.exp(sign * epsilon)) for sign in (-1.0, 1.0))
        logs = [np.array([_log_of_none(mean * p), _log_of_none(mean * (1.0 - p)) - mean * p]) for p in (own, other)]
        terms = [order * p + (1.0 - order) * q for p, q in (logs, logs[::-1])]
        divergence = max(np.logaddexp.reduce([*each, -mean]) for each in terms) / (order - 1.0)
        figures.append((epsilon, mean, order, epsilon + mean * math.tanh(epsilon / 2.0), divergence, theirs))
    return figures


def test_decide_poisson_selection():
    for epsilon, mean, order, pure, divergence, theirs in decide_poisson_selection():
        runs = epsilond.SelectBest(
            mechanism=epsilond.Laplace(scale_multiplier=1.0 / epsilon),
            repetitions=epsilond.PoissonRepetitions(mean=mean),
        )
        (ours,) = renyi_divergences(curve_of(runs), [order])
        assert divergence <= min(ours, theirs)
        assert ours <= pure
        assert (pure < theirs) == (epsilon == 10.0)


def decide_largest_mean():
    """Return the mean number of runs of the peer's test, which is above the largest that a spec admits."""
    return 1e10


def test_decide_largest_mean():
    with pytest.raises(ValueError, match="out of range"):
        epsilond.account(
            epsilond.SelectBest(
                mechanism=epsilond.Laplace(scale_multiplier=1.0),
                repetitions=epsilond.PoissonRepetitions(mean=decide_largest_mean()),
            ),
            relation="add-or-remove-one",
            unit="record",
            observer="released-models",
        )


def decide_laplace_composition():
    """Return δ at our ε of 100 Laplace releases, by the definition."""
    pair = Mixture(laplace, (1.0,), (1.0,), 1.0), Mixture(laplace, (0.0,), (1.0,), 1.0)
    return larger_delta([(*pair, 100)], 81.574663, reach=110.0, step=1e-3)


def test_decide_laplace_composition():
    curve = curve_of(epsilond.Repeated(times=100, mechanism=epsilond.Laplace(scale_multiplier=1.0)))
    assert encloses(curve.delta(epsilon=81.574663), decide_laplace_composition(), 1e-4)


def sampled_divergence(rate, noise, order):
    """Return D_a of a Poisson batch, with 30 digits."""
    with mp.workdps(30):
        q, z, a = mpf(rate), mpf(noise), mpf(order)

        def integrand(x):
            ratio = 1 - q + q * mp.exp((2 * x - 1) / (2 * z * z))
            return mp.npdf(x, 0, z) * ratio**a

        return float(mp.log(quad(integrand, [-12 * z, -z, 0, 1, z, 4 * z, 14 * z])) / (a - 1))


def decide_small_order():
    """Return D_1.1 of the batch for which the peer expects ∞."""
    return sampled_divergence("0.1", 1, "1.1")


def test_decide_small_order():
    (ours,) = renyi_divergences(gaussian_batches(1.0, 0.1, 1), [1.1])
    assert decide_small_order() == pytest.approx(ours, rel=1e-6) == pytest.approx(8.09856847e-3, rel=1e-6)


def decide_fractional_order():
    """Return 50 D_1.5 of the batch of the peer's test."""
    return 50.0 * sampled_divergence("0.01", "2.5", "1.5")


def test_decide_fractional_order():
    (ours,) = renyi_divergences(gaussian_batches(2.5, 0.01, 50), [1.5])
    assert decide_fractional_order() == pytest.approx(ours, rel=1e-6)
    assert decide_fractional_order() < 6.70579741e-4 * (1.0 - 0.03)


def decide_response_at_delta():
    """Return ε at δ = 1e-5 of a response with ε = 1: δ(t) = (e − e^t)/(1 + e)."""
    return math.log(math.e - 1e-5 * (1.0 + math.e))


def test_decide_response_at_delta():
    curve = curve_of(epsilond.Approximate(epsilon=1.0, delta=0.0))
    assert curve.epsilon(delta=1e-5).upper == pytest.approx(decide_response_at_delta(), rel=1e-9)


def decide_zeroed_divergence():
    """Return the divergence of order ∞ of 10 categories, against an arbitrary response and against a uniform one."""
    flip, categories = 0.3, 10
    own, other = 1.0 - flip + flip / categories, flip / categories
    return math.log(own / other), math.log(own * categories)


def test_decide_zeroed_divergence():
    epsilon, uniform = decide_zeroed_divergence()
    curve = curve_of(epsilond.RandomizedResponse(epsilon=epsilon, categories=10), "zero-out-one")
    assert curve.natural.epsilon(-math.inf).upper == pytest.approx(epsilon, rel=1e-9)
    assert uniform == pytest.approx(math.log(categories_of_the_peer(0.3, 10)))


def categories_of_the_peer(flip, categories):
    """Return k (1 − p) + p, the exponential of the peer's divergence."""
    return categories * (1.0 - flip) + flip


def decide_bounded_range(order):
    """Return the largest divergence of two outputs with losses of t and t − 1, which bounded range allows."""

    def divergence(shift):
        p = (1.0 - math.exp(shift - 1.0)) / (math.exp(shift) - math.exp(shift - 1.0))  # of the loss t under Q
        masses = np.array([p * math.exp(shift), (1.0 - p) * math.exp(shift - 1.0)])
        ratios = np.array([shift, shift - 1.0])
        if order == 1.0:
            return float(masses @ ratios)
        terms = np.log(masses) + (order - 1.0) * ratios
        return float(np.logaddexp(*terms)) / (order - 1.0)

    found = minimize_scalar(lambda t: -divergence(t), bounds=(1e-9, 1.0 - 1e-9), method="bounded")
    return -float(found.fun)


def test_decide_bounded_range():
    assert decide_bounded_range(1.0) == pytest.approx(0.123301561, abs=1e-7)
    first, last = renyi_divergences(curve_of(epsilond.Exponential(epsilon=1.0)), [1.0, 1000.0])
    assert decide_bounded_range(1.0) < first
    assert decide_bounded_range(1000.0) <= last < 1.0
