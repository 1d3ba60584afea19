"""Figures of TensorFlow Privacy and TensorFlow Federated."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from scripts.pages.published.figure import FigureGroup, PublishedFigure, RepositoryFile, gaussian, poisson

REPOSITORY, COMMIT = "tensorflow/privacy", "03035d5d4a271ac795dab80f5bc1cef82fc3d462"
ANALYSIS: Final = "tensorflow_privacy/privacy/analysis"
README = RepositoryFile(repository=REPOSITORY, commit=COMMIT, path="tutorials/README.md")
NOTEBOOK = RepositoryFile(repository=REPOSITORY, commit=COMMIT, path="g3doc/tutorials/classification_privacy.ipynb")
BUDGET = RepositoryFile(repository=REPOSITORY, commit=COMMIT, path=f"{ANALYSIS}/compute_noise_from_budget.py")
DP_SGD = RepositoryFile(repository=REPOSITORY, commit=COMMIT, path=f"{ANALYSIS}/compute_dp_sgd_privacy_test.py")
TREE = RepositoryFile(repository=REPOSITORY, commit=COMMIT, path=f"{ANALYSIS}/tree_aggregation_accountant_test.py")
FEDERATED = RepositoryFile(
    repository="google-parfait/tensorflow-federated",
    commit="63f73da486b2a98e1de1538b4d22834eaaea19ab",
    path="docs/tutorials/federated_learning_with_differential_privacy.ipynb",
)
RDP, PLD = "Rényi divergence", "privacy loss distribution"
POISSON: Final = "Poisson sampling, as the accountant assumes; the tutorial shuffles"
TREE_LEVELS: Final = math.floor(math.log2(1600)) + 1
"""Nodes of a binary tree over 1,600 rounds above one leaf, with the leaf."""


def _mnist(place: str, published: str, noise_multiplier: float, batch_size: int, steps: int) -> PublishedFigure:
    """Return a published figure of TensorFlow Privacy's MNIST tutorial, at δ = 10⁻⁵.

    Args:
        place: place in the README.
        published: the figure, as it is printed.
        noise_multiplier: noise multiplier.
        batch_size: records of a step, of 60,000.
        steps: number of steps.

    Returns:
        The figure with its run, DP-SGD with Poisson sampling.
    """
    return PublishedFigure(
        source=README,
        place=place,
        run=f"MNIST, σ = {noise_multiplier:g}, batches of {batch_size} of 60,000, {steps:,} steps",
        published=published,
        claim="result",
        delta=1e-5,
        spec=poisson(noise_multiplier, batch_size / 60_000, steps),
        accountant=RDP,
        assumptions=POISSON,
    )


def _test(place: str, published: str, accountant: str, run: str, **details: object) -> PublishedFigure:
    """Return an expected value of the tests of `compute_dp_sgd_privacy`.

    Args:
        place: name of the test.
        published: the figure, as it is printed.
        accountant: accountant of the figure.
        run: the run in words.
        **details: further fields of the figure: δ, spec and assumptions.

    Returns:
        The figure with its run.
    """
    return PublishedFigure(
        source=DP_SGD,
        place=place,
        run=run,
        published=published,
        claim="result",
        accountant=accountant,
        **details,  # type: ignore[arg-type]
    )


def _example(place: str, published: str, accountant: str, *, noise: float, rate: float | None) -> PublishedFigure:
    """Return a figure of the tests on 1.2 epochs at the noise multiplier 0.7, with δ = 10⁻⁵.

    Args:
        place: name of the parameters of the test.
        published: the figure, as it is printed.
        accountant: accountant of the figure.
        noise: noise over the sensitivity; microbatches double the sensitivity.
        rate: rate of Poisson sampling; None if each record occurs once in an epoch.

    Returns:
        The figure with its run.
    """
    epochs = 2 if rate is None else math.ceil(1.2 / rate)
    words = f"each record in {epochs} steps" if rate is None else f"q = {rate:g}, {epochs} steps"
    return _test(
        f"test_compute_dp_sgd_example_privacy, {place}",
        published,
        accountant,
        f"σ = {noise:g} over the sensitivity, {words}",
        delta=1e-5,
        spec=gaussian(noise, epochs) if rate is None else poisson(noise, rate, epochs),
    )


def _statement(published: str, accountant: str, *, once: bool) -> PublishedFigure:
    """Return a figure of the printed statement on 5 epochs over 10,000 records in batches of 64, at δ = 10⁻⁶.

    Args:
        published: the figure, as it is printed.
        accountant: accountant of the figure.
        once: True for records that occur once in an epoch, False for Poisson sampling.

    Returns:
        The figure with its run, at half of the noise multiplier 2, because microbatches double the sensitivity.
    """
    steps = math.ceil(5.0 / (64 / 10_000))
    words = "each record in 5 steps" if once else f"q = 0.0064, {steps} steps"
    return _test(
        f"test_dp_sgd_privacy_statement, {'each example once per epoch' if once else 'assuming Poisson sampling'}",
        published,
        accountant,
        f"σ = 2 with microbatches, which double the sensitivity; {words}",
        delta=1e-6,
        spec=gaussian(1.0, 5) if once else poisson(1.0, 64 / 10_000, steps),
    )


def _tree(published: str, noise_multiplier: float) -> PublishedFigure:
    """Return a published figure of DP-FTRL with a binary tree, at δ = 10⁻⁶.

    Args:
        published: the figure, as it is printed.
        noise_multiplier: noise multiplier of a node of the tree.

    Returns:
        The figure with its run, a Gaussian release. A client is in `TREE_LEVELS` nodes, which divides the noise by
        their root.
    """
    return PublishedFigure(
        source=TREE,
        place="test_compute_eps_tree: the computed ε is less",
        run=f"StackOverflow, tree over 1,600 rounds, one participation, σ = {noise_multiplier:g}",
        published=published,
        claim="guarantee",
        delta=1e-6,
        spec=gaussian(noise_multiplier / math.sqrt(TREE_LEVELS)),
        accountant=f"{RDP}, as in the paper on DP-FTRL",
        assumptions=f"a client is in {TREE_LEVELS} nodes, so that σ is divided by √{TREE_LEVELS}",
        relation="zero-out-one",
        unit="client",
    )


FIGURES = FigureGroup(
    title="TensorFlow Privacy and TensorFlow Federated",
    introduction="Tutorials, and expected values of the tests of the accountants.",
    figures=(
        _mnist("Expected Output, epoch 1", "1.03", 1.1, 256, 234),
        _mnist("Expected Output, epoch 2", "1.11", 1.1, 256, 468),
        _mnist("Using Command-Line Interface", "3.01", 1.1, 256, 14_063),
        _mnist("Select Parameters, 15 epochs", "1.19", 1.3, 256, 3_516),
        _mnist("Select Parameters, 45 epochs", "7.10", 0.7, 256, 10_547),
        PublishedFigure(
            source=NOTEBOOK,
            place="last paragraph",
            run="MNIST, σ = 1.3, batches of 250 of 60,000, 3 epochs",
            published="1.18",
            claim="result",
            delta=1e-5,
            spec=poisson(1.3, 250 / 60_000, 720),
            accountant=RDP,
            assumptions=POISSON,
        ),
        PublishedFigure(
            source=BUDGET,
            place="docstring: noise multiplier 1.12 for ε = 2.92",
            run="σ = 1.12, batches of 256 of 60,000, 60 epochs",
            published="2.92",
            claim="guarantee",
            delta=1e-5,
            spec=poisson(1.12, 256 / 60_000, 14_063),
            accountant=RDP,
        ),
        _test(
            "test_compute_dp_sgd_privacy, Test0",
            "0.7242234026109595",
            RDP,
            "σ = 1.3, batches of 150 of 60,000, 15 epochs",
            delta=1e-5,
            spec=poisson(1.3, 150 / 60_000, 6_000),
        ),
        _test(
            "test_compute_dp_sgd_privacy, Test1",
            "1.4154988495444842",
            RDP,
            "σ = 1, batches of 100 of 100,000, 30 epochs",
            delta=1e-7,
            spec=poisson(1.0, 100 / 100_000, 30_000),
        ),
        _test(
            "test_compute_dp_sgd_privacy, Test2",
            "5907982.3113984",
            RDP,
            "σ = 0.1, batches of 1,024 of 100,000,000, 10 epochs",
            delta=1e-7,
            spec=poisson(0.1, 1024 / 100_000_000, 976_563),
        ),
        _example("no_microbatching_no_subsampling_rdp", "10.8602036", RDP, noise=0.7, rate=None),
        _example("no_microbatching_with_subsampling_rdp", "3.2392676", RDP, noise=0.7, rate=0.01),
        _example("no_microbatching_no_subsampling_pld", "10.1224946", PLD, noise=0.7, rate=None),
        _example("microbatching_no_subsampling_pld", "24.7160779", PLD, noise=0.35, rate=None),
        _example("no_microbatching_with_subsampling_pld", "2.4612381", PLD, noise=0.7, rate=0.01),
        replace(
            _example("microbatching_with_subsampling_pld", "18.6977407", PLD, noise=0.35, rate=0.01),
            explanation="the figure is between our bounds, which differ by less than a millionth of it",
        ),
        _statement("13.376", RDP, once=True),
        _statement("1.616", RDP, once=False),
        _statement("12.595", PLD, once=True),
        _statement("1.199", PLD, once=False),
        _tree("19.74", 1.13),
        _tree("2.04", 8.83),
        PublishedFigure(
            source=FEDERATED,
            place="output: to get (2, 1e-05)-DP, use 120 clients with noise multiplier 1.2",
            run="federated EMNIST, σ = 1.2, 120 of 3,383 clients, 100 rounds",
            published="2",
            claim="guarantee",
            delta=1e-5,
            spec=poisson(1.2, 120 / 3_383, 100),
            accountant=RDP,
            assumptions="the noise multiplier covers the adaptive clipping norm",
            unit="client",
        ),
    ),
)
