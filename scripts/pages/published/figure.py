"""A published figure, its source, and the spec of the run for which it was published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from epsilond.accountants.quantities import Relation, Unit
from epsilond.accountants.specs import Composed, Gaussian, Repeated, Spec, Subsampled

Claim = Literal["result", "guarantee"]
"""`result`: printed output of an accountant, rounded to its digits. `guarantee`: claim that ε is at most this."""


@dataclass(frozen=True, kw_only=True)
class RepositoryFile:
    """A file of a public repository at one commit.

    Attributes:
        repository: owner and name of the repository.
        commit: hash of the commit.
        path: path of the file.
    """

    repository: str
    commit: str
    path: str

    @property
    def name(self) -> str:
        """Repository and path."""
        return f"{self.repository}, {self.path}"

    @property
    def url(self) -> str:
        """Address of the file at its commit."""
        return f"https://github.com/{self.repository}/blob/{self.commit}/{self.path}"


@dataclass(frozen=True, kw_only=True)
class WebPage:
    """A page or paper with a stable address."""

    name: str
    url: str


@dataclass(frozen=True, kw_only=True)
class PublishedFigure:
    """A published ε with the run for which it was published.

    Attributes:
        source: the file or page.
        place: place in the source.
        run: the run in words, as far as the source states it.
        published: the figure as it is printed.
        claim: how the figure is meant.
        delta: δ of the figure, in [0, 1).
        delta_words: δ as a formula, where the source computes it.
        spec: spec of the run; None if the source does not decide it.
        accountant: accountant or theorem from which the figure is.
        assumptions: values that the source leaves open, with our choice; or the reason why there is no spec.
        explanation: why the figure is below the truth, or cannot be decided, where it is so.
        relation: neighbouring relation.
        unit: the protected unit.
        observer: "released-models", or "shuffled-server" for shuffled reports.
    """

    source: RepositoryFile | WebPage
    place: str
    run: str
    published: str
    claim: Claim
    delta: float
    spec: Spec | None
    accountant: str
    delta_words: str = ""
    assumptions: str = ""
    explanation: str = ""
    relation: Relation = "add-or-remove-one"
    unit: Unit = "record"
    observer: Literal["released-models", "shuffled-server"] = "released-models"

    @property
    def half_digit(self) -> float:
        """Half a unit in the last printed digit."""
        _, _, decimals = self.published.partition(".")
        return 0.5 * 10.0 ** -len(decimals)


@dataclass(frozen=True, kw_only=True)
class FigureGroup:
    """Figures of one kind of source."""

    title: str
    introduction: str
    figures: Sequence[PublishedFigure]


def gaussian(noise_multiplier: float, times: int = 1) -> Spec:
    """Return the spec of a Gaussian mechanism, or of several equal ones.

    Args:
        noise_multiplier: standard deviation of the noise divided by the clipping norm.
        times: number of runs.
    """
    mechanism = Gaussian(noise_multiplier=noise_multiplier)
    return mechanism if times == 1 else Repeated(times=times, mechanism=mechanism)


def poisson(noise_multiplier: float, rate: float, steps: int) -> Spec:
    """Return the specification of DP-SGD with Poisson sampling.

    Args:
        noise_multiplier: standard deviation of the noise divided by the clipping norm.
        rate: inclusion probability of a record in a step, in (0, 1].
        steps: number of steps.

    Returns:
        The composition of all steps; a single step is not repeated.
    """
    mechanism = Gaussian(noise_multiplier=noise_multiplier)
    step = Subsampled(sampling="poisson", rate=rate, mechanism=mechanism)
    return step if steps == 1 else Repeated(times=steps, mechanism=step)


def count(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 step" or "2,000 steps".

    Args:
        number: the number.
        noun: the noun in the singular.
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def compose(*mechanisms: Spec) -> Spec:
    """Return the spec of mechanisms that run one after another."""
    return Composed(mechanisms=mechanisms)
