"""Appendix H of Lowy and Razaviyayn: noise, metric and settings of the experiments.

The noise is σ² = 8 L² ln(1/δ) R/(nε)² with K = n√ε/(2√R), by Theorem 1 of [ACG+16]. That theorem requires
ε < c₁ q² R with an unspecified c₁, and this K makes q² R = ε/4 for every other choice. If gradients reach the norm L,
as clipped ones of the regression may, the true ε exceeds the target from ε = 2 on (E-19). The classification takes
L = 2 max‖x‖, twice the Lipschitz constant of the logistic loss: the true ε is then below the target.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Literal

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import FormulaRequest, formula
from epsilond.accountants.json_types import Fields
from epsilond.accountants.quantities import (
    SQUARES,
    BudgetFields,
    Clients,
    Epsilon,
    Lipschitz,
    Quantity,
    Rounds,
    SamplesPerClient,
    request,
)
from epsilond.accountants.theorem import Condition, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.lowy_razaviyayn.errata import NOT_PRIVATE


def experimental_noise_std(
    *, lipschitz: float, samples_per_client: int, rounds: int, epsilon: float, log_delta: float
) -> float:
    """Compute the standard deviation σ of the noise in the experiments of Lowy and Razaviyayn.

        σ = L √(8 R ln(1/δ))/(nε)

    It is the noise of each coordinate of a client's mean gradient. The paper takes the formula from earlier work, which
    has an unspecified condition on ε. The noise may therefore be too small for ε and δ.

    Args:
        lipschitz: bound L on the norm of a record's gradient; σ has its unit.
        samples_per_client: number n of records of a client, at least 1.
        rounds: number R of rounds, at least 1.
        epsilon: privacy parameter ε > 0 of the whole run.
        log_delta: natural logarithm of δ, below 0.

    Returns:
        σ, in the unit of L.
    """
    return lipschitz * math.sqrt(8.0 * rounds * -log_delta) / (samples_per_client * epsilon)


def experimental_batch_size(*, samples_per_client: int, rounds: int, epsilon: float) -> float:
    """Compute the batch size of the paper's experiments, K = n√ε/(2√R), before rounding up.

    Args:
        samples_per_client: number n of records of a client, at least 1.
        rounds: number R of rounds, at least 1.
        epsilon: privacy parameter ε > 0 of the whole run.

    Returns:
        The batch size, a real number. It exceeds n if ε > 4R.
    """
    return samples_per_client * math.sqrt(epsilon) / (2.0 * math.sqrt(rounds))


@request
class ExperimentInputs(BudgetFields):
    """One client of the paper's experiments: target, records, rounds, and the constant of the noise.

    Exactly one of `delta` and `log10_delta` is required.
    """

    epsilon: Annotated[Epsilon, SQUARES]
    samples_per_client: SamplesPerClient
    rounds: Rounds
    lipschitz: Lipschitz

    @property
    def real_batch(self) -> float:
        """The printed batch size n√ε/(2√R), before it is rounded up and limited to n."""
        return experimental_batch_size(
            samples_per_client=self.samples_per_client, rounds=self.rounds, epsilon=self.epsilon
        )


def experiment(inputs: ExperimentInputs) -> Outputs:
    """Compute the noise σ and the batch size K of the experiments of Lowy and Razaviyayn for one client.

    Args:
        inputs: target, records n and rounds R of the client, and the Lipschitz constant L of the loss.

    Returns:
        `noise_std` and `batch_size`: σ and K.
        `noise_multiplier`: σK/L.
        `sensitivity`: 2L/K, in the unit of a gradient.
        `squared_rate_times_rounds`: R(K/n)² for the K before rounding, which is ε/4. The condition of the noise formula
        is on this number.
    """
    std = experimental_noise_std(
        lipschitz=inputs.lipschitz,
        samples_per_client=inputs.samples_per_client,
        rounds=inputs.rounds,
        epsilon=inputs.epsilon,
        log_delta=inputs.log_delta,
    )
    rounded_batch = max(1, math.ceil(inputs.real_batch))
    batch = min(inputs.samples_per_client, rounded_batch)
    return {
        "noise_std": std,
        "batch_size": batch,
        "noise_multiplier": std * batch / inputs.lipschitz,
        "sensitivity": 2.0 * inputs.lipschitz / batch,
        "squared_rate_times_rounds": 0.25 * inputs.epsilon,
    }


APPENDIX_H = Theorem(
    id="lowy.appendix-h",
    title="The noise of the experiments",
    statement=(
        "Let gradients have norm at most L, and batches K = n√ε/(2√R) of n records, for R rounds. Then the noise of "
        "variance σ² = 8 L² ln(1/δ) R/(nε)² is (ε, δ)-private for every record"
    ),
    source=Source("lowy2023", "Appendix H"),
    status=Status.REFUTED,
    conditions=(
        Condition(
            "batch-of-records",
            "the batch size K = n√ε/(2√R) is at most the client's number n of records",
            lambda inputs: Sides.at_most(inputs.real_batch, inputs.samples_per_client),
        ),
    ),
    errata=(NOT_PRIVATE,),
    inputs=ExperimentInputs,
    formula=experiment,
    examples=({"epsilon": 18.0, "delta": 6.5e-7, "samples_per_client": 1238, "rounds": 35, "lipschitz": 1.0},),
)


INSURANCE_RECORDS = 1338
"""Number of records of the insurance data."""
MOST_VALUES, MOST_LISTED = 10_000, 10_000
"""Largest number of values of a metric, and of clients in a list of sizes."""
Experiment = Literal["mnist", "insurance"]
VALUES = Quantity(description="true values of the test records")
PREDICTIONS = Quantity(description="their predictions, in the same order")
TRAINING_MEAN = Quantity(description="mean of the training records' true values")
EXPERIMENT = Quantity(description="which of the paper's experiments")

SETTINGS: Mapping[Experiment, Fields] = {
    "mnist": {
        "clients": 25,
        "samples_per_client": 1238,
        "dimension": 50,
        "participants": [12, 18, 25],
        "rounds": 35,
        "epsilons": [0.75, 1.5, 3.0, 6.0, 12.0, 18.0],
        "delta": 1.0 / 1238**2,
        "trials": 20,
        "tuning_runs": 3,
        "unreduced_samples_per_client": {"training": 8673, "test": 2168},
        "images_per_used_image": 7,
        "test_ratio": 0.2,
        "largest_inner_product": 15.0,
        "lipschitz_over_largest_norm": 2.0,
        "step_sizes": 10,
        "step_size_range": [math.exp(-6.0), 1.0],
        "local_step_size_range": [math.exp(-8.0), math.exp(-1.0)],
    },
    "insurance": {
        "records": INSURANCE_RECORDS,
        "dimension": 7,
        "rounds": 35,
        "epsilons": [0.125, 0.25, 0.5, 1.0, 2.0, 3.0],
        "delta_times_squared_samples": 1.0,
        "trials": 20,
        "tuning_runs": 3,
        "samples": {"training": 1070, "test": 268},
        "test_ratio": 0.2,
        "clipping_norms": [1e2, 1e4, 1e6, 1e8, 1e32],
        "step_sizes": 10,
        "step_size_range": [math.exp(-8.0), math.exp(1.0)],
        "local_step_size_range": [math.exp(-10.0), 1.0],
    },
}
"""Settings of Appendix H. The rounds for MNIST are in the authors' code only (E-32).

