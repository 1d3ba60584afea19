"""Small real data sets of scikit-learn, split over clients, with an optional held-out share for testing."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import SAMPLES_PER_CLIENT, Clients, Quantity, request
from epsilond.extras import extra
from epsilond.simulators.problems.held_out import HeldOut, by_largest, by_sign, relative_error
from epsilond.simulators.problems.linear_model import LinearModelProblem
from epsilond.simulators.problems.losses import LOGISTIC, SQUARED
from epsilond.simulators.problems.populations import Population, within_ball
from epsilond.simulators.problems.problem import Floats, Objective
from epsilond.simulators.problems.softmax import SoftmaxProblem
from epsilond.simulators.problems.synthetic import BALL, LARGEST_DATA, OBJECTIVE, RIDGE, SEED

DataSet = Literal["breast-cancer", "digits", "diabetes"]
DataLoss = Literal["logistic", "softmax", "squared"]
Split = Literal["iid", "by-label", "odd-even-pairs"]

KIND = Quantity(description="name of the kind of learning problem")
DATA_SET = Quantity(
    description="data set: breast-cancer (569 records, d = 30 features), digits (1797 records, d = 64) or "
    "diabetes (442 records, d = 10, a regression). Features are standardised, divided by √d and "
    "clipped to norm 1. Targets of a regression are centred and scaled to [−1, 1]"
)
LOSS = Quantity(
    description="loss function. logistic: for two classes; for digits these are odd and even. softmax: "
    "cross-entropy over all classes, with one row of weights for each. squared: squared error of a "
    "regression. Absent: squared for a regression, otherwise logistic"
)
SPLIT = Quantity(
    description="how records are assigned to clients, the same number to each. iid: at random. by-label: "
    "sorted by class or target. odd-even-pairs: only for digits and 25 clients, each with one odd "
    "and one even digit"
)
HELD_OUT = Quantity(
    ge=0,
    le=0.9,
    description="share of each client's records that is not used for training. The trained model is tested on "
    "these records, which are chosen at random",
)


@request
class DataSetProblem:
    """Classification or regression on real records. The records that a client is assigned are its population.

    If `samples_per_client` is absent, it is the number of records that a client is assigned and that are not held out.
    An empirical objective allows only this number.
    """

    kind: Annotated[Literal["dataset"], KIND] = "dataset"
    data_set: Annotated[DataSet, DATA_SET] = "breast-cancer"
    loss: Annotated[DataLoss | None, LOSS] = None
    clients: Clients
    samples_per_client: Annotated[int | None, SAMPLES_PER_CLIENT] = None
    split: Annotated[Split, SPLIT] = "iid"
    held_out: Annotated[float, HELD_OUT] = 0.0
    diameter: Annotated[float, BALL] = 20.0
    strong_convexity: Annotated[float, RIDGE] = 0.0
    objective: Annotated[Objective, OBJECTIVE] = "empirical"
    seed: Annotated[int, SEED] = 0

    def check(self) -> None:
        """Check the number of clients, the loss, the split and the held-out share against the data set.

        Raises:
            InvalidInput: the fields do not fit the data set or each other.
        """
        sizes = _DATA_SETS[self.data_set]
        if self.clients > sizes.records:
            raise InvalidInput.at("/clients", "exceeds the records that there are", allowed=f"≤ {sizes.records}")
        if self.loss not in (None, *sizes.losses):
            raise InvalidInput.at("/loss", f"is not a loss of {self.data_set}", allowed=", ".join(sizes.losses))
        if self.split == "odd-even-pairs" and (self.data_set, self.clients) != ("digits", PAIRS):
            raise InvalidInput(
                Fault("/split", "deals digits", "with data_set digits"), Fault("/clients", "are the pairs", f"{PAIRS}")
            )
        if self.held_out > 0.0 and self.tested == 0:
            raise InvalidInput.at("/held_out", f"is less than one record of the {self.dealt} of a client")
        self._check_samples()

    def _check_samples(self) -> None:
        """Check the requested number of records of a client, `samples_per_client`.

        If the objective is the empirical risk, a client must use all its training records, that is, all records that
        are not held out.

        Raises:
            InvalidInput: the objective is empirical and the number differs from that of the training records. Or the
                number times that of the clients exceeds `LARGEST_DATA`.
        """
        training = self.dealt - self.tested
        samples = self.samples_per_client
        if self.objective == "empirical" and samples not in (None, training):
            raise InvalidInput.at(
                "/samples_per_client",
                "must be the number of a client's training records if the objective is empirical",
                allowed=f"{training}",
            )
        if samples is not None and samples * self.clients > LARGEST_DATA:
            raise InvalidInput.at("/samples_per_client", "times clients is too large", allowed=f"≤ {LARGEST_DATA}")

    @property
    def dealt(self) -> int:
        """Number of records that a client is assigned, including held-out records."""
        if self.split == "odd-even-pairs":
            return 2 * PAIR_RECORDS
        return _DATA_SETS[self.data_set].records // self.clients

    @property
    def tested(self) -> int:
        """Number of held-out records of a client, rounded; at least one record is left for training."""
        return min(round(self.held_out * self.dealt), self.dealt - 1)

    def build(self) -> LinearModelProblem | SoftmaxProblem:
        """Build the problem, or return the same object if it was built before.

        Raises:
            MissingExtra: scikit-learn is not installed.
        """
        return _build_problem(self)


@dataclass(frozen=True)
class _DataSetSizes:
    """Sizes of a data set of scikit-learn, and the losses that fit it.

    Attributes:
        records: number of records.
        classes: number of classes; 0 for a regression.
        losses: losses for which the data set may be used, the default first.
    """

    records: int
    classes: int
    losses: tuple[DataLoss, ...]


_DATA_SETS: dict[DataSet, _DataSetSizes] = {
    "breast-cancer": _DataSetSizes(569, 2, ("logistic", "softmax")),
    "digits": _DataSetSizes(1797, 10, ("logistic", "softmax")),
    "diabetes": _DataSetSizes(442, 0, ("squared",)),
}
PAIRS = 25
"""Clients of the split odd-even-pairs: 5 odd digits times 5 even digits."""
PAIR_RECORDS = 34
"""Records of each digit in a pair: a fifth of the 174 records of the rarest digit, because each digit is in five pairs.
"""


@functools.lru_cache(maxsize=8)
def _build_problem(spec: DataSetProblem) -> LinearModelProblem | SoftmaxProblem:
    """Split the data set over the clients, hold out the test records, and build the learning problem.

    Every client holds out the same number of records. The targets of logistic regression are 1 for an odd label and −1
    for an even one. The last eight results are kept in memory.

    Args:
        spec: request with the data set, loss, number of clients, split, held-out share and seed.

    Returns:
        A problem with the softmax loss, or a linear model with the logistic or the squared loss.
    """
    features, labels = read_features(spec.data_set)
    generator = np.random.default_rng(np.random.SeedSequence(spec.seed))
    records = _split_records(spec, labels, generator)
    sizes = _DATA_SETS[spec.data_set]
    default_loss = sizes.losses[0]
    loss = spec.loss or default_loss
    targets = labels
    if loss == "logistic":
        targets = np.where(labels % 2 == 1, 1.0, -1.0)

    # Shuffle each client's row of records, so that the first `tested` ones, which are held out, are a random subset.
    if spec.tested:
        records = generator.permuted(records, axis=1)
    test, training = records[:, : spec.tested].reshape(-1), records[:, spec.tested :]
    size = training.shape[1]
    population = Population(features[training], targets[training], size)

    common_fields: dict[str, Any] = {
        "samples_per_client": spec.samples_per_client or size,
        "diameter": spec.diameter,
        "strong_convexity": spec.strong_convexity,
        "objective": spec.objective,
        "described": {"loss": loss, "population": size, "data_set": spec.data_set, "held_out": test.size},
        "held_out": None,
    }
    if spec.tested:
        # A softmax model has one output per class; a linear model has a single output.
        outputs = sizes.classes if loss == "softmax" else 1
        score = _score_function(loss, training_mean=float(np.mean(population.targets)))
        common_fields["held_out"] = HeldOut(features[test], targets[test], score, outputs)

    if loss == "softmax":
        return SoftmaxProblem.of(population, classes=sizes.classes, **common_fields)
    linear_loss = LOGISTIC if loss == "logistic" else SQUARED
    return LinearModelProblem.of(linear_loss, population, **common_fields)


def _score_function(loss: str, *, training_mean: float) -> Callable[[Floats, Floats, Floats], Mapping[str, Floats]]:
    """Return the function that scores a model's predictions on held-out records.

    For the logistic loss, the sign of the output is the predicted class. For softmax it is the class of the largest
    output. For the squared loss, the score is the error relative to that of predicting the mean training target.

    Args:
        loss: "logistic", "softmax" or "squared".
        training_mean: mean of the training targets.

    Returns:
        A function of models, features and targets, which returns scores by name.
    """
    if loss == "logistic":
        return by_sign
    if loss == "softmax":
        return by_largest
    return relative_error(training_mean)


def _split_records(spec: DataSetProblem, labels: Floats, generator: np.random.Generator) -> npt.NDArray[np.int64]:
    """Assign the records of a data set to the clients, the same number to each. Surplus records are left out.

    Args:
        spec: request with the kind of split and the number of clients.
        labels: class or target of each record.
        generator: source of randomness.

    Returns:
        Indices of the records of each of N clients, (N, records of a client).
    """
    order = generator.permutation(len(labels))
    if spec.split == "odd-even-pairs":
        return _split_into_pairs(order, labels)
    if spec.split == "by-label":
        order = order[np.argsort(labels[order], kind="stable")]
    return order[: spec.clients * spec.dealt].reshape(spec.clients, spec.dealt)


def _split_into_pairs(order: npt.NDArray[np.int64], labels: Floats) -> npt.NDArray[np.int64]:
    """Assign records of one odd and one even digit to each of 25 clients, one for each such pair of digits.

    Each digit occurs in five pairs. Its records are divided into five parts, one for each client with this digit.

    Args:
        order: indices of all records in random order.
        labels: digit of each record.

    Returns:
        Indices of the records of each client, (25, 2 `PAIR_RECORDS`).
    """
    parts_of_digit = []
    for digit in range(10):
        records = order[labels[order] == digit][: 5 * PAIR_RECORDS]
        parts_of_digit.append(records.reshape(5, PAIR_RECORDS))
    # The client (odd, even) gets one part of the digit 2 odd + 1, and one part of the digit 2 even.
    pairs = [
        np.concatenate([parts_of_digit[2 * odd + 1][even], parts_of_digit[2 * even][odd]])
        for odd in range(5)
        for even in range(5)
    ]
    return np.stack(pairs)


@functools.cache
def read_features(name: DataSet) -> tuple[Floats, Floats]:
    """Return the features and the labels of a data set of scikit-learn. The features have norm at most 1.

    Args:
        name: name of the data set.

    Returns:
        First the features. They are standardised, divided by the square root of their number, and clipped to norm 1.
        Then the class of each record or, for a regression, its target, centred and scaled to [−1, 1].

    Raises:
        MissingExtra: scikit-learn is not installed.
    """
    with extra("simulate", "a data set"):
        from sklearn import datasets as sets  # noqa: PLC0415  the import takes a second

    loaders = {"breast-cancer": sets.load_breast_cancer, "digits": sets.load_digits, "diabetes": sets.load_diabetes}
    features, raw_labels = loaders[name](return_X_y=True)
    labels = np.asarray(raw_labels, dtype=np.float64)
    if _DATA_SETS[name].classes == 0:
        centred = labels - np.mean(labels)
        labels = centred / np.max(np.abs(centred))
    deviations = np.std(features, axis=0)
    standard = (features - np.mean(features, axis=0)) / np.where(deviations > 0.0, deviations, 1.0)
    return within_ball(standard / np.sqrt(features.shape[1])), labels
