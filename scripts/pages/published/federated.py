"""Figures of federated learning: a table that tests reproduce, and deployed keyboard models."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from scripts.pages.published.figure import FigureGroup, PublishedFigure, RepositoryFile, count, gaussian, poisson

FL4HEALTH, COMMIT = "VectorInstitute/FL4Health", "ce141b95d251133e73b1d4faadc9c8bf44b14bb5"
CLIENTS = RepositoryFile(repository=FL4HEALTH, commit=COMMIT, path="tests/privacy/test_fl_accountants.py")
RECORDS = RepositoryFile(repository=FL4HEALTH, commit=COMMIT, path="tests/privacy/test_moments_accountant.py")
KEYBOARD = RepositoryFile(
    repository="google-research/federated",
    commit="a5af8c4433c9ee2d2b1565f1bcc68c89e2000a6b",
    path="mf_dpftrl_matrices/README.md",
)
RDP: Final = "Rényi divergence"
TABLE: Final[Mapping[tuple[int, int, float], Mapping[int, str]]] = {
    (10**5, 10**2, 1.0): {1: "0.697", 10**3: "0.774", 10**6: "6.830"},
    (10**6, 10**1, 1.0): {10**6: "0.532"},
    (10**6, 10**3, 1.0): {10**4: "1.095", 10**6: "7.505"},
    (10**6, 10**4, 1.0): {10**4: "7.810", 10**6: "160.853"},
    (10**6, 10**3, 3.0): {10**6: "1.705"},
    (10**9, 10**3, 1.0): {10**6: "0.712"},
}
"""Printed ε by number of rounds, for each number of clients, clients of a round, and noise multiplier."""
THESIS: Final = ((4.0, 640, 9e-6, "1.083"), (3.0, 288, 9e-7, "1.109"), (2.0, 54, 1e-11, "1.169"))
"""Noise multiplier, rounds of six steps, δ and printed ε."""


def _client_level(key: tuple[int, int, float], rounds: int) -> PublishedFigure:
    """Return a published figure of Table 1 of McMahan et al. (2018), for the data of a client.

    Args:
        key: number of clients, clients of a round, and noise multiplier.
        rounds: number of rounds.

    Returns:
        The figure with its run, at δ = N^−1.1 for N clients.
    """
    clients, participants, noise_multiplier = key
    return PublishedFigure(
        source=CLIENTS,
        place="test_user_level_accountant_poisson_sampling_reproduce_results, Table 1 of McMahan et al. (2018)",
        run=f"σ = {noise_multiplier:g}, {participants:,} of {clients:,} clients, {count(rounds, 'round')}",
        published=TABLE[key][rounds],
        claim="result",
        delta=clients**-1.1,
        delta_words=f"{clients:,}^−1.1",
        spec=poisson(noise_multiplier, participants / clients, rounds),
        accountant=RDP,
        unit="client",
    )


def _record_level(published: str, noise_multiplier: float, steps: int, rate: float, delta: float) -> PublishedFigure:
    """Return a published figure of DP-SGD that a test reproduces.

    Args:
        published: the figure, as it is printed.
        noise_multiplier: noise multiplier.
        steps: number of steps.
        rate: inclusion probability of a record.
        delta: δ.

    Returns:
        The figure with its run.
    """
    return PublishedFigure(
        source=RECORDS,
        place="test_instance_accountant_reproduce_results",
        run=f"σ = {noise_multiplier:g}, q = {rate:.3g}, {steps:,} steps",
        published=published,
        claim="result",
        delta=delta,
        spec=poisson(noise_multiplier, rate, steps),
        accountant=RDP,
    )


def _keyboard(place: str, published: str, rho: float) -> PublishedFigure:
    """Return the published figure of a deployed language model with Gaussian noise of the stated ρ.

    Args:
        place: the model.
        published: the figure, as it is printed.
        rho: ρ of zero-concentrated differential privacy, as the notebook in the same folder prints it.

    Returns:
        The figure with its run, at δ = 10⁻¹⁰.
    """
    return PublishedFigure(
        source=KEYBOARD,
        place=place,
        run=f"matrix factorization over 2,000 rounds, ρ = {rho:.4g}",
        published=published,
        claim="result",
        delta=1e-10,
        # Gaussian noise σ has ρ = 1/(2σ²), for sensitivity 1.
        spec=gaussian(1.0 / math.sqrt(2.0 * rho)),
        accountant="Gaussian mechanism of this ρ",
        assumptions="ρ to all digits from privacy_accounting.ipynb; the mechanism is a Gaussian of σ = 1/√(2ρ)",
        relation="zero-out-one",
        unit="client",
    )


CLIENT_LEVEL = tuple(_client_level(key, rounds) for key, figures in TABLE.items() for rounds in figures)
THESIS_LEVEL = tuple(
    _record_level(published, noise_multiplier, 6 * rounds, 1_000 / 60_000, delta)
    for noise_multiplier, rounds, delta, published in THESIS
)
FIGURES = FigureGroup(
    title="Federated learning, and deployed models",
    introduction="The tests compute the tables of two papers and a thesis with a newer conversion than these. The "
    "keyboard models are deployed.",
    figures=(
        *CLIENT_LEVEL,
        _record_level("1.035", 4.0, 10_000, 0.01, 1e-5),
        _record_level("2.213", 4.0, 40_000, 0.01, 1e-5),
        *THESIS_LEVEL,
        _keyboard("Spanish model in Spain", "3.42", 0.1506840301548885),
        _keyboard("Portuguese model in Brazil", "0.994", 0.014342572340349278),
        _keyboard("Spanish model in Latin America", "0.994", 0.014342572340349278),
    ),
)
