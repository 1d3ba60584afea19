"""Figures of Opacus, JAX Privacy and a study that uses Opacus."""

from __future__ import annotations

from typing import Final

from scripts.pages.published.figure import Claim, FigureGroup, PublishedFigure, RepositoryFile, count, poisson

OPACUS, OPACUS_COMMIT = "pytorch/opacus", "4d0ebc84613d214fbfd37fbfd1390e3747a625ce"
README = RepositoryFile(repository=OPACUS, commit=OPACUS_COMMIT, path="examples/mnist_README.md")
PARALLEL = RepositoryFile(repository=OPACUS, commit=OPACUS_COMMIT, path="tutorials/ddp_tutorial.ipynb")
IMAGES = RepositoryFile(repository=OPACUS, commit=OPACUS_COMMIT, path="tutorials/building_image_classifier.ipynb")
TESTS = RepositoryFile(repository=OPACUS, commit=OPACUS_COMMIT, path="opacus/tests/accountants_test.py")
JAX: Final = "google-deepmind/jax_privacy"
JAX_ACCOUNTING = RepositoryFile(
    repository=JAX, commit="8967688c26d46f3b74bfdfe61ef1f984b887abab", path="jax_privacy/accounting.py"
)
CONFIGS: Final = "jax_privacy/experiments/image_classification/configs"
CIFAR_10 = RepositoryFile(
    repository=JAX,
    commit="8c284ce1c0f9b111524e60557c741106990cad65",
    path=f"{CONFIGS}/cifar10_wrn_16_4_eps1.py",
)
CIFAR_100 = RepositoryFile(
    repository=JAX,
    commit="0e9d93966452a9ca022b9af9080341b84035bfd4",
    path=f"{CONFIGS}/cifar100_wrn_28_10_eps1_finetune.py",
)
IMAGENET = RepositoryFile(
    repository=JAX,
    commit="0e9d93966452a9ca022b9af9080341b84035bfd4",
    path=f"{CONFIGS}/imagenet_nf_resnet_50_eps8.py",
)
TAN = RepositoryFile(
    repository="facebookresearch/tan", commit="9d8be82b62bdffaabb4a01f0f2938b6e026018bc", path="README.md"
)
RDP, PRV, GDP = "Rényi divergence", "privacy random variable", "central limit theorem"
PLD: Final = "privacy loss distribution"
UNSTATED: Final = "not stated"
APPROXIMATION: Final = "the central limit theorem approximates ε; it bounds it neither from above nor from below"


def _mnist(place: str, published: str, noise_multiplier: float, steps: int) -> PublishedFigure:
    """Return a published figure of Opacus' MNIST example; its loader has 250 batches in an epoch.

    Args:
        place: place in the README.
        published: the figure, as it is printed.
        noise_multiplier: noise multiplier.
        steps: number of steps.

    Returns:
        The figure with its run, at δ = 10⁻⁵.
    """
    return PublishedFigure(
        source=README,
        place=place,
        run=f"MNIST, σ = {noise_multiplier:g}, batches of 240 of 60,000, {count(steps // 250, 'epoch')}",
        published=published,
        claim="result",
        delta=1e-5,
        spec=poisson(noise_multiplier, 1 / 250, steps),
        accountant=RDP,
        assumptions="250 steps of rate 1/250 in an epoch, as the loader has; the printed progress shows 240",
    )


def _test(
    place: str, published: str, claim: Claim, accountant: str, noise_multiplier: float, steps: int
) -> PublishedFigure:
    """Return a figure of the accountants' tests, at the rate 0.04 and δ = 10⁻⁵.

    Args:
        place: name of the test.
        published: the figure, as it is printed.
        claim: whether it is a result of an accountant, or a guarantee.
        accountant: accountant of the figure.
        noise_multiplier: noise multiplier.
        steps: number of steps.

    Returns:
        The figure with its run.
    """
    return PublishedFigure(
        source=TESTS,
        place=place,
        run=f"σ = {noise_multiplier:g}, q = 0.04, {steps:,} steps",
        published=published,
        claim=claim,
        delta=1e-5,
        spec=poisson(noise_multiplier, 0.04, steps),
        accountant=accountant,
        explanation=APPROXIMATION if accountant == GDP else "",
    )


def _parallel(epoch: int, published: str) -> PublishedFigure:
    """Return a published figure of the tutorial on training in several processes.

    Args:
        epoch: number of epochs.
        published: the figure, as it is printed.

    Returns:
        The figure with its run, at δ = 10⁻⁵.
    """
    return PublishedFigure(
        source=PARALLEL,
        place=f"output, epoch {epoch - 1}",
        run=f"MNIST, σ = 1, 300 batches of 200 of 60,000, {count(epoch, 'epoch')}",
        published=published,
        claim="result",
        delta=1e-5,
        spec=poisson(1.0, 1 / 300, 300 * epoch),
        accountant=UNSTATED,
        assumptions="rate 1/300",
    )


