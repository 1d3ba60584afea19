"""Figures of evaluations of private learning: constants and commands with which their models were trained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scripts.pages.published.figure import FigureGroup, PublishedFigure, RepositoryFile, poisson

CONSTANTS = RepositoryFile(
    repository="bargavj/EvaluatingDPML",
    commit="8a3c84f609366e6bf31d8cecbeefffeb0bf551da",
    path="core/constants.py",
)
HANDCRAFTED = RepositoryFile(
    repository="ftramer/Handcrafted-DP", commit="6568e8f74d93b5e39c5e7a612962ddf34acaa22c", path="README.md"
)
ACCOUNTANTS: Final = {"gdp": "central limit theorem", "rdp": "Rényi divergence"}
NOISES: Final[Mapping[tuple[str, int], Mapping[str, float]]] = {
    ("gdp", 30): {"1": 3.0, "5": 0.94, "10": 0.701, "50": 0.481, "100": 0.438},
    ("gdp", 100): {"1": 5.4, "5": 1.43, "10": 0.955, "50": 0.564, "100": 0.498},
    ("rdp", 30): {"1": 3.9, "5": 1.1, "10": 0.79, "50": 0.445, "100": 0.356},
    ("rdp", 100): {"1": 7.0, "5": 1.669, "10": 1.056, "50": 0.551, "100": 0.445},
}
"""Noise multipliers of the file by ε from 1 to 100, for each accountant and number of epochs."""
ASSUMPTIONS: Final = "Poisson sampling; whole batches only, as get_noise_mul counts"
RECORDS, BATCH_SIZE = 10_000, 200
APPROXIMATION: Final = "the central limit theorem approximates ε; it bounds it neither from above nor from below"


def _constant(method: str, epochs: int, published: str) -> PublishedFigure:
    """Return the published figure of a noise multiplier that a repository has as a constant.

    Args:
        method: accountant, "gdp" or "rdp".
        epochs: number of epochs.
        published: ε for which the constant is meant.

    Returns:
        The figure with its run, DP-SGD with Poisson sampling.
    """
    noise_multiplier = NOISES[method, epochs][published]
    return PublishedFigure(
        source=CONSTANTS,
        place=f"{method}_noise_multiplier[{RECORDS}][{epochs}][{published}]",
        run=f"σ = {noise_multiplier:g}, batches of {BATCH_SIZE} of {RECORDS:,}, {epochs} epochs",
        published=published,
        claim="guarantee",
        delta=1e-5,
        spec=poisson(noise_multiplier, BATCH_SIZE / RECORDS, epochs * RECORDS // BATCH_SIZE),
        accountant=ACCOUNTANTS[method],
        assumptions="Poisson sampling, as the accountant assumes",
        explanation=APPROXIMATION if method == "gdp" else "",
    )


def _network(run: str, noise_multiplier: float, batch_size: int, records: int, epochs: int) -> PublishedFigure:
    """Return the published figure of a network that is trained end to end, at ε = 3.

    Args:
        run: the data set.
        noise_multiplier: noise multiplier of the command.
        batch_size: batch size of the command.
        records: number of records.
        epochs: number of epochs.

    Returns:
        The figure with its run, DP-SGD with Poisson sampling.
    """
    return PublishedFigure(
        source=HANDCRAFTED,
        place="End-to-end CNNs",
        run=f"{run}, σ = {noise_multiplier:g}, batches of {batch_size:,} of {records:,}, {epochs} epochs",
        published="3",
        claim="guarantee",
        delta=1e-5,
        spec=poisson(noise_multiplier, batch_size / records, records // batch_size * epochs),
        accountant="Rényi divergence",
        assumptions=ASSUMPTIONS,
    )


FIGURES = FigureGroup(
    title="Evaluations of private learning",
    introduction="Noise multipliers with which models were trained for a stated ε.",
    figures=(
        *(_constant(method, epochs, published) for (method, epochs), noises in NOISES.items() for published in noises),
        _network("MNIST", 1.23, 512, 60_000, 40),
        _network("Fashion-MNIST", 2.15, 2048, 60_000, 40),
        _network("CIFAR-10", 1.54, 1024, 50_000, 30),
        PublishedFigure(
            source=HANDCRAFTED,
            place="Measuring the Data Complexity of Private Learning, end-to-end network",
            run="CIFAR-10 and tiny images, σ = 1.1, batches of 8,192 of 550,000, 120 epochs",
            published="3",
            claim="guarantee",
            delta=9.09e-7,
            spec=poisson(1.1, 8192 / 550_000, 550_000 // 8192 * 120),
            accountant="Rényi divergence",
            assumptions=ASSUMPTIONS,
            explanation="this is ε of the command with all its epochs; the table's own runs may have had other noise",
        ),
    ),
)
