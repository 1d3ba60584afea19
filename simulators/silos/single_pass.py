"""One pass of softmax regression over records that arrive at many machines, for many step sizes at once.

In each round m of M machines take part, each with one new record. All step sizes see the same records and the same
noise. Models are projected onto a ball around the start, 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class SinglePass:
    """Settings of one pass over records that arrive at many machines, by which softmax regression is trained.

    Attributes:
        machines: number M of machines.
        participants: number m of machines that take part in a round, each with one new record.
        radius: radius D/2 of the ball around 0 onto which models are projected; D is its diameter.
        classes: number of classes of the labels.
    """

    machines: int
    participants: int
    radius: float
    classes: int


@dataclass(frozen=True)
class LabelledRecords:
    """Records in the order in which they arrive.

    Attributes:
        features: features of the n records, (n, d), for d features.
        labels: class of each record, from 0 to classes − 1, (n).
    """

    features: Floats
    labels: Integers


def cancelled_noise(
    records: LabelledRecords,
    settings: SinglePass,
    *,
    step_sizes: Floats,
    base_std: float,
    generator: np.random.Generator,
) -> Floats:
    """Run Algorithm 1 of Reshef and Levy with weights α_t = t once per step size, and return the last query points.

    In round t, a machine with the new record z reports:

        s = t ∇f(x_t; z) − (t − 1) ∇f(x_{t−1}; z) + y − Y,

    where f is the loss and x_t the query point. y is new noise, and Y the noise of the machine's last report, which
    cancels in the sum of the reports. The noise of a machine's k-th report has standard deviation `base_std` √k.

    Args:
        records: records in order of arrival; each is used at most once.
        settings: machines, participants, and the ball that models are projected onto.
        step_sizes: step size of each of S runs, (S).
        base_std: standard deviation of each coordinate of the noise of a machine's first report.
        generator: source of participation and noise.

    Returns:
        The query point x_T of the last round T in each run, (S, d, classes), for d features.
    """
    shape = (records.features.shape[1], settings.classes)
    iterate = np.zeros((len(step_sizes), *shape), dtype=np.float32)
    query = previous = iterate.copy()  # query points are weighted means of the iterates
    momentum = np.zeros_like(iterate)  # sum of the mean reports of all rounds
    last_noise = np.zeros((settings.machines, *shape), dtype=np.float32)
    reports = np.zeros(settings.machines)  # number of reports of each machine
    for index, (features, labels) in enumerate(_rounds(records, settings), start=1):
        chosen = generator.permutation(settings.machines)[: settings.participants]
        reports[chosen] += 1.0
        stds = (base_std * np.sqrt(reports[chosen])).astype(np.float32)
        noise = generator.standard_normal((len(chosen), *shape), dtype=np.float32) * stds[:, None, None]

        correction = index * mean_gradients(query, features, labels)
        correction -= (index - 1) * mean_gradients(previous, features, labels)
        uncancelled_noise = noise.sum(axis=0) - last_noise[chosen].sum(axis=0)
        momentum += correction + uncancelled_noise / settings.participants
        last_noise[chosen] = noise

        iterate = into_ball(iterate - step_sizes[:, None, None] * momentum, settings.radius)
        weight = 2.0 / (index + 2.0)  # α_{t+1}/α_{1:t+1} with α_t = t
        previous, query = query, (1.0 - weight) * query + weight * iterate
    return previous  # the query point of the last round; `query` is that of a further one


def noisy_sgd(
    records: LabelledRecords,
    settings: SinglePass,
    *,
    step_sizes: Floats,
    noise_std: float,
    output: Literal["last", "mean"],
    generator: np.random.Generator,
) -> Floats:
    """Run projected SGD with fresh Gaussian noise in each report once per step size, and return a model of each run.

    Args:
        records: records in order of arrival; each is used at most once.
        settings: machines, participants and ball.
        step_sizes: step size of each of S runs, (S).
        noise_std: standard deviation of each coordinate of a report's noise.
        output: `last` for the model after the last round, `mean` for the mean of the models after each round.
        generator: source of the noise. All step sizes have the same noise.

    Returns:
        The chosen model of each run, (S, d, classes), for d features.
    """
    shape = (records.features.shape[1], settings.classes)
    model = np.zeros((len(step_sizes), *shape), dtype=np.float32)
    total = np.zeros_like(model)
    # The mean over m participants divides the standard deviation of their noise by √m.
    mean_std = np.float32(noise_std / math.sqrt(settings.participants))
    rounds = 0
    for features, labels in _rounds(records, settings):
        noise = mean_std * generator.standard_normal(shape, dtype=np.float32)
        gradient = mean_gradients(model, features, labels) + noise
        model = into_ball(model - step_sizes[:, None, None] * gradient, settings.radius)
        total += model
        rounds += 1
    if output == "last":
        return model
    return total / np.float32(rounds)


def _rounds(records: LabelledRecords, settings: SinglePass) -> Iterator[tuple[Floats, Integers]]:
    """Yield the records of each round, one for each participant. Last records that do not fill a round are left out.

    Args:
        records: the records in the order in which they arrive.
        settings: settings of the pass, with the number m of participants of a round.

    Yields:
        Features (m, d), for d features, and labels (m).
    """
    size = settings.participants
    for start in range(0, len(records.labels) - size + 1, size):
        yield records.features[start : start + size], records.labels[start : start + size]


def mean_gradients(models: Floats, features: Floats, labels: Integers) -> Floats:
    """Return the mean gradient of the cross-entropy over m records at each model.

    Args:
        models: weights of each class, (S, d, classes), for S runs and d features.
        features: features of the records, (m, d).
        labels: classes of the records, from 0, (m).

    Returns:
        Gradients, (S, d, classes).
    """
    count, dimension, classes = models.shape
    # One product of matrices gives the outputs of all models.
    flat = models.transpose(1, 0, 2).reshape(dimension, count * classes)
    logits = (features @ flat).reshape(len(labels), count, classes)
    logits -= logits.max(axis=-1, keepdims=True)
    # Residuals are the softmax probabilities, minus 1 for the class of the record.
    residuals = np.exp(logits)
    residuals /= residuals.sum(axis=-1, keepdims=True)
    residuals[np.arange(len(labels)), :, labels] -= 1.0
    gradients = features.T @ residuals.reshape(len(labels), count * classes) / np.float32(len(labels))
    by_model: Floats = gradients.reshape(dimension, count, classes).transpose(1, 0, 2)
    return by_model


def into_ball(models: Floats, radius: float) -> Floats:
    """Return each model projected onto the ball of a radius around 0.

    Args:
        models: weights of each class, (S, d, classes), for S runs and d features.
        radius: radius of the ball in the Euclidean norm of all weights of a model.

    Returns:
        The models in the ball, (S, d, classes). Models in the ball already are unchanged.
    """
    norms = np.sqrt(np.sum(np.square(models), axis=(1, 2), keepdims=True))
    positive_norms = np.maximum(norms, np.finfo(np.float32).tiny)
    scaled: Floats = models * np.minimum(1.0, radius / positive_norms)
    return scaled


def accuracies(models: Floats, features: Floats, labels: Integers) -> npt.NDArray[np.float64]:
    """Return the share of records that each model classifies correctly.

    A model predicts the class of its largest output.

    Args:
        models: weights of each class, (S, d, classes), for S runs and d features.
        features: features of the T records, (T, d).
        labels: classes of the records, from 0, (T).

    Returns:
        The shares, (S).
    """
    predicted = np.stack([np.argmax(features @ model, axis=1) for model in models])
    return np.asarray(np.mean(predicted == labels, axis=1), dtype=np.float64)