def _training(
    source: RepositoryFile,
    published: str,
    run: str,
    accountant: str,
    spec: tuple[float, float, int],
    delta: float,
    assumptions: str,
) -> PublishedFigure:
    """Return the published guarantee of a training run.

    Args:
        source: the file.
        published: the claimed ε, as it is printed.
        run: the run in words.
        accountant: accountant of the figure.
        spec: noise multiplier, rate and number of steps.
        delta: δ.
        assumptions: values that the source leaves open.

    Returns:
        The figure with its run, DP-SGD with Poisson sampling.
    """
    return PublishedFigure(
        source=source,
        place="title and settings",
        run=run,
        published=published,
        claim="guarantee",
        delta=delta,
        spec=poisson(*spec),
        accountant=accountant,
        assumptions=assumptions,
    )


FIGURES = FigureGroup(
    title="Opacus, JAX Privacy, and experiments with them",
    introduction="Examples and tutorials, expected values of the tests, and settings of large experiments.",
    figures=(
        _mnist("output, epoch 1", "0.71", 1.3, 250),
        _mnist("output, epoch 15", "1.16", 1.3, 3_750),
        _mnist("Sample parameter sets, 60 epochs", "2.91", 1.1, 15_000),
        _mnist("Sample parameter sets, 45 epochs", "6.86", 0.7, 11_250),
        _parallel(1, "0.87"),
        _parallel(10, "1.21"),
        PublishedFigure(
            source=IMAGES,
            place="EPSILON, and the output that has σ",
            run="CIFAR-10, σ = 0.39066894531249996, 98 batches of 512 of 50,000, 20 epochs",
            published="50",
            claim="guarantee",
            delta=1e-5,
            spec=poisson(0.39066894531249996, 1 / 98, 1_960),
            accountant=UNSTATED,
            assumptions="rate 1/98",
        ),
        _test("test_rdp_accountant", "7.32911117143", "result", RDP, 1.5, 2_250),
        _test("test_gdp_accountant: less than 6.6", "6.6", "guarantee", GDP, 1.5, 2_249),
        _test("test_prv_accountant", "6.777395712150674", "result", PRV, 1.5, 2_249),
        _test("test_get_noise_multiplier_rdp_epochs", "8", "guarantee", RDP, 1.416, 2_250),
        _test("test_get_noise_multiplier_rdp_steps", "8", "guarantee", RDP, 1.3562, 2_000),
        _test("test_get_noise_multiplier_prv_epochs", "8", "guarantee", PRV, 1.34765625, 2_250),
        _test("test_get_noise_multiplier_prv_steps", "8", "guarantee", PRV, 1.2915, 2_000),
        _test("test_get_noise_multiplier_gdp", "8", "guarantee", GDP, 1.3232421875, 2_250),
        PublishedFigure(
            source=JAX_ACCOUNTING,
            place="docstring, first example",
            run="σ = 3, q = 0.1, 512 steps",
            published="3.77",
            claim="result",
            delta=1e-6,
            spec=poisson(3.0, 0.1, 512),
            accountant=PLD,
        ),
        PublishedFigure(
            source=JAX_ACCOUNTING,
            place="docstring, third example: 155 steps for ε = 2",
            run="σ = 3, q = 0.1, 155 steps",
            published="2.0",
            claim="guarantee",
            delta=1e-6,
            spec=poisson(3.0, 0.1, 155),
            accountant=PLD,
        ),
        _training(
            CIFAR_10,
            "1.0",
            "CIFAR-10, σ = 10, batches of 4,096 of 50,000, 875 steps",
            UNSTATED,
            (10.0, 4096 / 50_000, 875),
            1e-5,
            "Poisson sampling",
        ),
        _training(
            CIFAR_100,
            "1.0",
            "CIFAR-100, σ = 21.1, batches of 16,384 of 50,000, 250 steps",
            UNSTATED,
            (21.1, 16384 / 50_000, 250),
            1e-5,
            "Poisson sampling; training may stop earlier",
        ),
        _training(
            IMAGENET,
            "8.0",
            "ImageNet, σ = 2.5, batches of 16,384 of 1,271,167, 71,589 steps",
            UNSTATED,
            (2.5, 16384 / 1_271_167, 71_589),
            8e-7,
            "Poisson sampling; training may stop earlier",
        ),
        _training(
            TAN,
            "8",
            "CIFAR-10, σ = 3, batches of 4,096 of 50,000, 2,500 steps",
            UNSTATED,
            (3.0, 4096 / 50_000, 2_500),
            1e-5,
            "Poisson sampling; δ is the default of the script",
        ),
        _training(
            TAN,
            "8",
            "ImageNet, σ = 2.5, batches of 32,768 of 1,281,167, 18,000 steps",
            UNSTATED,
            (2.5, 32768 / 1_281_167, 18_000),
            8e-7,
            "Poisson sampling; δ is the default of the script",
        ),
    ),
)