The ranges of step sizes are their least and largest values, for mini-batch and for local SGD. The text spaces
those for MNIST evenly, and has a logarithmic grid for the insurance data.

The 1,238 training records of a silo are four fifths of two digits with ⌊5421/7⌋ = 774 images each.
"""


def relative_error(values: tuple[float, ...], predictions: tuple[float, ...], training_mean: float) -> float:
    """Compute the relative root mean square error of predictions, √(Σ(y − ŷ)²/Σ(y − ȳ_train)²).

    It is 1 for a predictor that always gives the training mean.

    Args:
        values: true values y, not all equal to the training mean.
        predictions: predicted values ŷ, in the same order.
        training_mean: mean ȳ_train of the values of the training records.

    Returns:
        The error, at least 0 and without a unit.
    """
    pairs = zip(values, predictions, strict=True)
    squared_errors = math.fsum((value - prediction) ** 2 for value, prediction in pairs)
    squared_deviations = math.fsum((value - training_mean) ** 2 for value in values)
    return math.sqrt(squared_errors / squared_deviations)


def group_sizes(clients: int, records: int = INSURANCE_RECORDS) -> tuple[int, ...]:
    """Return the sizes of the N groups into which records are split: N − 1 times ⌈records/N⌉, and the rest.

    Args:
        clients: number N of groups, one for each client, at least 1.
        records: number of all records.

    Returns:
        N sizes with the sum `records`. The last one is negative if the others already have too many records.
    """
    size = -(-records // clients)  # ⌈records/clients⌉ in exact arithmetic
    full_group_count = clients - 1
    remainder = records - size * full_group_count
    return (*[size] * full_group_count, remainder)


def _check_values(record: FormulaRequest) -> None:
    """Check that the relative error of a predictor can be computed from the values and predictions of a request.

    Args:
        record: the request, with `values`, `predictions` and `training_mean`.

    Raises:
        InvalidInput: there are no values, more than `MOST_VALUES`, or not as many as predictions; a number is out of
            range; or all values equal the training mean, so that the error would be a division by 0.
    """
    if not 1 <= len(record.values) <= MOST_VALUES:
        raise InvalidInput.at("/values", "has too few or too many entries", allowed=f"1 to {MOST_VALUES}")
    if len(record.predictions) != len(record.values):
        raise InvalidInput.at("/predictions", "needs one for each value", allowed=f"{len(record.values)} values")
    numbers = (*record.values, *record.predictions, record.training_mean)
    if not all(abs(number) <= 1e100 for number in numbers):
        raise InvalidInput.at("/values", "has a value that is out of range", allowed="-1e100 to 1e100")
    if all(value == record.training_mean for value in record.values):
        raise InvalidInput.at("/values", "must not all be the training mean")


def _check_client_count(record: FormulaRequest) -> None:
    """Check that the list of group sizes is short enough for an answer.

    Args:
        record: the request, with the number of `clients`.

    Raises:
        InvalidInput: there are more than 10,000 clients.
    """
    if record.clients > MOST_LISTED:
        raise InvalidInput.at("/clients", "is more than are listed", allowed=f"≤ {MOST_LISTED}")


@formula(given="True values, predictions, and the training mean.", checks=(_check_values,))
def metric(
    *,
    values: Annotated[tuple[float, ...], VALUES],
    predictions: Annotated[tuple[float, ...], PREDICTIONS],
    training_mean: Annotated[float, TRAINING_MEAN],
) -> Outputs:
    """Compute the relative root mean square error √(Σ(y − ŷ)²/Σ(y − ȳ)²) of predictions ŷ of values y.

    Args:
        values: true values y of the test records.
        predictions: their predictions ŷ, in the same order.
        training_mean: mean ȳ of the training records' values.

    Returns:
        `relative_error`, at least 0; it is 1 for predictions that all equal the training mean.
    """
    return {"relative_error": relative_error(values, predictions, training_mean)}


@formula(given="How many clients the insurance records are split among.", checks=(_check_client_count,), bounded=False)
def sizes(*, clients: Clients) -> Outputs:
    """Return the number of insurance records of each client."""
    return {"samples_per_client": list(group_sizes(clients))}


@formula(given="One of the experiments.", bounded=False)
def settings(*, experiment: Annotated[Experiment, EXPERIMENT]) -> Outputs:
    """Return the settings of one experiment."""
    return dict(SETTINGS[experiment])


def _compare_last_group(*, clients: int) -> Sides:
    """Compare the records of the last client with 1."""
    return Sides.at_least(group_sizes(clients)[-1], 1)


METRIC = Theorem(
    id="lowy.appendix-h.metric",
    title="The metric of the insurance experiment",
    statement=(
        "The relative root mean square error of predictions ŷ is √(Σ(y − ŷ)²/Σ(y − ȳ)²). The sums are over the test "
        "records with values y, and ȳ is the mean of the training records"
    ),
    source=Source("lowy2023", "Appendix H"),
    status=Status.PROVED,
    formula=metric,
    examples=({"values": [1.0, 2.0, 3.0, 4.0], "predictions": [1.1, 1.9, 3.2, 3.7], "training_mean": 2.6},),
)
SIZES = Theorem(
    id="lowy.appendix-h.sizes",
    title="How the insurance records are split",
    statement=(
        "The 1338 records are split among N clients. Of them, N − 1 have ⌈1338/N⌉ records each. The last one has the "
        "rest, which must not be empty"
    ),
    source=Source("lowy2023", "Appendix H"),
    status=Status.PROVED,
    conditions=(Condition("last-group", "the last client has at least one record", _compare_last_group),),
    formula=sizes,
    examples=({"clients": 5},),
)
EXPERIMENTS = Theorem(
    id="lowy.appendix-h.settings",
    title="The settings of the experiments",
    statement=(
        "The two experiments have the listed clients, records, dimensions, targets, rounds and trials, step sizes and "
        "clipping norms"
    ),
    source=Source("lowy2023", "Appendix H"),
    status=Status.PROVED,
    formula=settings,
    examples=({"experiment": "mnist"}, {"experiment": "insurance"}),
)

THEOREMS: tuple[Theorem, ...] = (APPENDIX_H, METRIC, SIZES, EXPERIMENTS)
