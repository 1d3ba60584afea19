"""Handwritten digits split over clients with personal models w + θ_i: softmax regression on real records.

In scikit-learn's file, the digits of one writer follow each other. A split into consecutive pieces (`consecutive`)
therefore approximates a split by writer; the file does not name the writers. `by-label` gives each client few of the
ten digits. A client draws its batches from its own training records, with replacement.

No bound of the paper applies. A client with fewer records than features can be fitted perfectly by weights that grow
without limit, so that there is no optimum. The least loss is nevertheless bounded: it is at least 0 and at most
`optimum_gap`, the loss of a computed fit.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from scipy.special import logsumexp

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Clients, Quantity, request
from epsilond.simulators.problems.data_sets import read_features
from epsilond.simulators.problems.mean_softmax import errors_of
from epsilond.simulators.problems.personalized_problem import Numbers, PersonalizedConstants
from epsilond.simulators.problems.problem import Floats, Objective, Records

ClientSplit = Literal["consecutive", "by-label"]

SPLIT = Quantity(
    description="which records a client gets. consecutive: consecutive ones of the file, in which the records "
    "of one writer are consecutive. by-label: sorted by digit"
)
HELD_OUT = Quantity(
    gt=0,
    le=0.9,
    description="share of each client's records that is not used for training. The client's own model is "
    "tested on these records",
)
SEED = Quantity(ge=0, le=2**53, description="seed of the random choice of the records that are held out for testing")
CLASSES, RECORDS = 10, 1797
LEAST_RECORDS = 4
"""Smallest number of records of a client, so that some are left for training and for testing."""
FIT = 200.0
"""Factor on the least-squares fit whose loss bounds the least loss; large margins make the softmax loss vanish."""


@request
class PersonalizedDigits:
    """Personalised softmax regression on images of the digits 0 to 9, split evenly over the clients.

    Every client gets the same number of records, and the remaining records are left out. A share `held_out` of each
    client's records is for testing.
    """

    kind: Annotated[Literal["personalized-digits"], Quantity(description="name of the kind of learning problem")] = (
        "personalized-digits"
    )
    clients: Clients
    split: Annotated[ClientSplit, SPLIT] = "consecutive"
    held_out: Annotated[float, HELD_OUT] = 0.3
    seed: Annotated[int, SEED] = 0

    def check(self) -> None:
        """Check that every client has records to train on (`dealt` minus `tested`) and to test on (`tested`).

        Raises:
            InvalidInput: a client has fewer than `LEAST_RECORDS` records, or none of them is held out.
        """
        most_clients = RECORDS // LEAST_RECORDS
        if self.clients > most_clients:
            raise InvalidInput.at("/clients", "leave too few records to each", allowed=f"≤ {most_clients}")
        if not 1 <= self.tested < self.dealt:
            raise InvalidInput.at("/held_out", f"is less than one of a client's {self.dealt} records")

    @property
    def dealt(self) -> int:
        """Number of records of each client, for training and for testing together."""
        return RECORDS // self.clients

    @property
    def tested(self) -> int:
        """Number of a client's records that are held out for testing; at least one record is left for training."""
        return min(round(self.held_out * self.dealt), self.dealt - 1)

    def build(self) -> Digits:
        """Build the learning problem, or return the same object if it was built before."""
        return _build_problem(self)


