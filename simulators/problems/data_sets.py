"""Small real data sets that ship with scikit-learn, split over clients, with logistic loss."""

from __future__ import annotations

import functools
from typing import Annotated, Literal

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import SAMPLES_PER_CLIENT, Clients, Quantity, request
from epsilond.extras import extra
from epsilond.simulators.problems.linear_model import LinearModelProblem
from epsilond.simulators.problems.losses import LOGISTIC
from epsilond.simulators.problems.populations import split, within_ball
from epsilond.simulators.problems.problem import Floats, Objective
from epsilond.simulators.problems.synthetic import BALL, LARGEST_DATA, OBJECTIVE, RIDGE, SEED

DataSet = Literal["breast-cancer", "digits"]
Split = Literal["iid", "by-label"]

KIND = Quantity(description="which learning problem this is")
DATA_SET = Quantity(
    description="breast-cancer (569 records, d = 30) or digits, odd against even (1797 records, d = 64); features are "
    "standardised, divided by √d and clipped to norm 1"
)
SPLIT = Quantity(
    description="how records are dealt to clients, as many to each: iid, at random; by-label, sorted by their class"
)


@request
class DataSetProblem:
    """Classification on real records. A client's population is the records that it is dealt.

    `samples_per_client` absent: as many as it is dealt, which is all that an empirical objective allows.
    """

    kind: Annotated[Literal["dataset"], KIND] = "dataset"
    data_set: Annotated[DataSet, DATA_SET] = "breast-cancer"
    clients: Clients
    samples_per_client: Annotated[int | None, SAMPLES_PER_CLIENT] = None
    split: Annotated[Split, SPLIT] = "iid"
    diameter: Annotated[float, BALL] = 20.0
    strong_convexity: Annotated[float, RIDGE] = 0.0
    objective: Annotated[Objective, OBJECTIVE] = "empirical"
    seed: Annotated[int, SEED] = 0

    def check(self) -> None:
        """A record for every client, and no data set beyond what is allowed."""
        records = _RECORDS[self.data_set]
        if self.clients > records:
            raise InvalidInput.at("/clients", "exceeds the records that there are", allowed=f"≤ {records}")
        dealt = records // self.clients
        samples = self.samples_per_client
        if self.objective == "empirical" and samples not in (None, dealt):
            raise InvalidInput.at("/samples_per_client", "is what a client is dealt if empirical", allowed=f"{dealt}")
        if samples is not None and samples * self.clients > LARGEST_DATA:
            raise InvalidInput.at("/samples_per_client", "times clients is too large", allowed=f"≤ {LARGEST_DATA}")

    def build(self) -> LinearModelProblem:
        """The problem; the same object where it was built before.

        Raises:
            InvalidInput: scikit-learn is not installed.
        """
        return _built(self)


_RECORDS: dict[DataSet, int] = {"breast-cancer": 569, "digits": 1797}


@functools.lru_cache(maxsize=8)
def _built(asked: DataSetProblem) -> LinearModelProblem:
    features, classes = _read(asked.data_set)
    generator = np.random.default_rng(np.random.SeedSequence(asked.seed))
    order = generator.permutation(len(classes))
    if asked.split == "by-label":
        order = order[np.argsort(classes[order], kind="stable")]
    targets = np.where(classes % 2 == 1, 1.0, -1.0)
    population = split(features, targets, asked.clients, order)
    return LinearModelProblem.of(
        LOGISTIC,
        population,
        samples_per_client=asked.samples_per_client or population.targets.shape[1],
        diameter=asked.diameter,
        strong_convexity=asked.strong_convexity,
        objective=asked.objective,
        described={"loss": "logistic", "population": population.targets.shape[1], "data_set": asked.data_set},
    )


@functools.cache
def _read(name: DataSet) -> tuple[Floats, Floats]:
    """Features of norm at most 1, and the class of each record."""
    with extra("simulate", "a data set"):
        from sklearn import datasets as sets  # noqa: PLC0415  a second of imports that few need

    load = sets.load_breast_cancer if name == "breast-cancer" else sets.load_digits
    features, classes = load(return_X_y=True)
    spread = np.std(features, axis=0)
    standard = (features - np.mean(features, axis=0)) / np.where(spread > 0.0, spread, 1.0)
    return within_ball(standard / np.sqrt(features.shape[1])), np.asarray(classes, dtype=np.float64)
