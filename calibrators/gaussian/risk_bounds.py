"""Risk bounds of gaussian: the squared error of the mean that noisy sums of random batches give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Protocol

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import Dimension, request
from epsilond.accountants.quantities.ranges import in_squares
from epsilond.accountants.theorems.risk.mean_error import NOISY_MEAN, RECORDS, whole_batch
from epsilond.calibrators.answer import Baseline
from epsilond.calibrators.envelope import TheoremAtInputs
from epsilond.calibrators.gaussian.problem import GaussianProblem
from epsilond.calibrators.risk.baseline import Start
from epsilond.calibrators.risk.given_noise import GivenNoiseRiskPart, NoisyRun, explicit_upper, noise_quantity
from epsilond.calibrators.risk.part import Bounds

VECTOR_NORM = in_squares(
    "C",
    "bound on the ℓ2 norm of every vector, to which noise_multiplier refers. A sum changes by up "
    "to contribution_norm for the relations add-or-remove-one and zero-out-one, and by up to 2 × "
    "contribution_norm for replace-one",
)


@request
class GaussianRiskProblem(GaussianProblem):
    """Noisy sums of random batches of n vectors. Their average over all rounds estimates the mean of the vectors.

    The noise of a sum is `noise_std`, or noise_multiplier · contribution_norm. If the request has neither, it is the
    smallest certified one. `records` is n; `population` replaces it.
    """

    dimension: Dimension
    contribution_norm: Annotated[float, VECTOR_NORM] = 1.0
    records: Annotated[int | None, RECORDS] = None
    noise_std: Annotated[
        float | None,
        noise_quantity(
            "on the sum of a batch", "noise_multiplier · contribution_norm, or the smallest certified noise"
        ),
    ] = None

    def check(self) -> None:
        """Check the fields of gaussian, that the number of vectors is given, and that the noise is given only once.

        Raises:
            InvalidInput: a field is missing, is given twice, or contradicts another one.
        """
        super().check()
        faults = list(self._risk_faults())
        if faults:
            raise InvalidInput(*faults)

    def _risk_faults(self) -> Iterator[Fault]:
        """Yield faults of `noise_std`, `records` and `largest_batch`, which concern the error bound only.

        Yields:
            Faults with the pointer to the field, the reason and the allowed values.
        """
        if self.noise_std is not None and self.solve_for != "noise_multiplier":
            yield Fault("/noise_std", "needs solve_for = noise_multiplier: otherwise noise_multiplier gives it")
        if self.largest_batch is not None and self.population is not None and self.largest_batch < self.population:
            message = "biases the mean: the error bound is for batches that are not truncated"
            yield Fault("/largest_batch", message, f"≥ {self.population}, or absent")

        # Both `records` and `population` are the number of vectors.
        if self.records is None and self.population is None:
            yield Fault("/records", "is needed: how many vectors the mean is of", RECORDS.allowed)
        if self.records is not None and self.population not in (None, self.records):
            yield Fault("/records", "is the population", f"{self.population}, or absent")

        if self.sampling == "without-replacement" and self.rate is not None and self.records is not None:
            try:
                whole_batch(rate=self.rate, records=self.records)
            except InvalidInput as error:
                yield from error.faults

    @property
    def vectors(self) -> int:
        """Number n of vectors."""
        count = self.records or self.population
        assert count is not None  # `check` demands one of them
        return count

    @property
    def given_noise_std(self) -> float | None:
        """Noise σ of a sum if the request gives it; None otherwise."""
        if self.noise_multiplier is not None:
            return self.noise_multiplier * self.contribution_norm
        return self.noise_std

    @property
    def is_given(self) -> bool:
        """True if the request describes the whole run, so that nothing is to be calibrated."""
        return self.given_noise_std is not None and self.solve_for not in ("rounds", "rate")


def given_run(problem: GaussianRiskProblem) -> NoisyRun | None:
    """Return the noise, rounds and batches that the request describes.

    Args:
        problem: the request, with the noise, the rounds and the batches, one of which may be open.

    Returns:
        The run, with the sampling rate in `details`; None if one of its numbers still has to be calibrated.
    """
    noise_std = problem.given_noise_std
    if not problem.is_given or noise_std is None:
        return None
    assert problem.rounds is not None  # it is only absent if it is solved for
    rate = _rate_of(problem, rate=problem.rate, batch_size=problem.batch_size)
    return NoisyRun(noise_std=noise_std, rounds=problem.rounds, batch_size=problem.batch_size, details=rate)


class CertifiedBatches(Protocol):
    """Interface of the parameters of a calibration: noise, rounds and sampling, one of which was solved for.

    Attributes:
        noise_multiplier: standard deviation of the noise over the norm bound of one vector.
        rounds: number of noisy sums.
        batch_size: number of vectors in a batch; None if the rate is given.
        rate: probability that a vector is in a batch; None if the batch size is given.
    """

    noise_multiplier: float
    rounds: int
    batch_size: int | None
    rate: float | None


def certified_run(problem: GaussianRiskProblem, parameters: CertifiedBatches) -> NoisyRun:
    """Return the run with the number that was solved for, and the noise of a sum in the units of the vectors.

    Args:
        problem: the request, with the norm bound of the vectors.
        parameters: parameters of its calibration.

    Returns:
        The run, with the sampling rate in `details`.
    """
    return NoisyRun(
        noise_std=parameters.noise_multiplier * problem.contribution_norm,
        rounds=parameters.rounds,
        batch_size=parameters.batch_size,
        details=_rate_of(problem, rate=parameters.rate, batch_size=parameters.batch_size),
    )


def _rate_of(problem: GaussianRiskProblem, *, rate: float | None, batch_size: int | None) -> float:
    """Return the expected size of a batch over the number of vectors.

    Args:
        problem: the request, with the number of vectors.
        rate: the sampling rate; None if it is not given.
        batch_size: the batch size; None if it is not given.

    Returns:
        The ratio; 1 for full batches.
    """
    if batch_size is not None:
        return batch_size / problem.vectors
    return 1.0 if rate is None else rate


def bounds(problem: GaussianRiskProblem, run: NoisyRun) -> Bounds:
    """Bound the mean squared error of the mean of vectors, estimated by noisy sums of random batches.

    Each noisy sum is divided by the expected batch size, and the quotients are averaged. The mechanism has no loss
    function, so the squared error takes the place of the excess risk. The baseline is the estimate 0, with a squared
    error of at most C², where C bounds the norm of every vector.

    Args:
        problem: the request, with the number of vectors and their norm bound.
        run: noise of a sum, rounds, and in `details` the expected batch size over the number of vectors.

    Returns:
        The bound, as a sum of a term of sampling and one of noise, in squared units of the vectors.
    """
    outputs = TheoremAtInputs.of(
        NOISY_MEAN, problem, records=problem.vectors, rate=run.details, noise_std=run.noise_std, rounds=run.rounds
    ).outputs
    terms = {"sampling": outputs["sampling_term"], "noise": outputs["noise_term"]}
    baseline = Baseline(value=outputs["squared_error_of_zero"], theorem=NOISY_MEAN.id, formula="C²")
    return Bounds(
        upper=(explicit_upper(NOISY_MEAN, terms, value=outputs["squared_error"]),),
        start=Start(objective="empirical", baseline=baseline),
        declared=NOISY_MEAN.conditions,
    )


RISK = GivenNoiseRiskPart(
    title="Squared error of a mean from noisy sums of random batches",
    summary=(
        "The largest mean squared error of the average of all noisy sums over the batch size. The mechanism has no "
        "loss function, so that this is the risk of estimating the mean of the vectors."
    ),
    problem=GaussianRiskProblem,
    theorems=(NOISY_MEAN.id,),
    example_fields={"dimension": 100, "records": 10_000, "noise_std": 1.0},
    measure="squared-error",
    quick=lambda problem: problem.is_given,
    given_run=given_run,
    certified_run=certified_run,
    bounds=bounds,
)
