"""The numbers of a run of the Gaussian mechanism, and the spec that they describe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from epsilond.accountants.specs import Gaussian, Repeated, Subsampled

if TYPE_CHECKING:
    from epsilond.accountants.specs import Spec
    from epsilond.calibrators.gaussian.problem import GaussianProblem


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """The noise multiplier, rounds and sampling of a run; the unknown one has a trial value or the solution.

    Attributes:
        noise_multiplier: standard deviation of the noise over the norm bound of one contribution.
        rounds: number of runs of the mechanism.
        rate: probability that a record is in a batch; None if the batch size is given.
        batch_size: number of records in a batch; None if the rate is given.
    """

    noise_multiplier: float
    rounds: int
    rate: float | None
    batch_size: int | None

    @classmethod
    def of(
        cls,
        problem: GaussianProblem,
        *,
        noise_multiplier: float | None = None,
        rounds: int | None = None,
        rate: float | None = None,
        batch_size: int | None = None,
    ) -> Numbers:
        """Return the numbers of a run: those of the request, with a value for the unknown one.

        Args:
            problem: the request, which gives all numbers except the unknown one.
            noise_multiplier: value that takes precedence over the request's; None for that of the request.
            rounds: likewise.
            rate: likewise.
            batch_size: likewise.

        Returns:
            The numbers. A number that is given in neither place is 0, or None for rate and batch size.
        """
        return cls(
            noise_multiplier=noise_multiplier or problem.noise_multiplier or 0.0,
            rounds=rounds or problem.rounds or 0,
            rate=rate or problem.rate,
            batch_size=batch_size or problem.batch_size,
        )


def spec_of(problem: GaussianProblem, numbers: Numbers) -> Spec:
    """Return the mechanism of the run: Gaussian noise on random batches, repeated in all rounds.

    Args:
        problem: the request, with the sampling of batches and the population.
        numbers: noise multiplier, rounds, and rate or batch size.

    Returns:
        The specification of the mechanism, from which its privacy is computed.
    """
    batch = Subsampled(
        sampling=problem.sampling,
        rate=numbers.rate,
        batch_size=numbers.batch_size,
        population=problem.population,
        largest_batch=problem.largest_batch,
        mechanism=Gaussian(noise_multiplier=numbers.noise_multiplier),
    )
    return Repeated(times=numbers.rounds, mechanism=batch)


def likely_share(problem: GaussianProblem) -> float:
    """Estimate the probability that a record is in a batch, at which a search starts.

    Args:
        problem: the request, with a batch size and a population, or with a rate.

    Returns:
        The probability, in (0, 1]; 1 for full batches. If Poisson batches are truncated, it is at most their largest
        size over the population.
    """
    if problem.batch_size is not None and problem.population is not None:
        return min(problem.batch_size / problem.population, 1.0)
    rate = problem.rate or 1.0
    if problem.largest_batch is not None and problem.population is not None:
        return min(rate, problem.largest_batch / problem.population)
    return rate
