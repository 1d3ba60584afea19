"""Figures of papers and programs on privacy accounting, and of synthetic data by noisy histograms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from epsilond.accountants.specs import Approximate, Laplace, Repeated, Shuffled, Spec, Subsampled
from scripts.pages.published.figure import (
    Claim,
    FigureGroup,
    PublishedFigure,
    RepositoryFile,
    WebPage,
    compose,
    gaussian,
    poisson,
)

GDP_README = RepositoryFile(
    repository="woodyx218/Deep-Learning-with-GDP-Pytorch",
    commit="2ce8400801a54142aba62f99dec0b2f1eb8fafd8",
    path="README.md",
)
GDP_PAPER = WebPage(
    name="Bu, Dong, Long and Su (2020), Deep Learning with Gaussian Differential Privacy",
    url="https://pmc.ncbi.nlm.nih.gov/articles/PMC7695347/figure/F4",
)
FOURIER = RepositoryFile(
    repository="DPBayes/PLD-Accountant", commit="2d9702b22989c2b8c18f90af39bcc825548a834a", path="README.md"
)
AUTODP, AUTODP_COMMIT = "yuxiangw/autodp", "06489ea485653909397937cf5e3c31d06a677ffe"
LEARNING = RepositoryFile(
    repository=AUTODP, commit=AUTODP_COMMIT, path="tutorials/tutorial_private_deep_learning.ipynb"
)
COMPOSITION = RepositoryFile(repository=AUTODP, commit=AUTODP_COMMIT, path="tutorials/tutorial_new_api.ipynb")
CALIBRATION = RepositoryFile(repository=AUTODP, commit=AUTODP_COMMIT, path="tutorials/tutorial_calibrator.ipynb")
LEGACY = RepositoryFile(
    repository=AUTODP, commit=AUTODP_COMMIT, path="tutorials/legacy/tutorial_privacy_calibrator.ipynb"
)
CLONES = RepositoryFile(
    repository="apple/ml-shuffling-amplification",
    commit="993d285a546114bf8c70c33d053dca322a755707",
    path="README.md",
)
AUGMENTED = RepositoryFile(
    repository="AI-secure/aug-pe", commit="a3f292f6fec7427b6a6e6d982b83b68c1f0a86d5", path="README.md"
)
RDP, MOMENTS, GDP = "Rényi divergence", "moments accountant", "central limit theorem"
EXACT: Final = "exact Gaussian mechanism"
APPROXIMATION: Final = "the central limit theorem approximates ε; it bounds it neither from above nor from below"
HISTOGRAMS: Final[Mapping[tuple[str, int], Sequence[float]]] = {
    ("Yelp", 1_939_290): (15.34, 8.03, 4.24),
    ("OpenReview", 8_396): (11.60, 6.22, 3.38),
    ("PubMed", 75_316): (13.26, 7.01, 3.75),
}
"""Noise multipliers for ε = 1, 2 and 4, by data set and number of records."""


def _mnist(
    source: RepositoryFile | WebPage, place: str, published: str, noise_multiplier: float, epochs: int, accountant: str
) -> PublishedFigure:
    """Return a published figure of DP-SGD on MNIST in batches of 256, at δ = 10⁻⁵.

    Args:
        source: README or paper.
        place: place in the source.
        published: the figure, as it is printed.
        noise_multiplier: noise multiplier.
        epochs: number of epochs.
        accountant: accountant of the figure.

    Returns:
        The figure with its run; the number of steps is rounded up.
    """
    return PublishedFigure(
        source=source,
        place=place,
        run=f"MNIST, σ = {noise_multiplier:g}, batches of 256 of 60,000, {epochs} epochs",
        published=published,
        claim="result",
        delta=1e-5,
        spec=poisson(noise_multiplier, 256 / 60_000, math.ceil(epochs * 60_000 / 256)),
        accountant=accountant,
        assumptions="Poisson sampling, and the number of steps rounded up",
        explanation=APPROXIMATION if accountant == GDP else "",
    )


def _autodp(
    source: RepositoryFile,
    place: str,
    published: str,
    run: str,
    spec: Spec,
    accountant: str,
    delta: float = 1e-6,
    claim: Claim = "result",
    explanation: str = "",
) -> PublishedFigure:
    """Return a published figure of autodp's tutorials.

    Args:
        source: the notebook.
        place: place in the notebook.
        published: the figure, as it is printed.
        run: the run in words.
        spec: specification of the run.
        accountant: accountant of the figure.
        delta: δ.
        claim: whether it is a result of an accountant, or a guarantee.
        explanation: why the figure is below the truth.

    Returns:
        The figure with its run.
    """
    return PublishedFigure(
        source=source,
        place=place,
        run=run,
        published=published,
        claim=claim,
        delta=delta,
        spec=spec,
        accountant=accountant,
        explanation=explanation,
    )


def _histograms(data: str, records: int, published: str, noise_multiplier: float) -> PublishedFigure:
    """Return a published figure of ten noisy histograms of nearest neighbours.

    Args:
        data: the data set.
        records: number n of records.
        published: ε, as it is printed.
        noise_multiplier: noise multiplier.

    Returns:
        The figure with its run, at δ = 1/(n ln n).
    """
    return PublishedFigure(
        source=AUGMENTED,
        place=f"Calculating the Noise Level, {data}",
        run=f"{data}, ten histograms of one vote of each record, σ = {noise_multiplier:.2f}",
        published=published,
        claim="guarantee",
        delta=1.0 / (records * math.log(records)),
        delta_words=f"1/(n ln n), n = {records:,}",
        spec=gaussian(noise_multiplier, 10),
        accountant=EXACT,
        assumptions="δ and n from notebook/dp_budget.ipynb",
        explanation="the notebook prints the same ε as we: 1.004455, 2.002377 and 4.005258" if data == "Yelp" else "",
    )


def _clones(published: str, accountant: str) -> PublishedFigure:
    """Return a published figure of 100,000 shuffled reports with ε₀ = 4, at δ = 10⁻⁶.

    Args:
        published: the figure, as it is printed.
        accountant: analysis of the figure.

    Returns:
        The figure with its run, which covers every local randomizer.
    """
    return PublishedFigure(
        source=CLONES,
        place="Getting Started: output of example.py",
        run="100,000 shuffled reports of any local randomizer with ε₀ = 4",
        published=published,
        claim="guarantee",
        delta=1e-6,
        spec=Shuffled(clients=100_000, mechanism=Approximate(epsilon=4.0, delta=0.0)),
        accountant=accountant,
        assumptions="our upper bound holds for every local randomizer; so we have no lower bound",
        relation="replace-one",
        unit="client",
        observer="shuffled-server",
    )


FIGURES = FigureGroup(
    title="Privacy accounting, and synthetic data",
    introduction="Figures of papers and programs on accounting. The last ones are of synthetic text.",
    figures=(
        _mnist(GDP_README, "By Moments Accountant", "1.1912", 1.3, 15, MOMENTS),
        _mnist(GDP_README, "remark on the new Moments Accountant", "0.9545", 1.3, 15, RDP),
        _mnist(GDP_README, "By GDP CLT (Poisson subsampling)", "0.8345", 1.3, 15, GDP),
        PublishedFigure(
            source=GDP_README,
            place="By GDP CLT (Uniform subsampling)",
            run="MNIST, σ = 1.3, batches of 256 of 60,000, 15 epochs",
            published="1.0685",
            claim="result",
            delta=1e-5,
            spec=None,
            accountant=GDP,
            assumptions="the source does not say whether a batch is drawn afresh or is a part of a shuffled epoch",
        ),
        _mnist(GDP_PAPER, "Figure 4, top plots", "1.34", 1.3, 20, MOMENTS),
        _mnist(GDP_PAPER, "Figure 4, top plots", "1.34", 1.06, 20, GDP),
        _mnist(GDP_PAPER, "Figure 4, bottom plots", "8.68", 0.7, 70, MOMENTS),
        _mnist(GDP_PAPER, "Figure 4, bottom plots", "8.68", 0.638, 70, GDP),
        PublishedFigure(
            source=FOURIER,
            place="Usage Example, eps_upper",
            run="σ = 4, q = 0.01, 10,000 steps",
            published="1.1339061240664539",
            claim="guarantee",
            delta=1e-5,
            spec=poisson(4.0, 0.01, 10_000),
            accountant="Fourier accountant, upper bound",
        ),
        _autodp(
            LEARNING,
            "Noisy Full Gradient Descent",
            "2.0677358464697515",
            "three Gaussian mechanisms, σ = 5, 3 and 4",
            compose(gaussian(5.0), gaussian(3.0), gaussian(4.0)),
            EXACT,
        ),
        _autodp(
            LEARNING,
            "Noisy Stochastic Gradient Descent",
            "0.27105623043762284",
            "σ = 5, q = 0.01, 1,000 steps",
            poisson(5.0, 0.01, 1_000),
            RDP,
        ),
        _autodp(
            LEARNING,
            "Private Aggregation of Teacher Ensembles",
            "10.99715121422065",
            "100 Gaussian mechanisms, σ = 5",
            gaussian(5.0, 100),
            EXACT,
        ),
        _autodp(
            LEARNING,
            "PATE with Laplace Mechanism",
            "10.850346958780321",
            "100 Laplace mechanisms of scale 5",
            Repeated(times=100, mechanism=Laplace(scale_multiplier=5.0)),
            RDP,
        ),
        _autodp(
            LEARNING,
            "NoisySGD and PrivateKNN with Poisson Sampled Laplace Mechanism",
            "0.2569326333160541",
            "Laplace noise of scale 5, q = 0.01, 1,000 steps",
            Repeated(
                times=1_000,
                mechanism=Subsampled(sampling="poisson", rate=0.01, mechanism=Laplace(scale_multiplier=5.0)),
            ),
            RDP,
        ),
        _autodp(
            COMPOSITION,
            "Example 2, generic composition",
            "2.1309868424169824",
            "three Gaussian mechanisms with σ = 5 and five with σ = 8",
            compose(gaussian(5.0, 3), gaussian(8.0, 5)),
            RDP,
        ),
        _autodp(
            COMPOSITION,
            "Example 2, Gaussian composition",
            "1.984273919801572",
            "three Gaussian mechanisms with σ = 5 and five with σ = 8",
            compose(gaussian(5.0, 3), gaussian(8.0, 5)),
            EXACT,
        ),
        _autodp(
            COMPOSITION,
            "Example 3, naive_RDP_conversion",
            "5.298525912188081",
            "one Gaussian mechanism, σ = 1",
            gaussian(1.0),
            f"{RDP}, first conversion",
            1e-5,
        ),
        _autodp(
            COMPOSITION,
            "Example 3, BBGHS_RDP_conversion",
            "4.728386984943314",
            "one Gaussian mechanism, σ = 1",
            gaussian(1.0),
            f"{RDP}, newer conversion",
            1e-5,
        ),
        _autodp(
            CALIBRATION,
            "Example 1, GM",
            "0.1",
            "one Gaussian mechanism, σ = 36.30468875626822",
            gaussian(36.30468875626822),
            f"{EXACT}, numerical calibration",
            claim="guarantee",
            explanation="the search ends within a tolerance on either side; the notebook prints 0.10000000492561108",
        ),
        _autodp(
            LEGACY,
            "Classic calibration",
            "0.1",
            "one Gaussian mechanism, σ = 61.063613216491824",
            gaussian(61.063613216491824),
            "classical Gaussian mechanism",
            1e-8,
            "guarantee",
        ),
        _autodp(
            LEGACY,
            "RDP-based calibration",
            "2",
            "one Gaussian mechanism, σ = 3.0348542587703093",
            gaussian(3.0348542587703093),
            RDP,
            1e-8,
            "guarantee",
        ),
        _autodp(
            LEGACY,
            "multiple rounds of subsampled mechanisms",
            "1.0",
            "σ = 1.2912729645090977, q = 0.001, 10,000 steps",
            poisson(1.2912729645090977, 0.001, 10_000),
            RDP,
            claim="guarantee",
        ),
        _clones("0.172790550755978", "clones, numerical"),
        _clones("0.5378040242374512", "clones, closed form"),
        *(
            _histograms(data, records, published, noise_multiplier)
            for (data, records), noises in HISTOGRAMS.items()
            for published, noise_multiplier in zip(("1", "2", "4"), noises, strict=True)
        ),
    ),
)