@dataclass(frozen=True)
class Digits:
    """Personalised softmax regression on handwritten digits, with the training and the test records of each client.

    Models are rows of 10 · 64 weights, one row of 64 for each digit.

    Attributes:
        spec: the request: number of clients, split, and share of held-out records.
        features: pixels of n training images of each of N clients, standardised and of norm at most 1, (N, n, 64).
        labels: digits on the training images, (N, n).
        test_features: pixels of T held-out images of each client, (N, T, 64).
        test_labels: digits on the held-out images, (N, T).
        optima: a fitted model of each client, (N, d); its loss is an upper bound on the least loss.
        optimum_gap: mean loss of the fitted models. The least loss is between 0 and this number.
    """

    spec: PersonalizedDigits
    features: Floats
    labels: Floats
    test_features: Floats
    test_labels: Floats
    optima: Floats
    optimum_gap: float

    @property
    def clients(self) -> int:
        """Number of clients N."""
        return self.spec.clients

    @property
    def dimension(self) -> int:
        """Dimension d of w and of each θ_i."""
        return CLASSES * int(self.features.shape[-1])

    @property
    def objective(self) -> Objective:
        """Kind of the objective: `population`, which is here the training records of each client."""
        return "population"

    @property
    def constants(self) -> PersonalizedConstants:
        """Constants that risk bounds depend on.

        The gradient of the cross-entropy by the weights has norm at most √2‖x‖, and features x have norm at most 1. No
        bound is computed for the other constants; they are inf.
        """
        return PersonalizedConstants(
            lipschitz=math.sqrt(2.0),
            smoothness=math.inf,
            shared_gradient_std=math.inf,
            local_gradient_std=math.inf,
            shared_gradient_norm=math.inf,
            optimum_norm=math.inf,
            optimum_spread=math.inf,
            optimum_gap=self.optimum_gap,
        )

    def records(self, generator: np.random.Generator, clients: Numbers, batch_size: int) -> Records:
        """Draw training records with replacement, for several participating clients ("rows") at once.

        Args:
            generator: source of randomness.
            clients: index of the client of each row, (rows,).
            batch_size: number m of records of each row.

        Returns:
            Features (rows, m, 64), the pixels of an image, and labels (rows, m).
        """
        indices = generator.integers(self.labels.shape[1], size=(*clients.shape, batch_size))
        clients_of_records = clients[..., None]
        features = self.features[clients_of_records, indices]
        labels = self.labels[clients_of_records, indices]
        return Records(features, labels)

    def weighted_gradient(self, models: Floats, records: Records, weights: Floats) -> Floats:
        """Return the weighted sum of the cross-entropy's gradients over the records of each participating client.

        Args:
            models: models of the clients ("rows"), (rows, d), for d coordinates.
            records: the 64 pixels of m images of each client, (rows, m, 64), and their labels, (rows, m).
            weights: weight of each record, (rows, m).

        Returns:
            The sums, (rows, d).
        """
        outputs = np.matmul(records.features, _rows(models).swapaxes(-1, -2))
        weighted_errors = errors_of(outputs, records.targets) * weights[..., None]
        # The gradient for a record with features x is the outer product of its output errors and x.
        sums = np.matmul(weighted_errors.swapaxes(-1, -2), records.features)
        return np.asarray(sums.reshape(len(models), -1))

    def excess(self, models: Floats, shares: Floats) -> Floats:
        """Return an upper bound on the weighted sum of the clients' excess risks, the weighted sum of training losses.

        The least loss of a client is unknown, but at least 0, so its training loss bounds its excess risk.

        Args:
            models: models of the N clients, (…, N, d), for d coordinates.
            shares: weight of each client, (N).

        Returns:
            Weighted sums, (…).
        """
        losses = _losses(self.features, self.labels, models)
        return np.asarray(np.einsum("...n,n->...", losses, shares))

    def scores(self, models: Floats) -> Mapping[str, Floats]:
        """Return the error and the accuracy of the clients' models on all held-out records.

        Args:
            models: model of each of N clients, (…, N, d), for d coordinates.

        Returns:
            `test_error` and `test_accuracy`: fractions of the images that get a wrong and the right digit, (…).
        """
        outputs = np.matmul(self.test_features, _rows(models).swapaxes(-1, -2))
        is_correct = np.argmax(outputs, axis=-1) == self.test_labels
        accuracy = np.mean(is_correct, axis=(-1, -2))
        return {"test_error": 1.0 - accuracy, "test_accuracy": accuracy}

    def facts(self) -> Mapping[str, float | int | str]:
        """Return the data set, loss, split, and numbers of records of a client, for the description of the problem."""
        return {
            "data_set": "digits",
            "loss": "softmax",
            "split": self.spec.split,
            "training_records": int(self.labels.shape[1]),
            "held_out_records": int(self.test_labels.shape[1]),
        }


@functools.lru_cache(maxsize=8)
def _build_problem(spec: PersonalizedDigits) -> Digits:
    """Split the digits over the clients, hold out the test records, and fit a model to each client.

    The least loss is between 0 and the loss of the fitted models. The mean of the latter over the clients is
    `optimum_gap`. The last eight results are kept in memory.

    Args:
        spec: request with the number of clients, the split, and the share of held-out records.

    Returns:
        The problem with the training and the test records of each client.
    """
    features, labels = read_features("digits")
    order = np.arange(len(labels))
    if spec.split == "by-label":
        order = np.argsort(labels, kind="stable")
    used_records = order[: spec.clients * spec.dealt]
    records_of_clients = used_records.reshape(spec.clients, spec.dealt)

    generator = np.random.default_rng(np.random.SeedSequence(spec.seed))
    shuffled = generator.permuted(records_of_clients, axis=1)
    training = shuffled[:, spec.tested :]
    test = shuffled[:, : spec.tested]

    fits = np.stack([_fit(features[records], labels[records]) for records in training])
    gap = float(np.mean(_losses(features[training], labels[training], fits)))
    return Digits(spec, features[training], labels[training], features[test], labels[test], fits, gap)


def _fit(features: Floats, labels: Floats) -> Floats:
    """Return a model with small softmax loss for one client: a least-squares fit of the class indicators, times `FIT`.

    Args:
        features: training images of one client, (n, 64), for n images.
        labels: their digits, (n).

    Returns:
        Weights of the classes one after another, (d), for d coordinates.
    """
    indicators = (labels[:, None] == np.arange(CLASSES)).astype(np.float64)
    weights: Floats = np.linalg.lstsq(features, indicators, rcond=None)[0]
    return FIT * weights.T.reshape(-1)


def _losses(features: Floats, labels: Floats, models: Floats) -> Floats:
    """Return the mean cross-entropy of each client's model on the client's records.

    Args:
        features: images of N clients as vectors of 64 pixels, (N, n, 64), for n images of a client.
        labels: digits of the images, (N, n).
        models: a model of each client as a flat vector, (…, N, d), for d coordinates.

    Returns:
        Losses, (…, N).
    """
    outputs = np.matmul(features, _rows(models).swapaxes(-1, -2))

    # The cross-entropy of outputs z for digit c is log Σ_k e^(z_k) − z_c.
    digits = labels.astype(np.int64)[..., None]
    digits = np.broadcast_to(digits, (*outputs.shape[:-1], 1))
    output_of_digit = np.take_along_axis(outputs, digits, axis=-1)[..., 0]
    cross_entropies = logsumexp(outputs, axis=-1) - output_of_digit
    return np.asarray(np.mean(cross_entropies, axis=-1))


def _rows(models: Floats) -> Floats:
    """Return models as matrices with one row of weights for each class.

    Args:
        models: models as flat vectors, (…, d), for d coordinates.

    Returns:
        The matrices, (…, classes, features).
    """
    return models.reshape(*models.shape[:-1], CLASSES, -1)
