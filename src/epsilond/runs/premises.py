"""The premises that a privacy theorem has of a training run, with the remedy where one is contradicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True)
class Premise:
    """One premise (condition) of the theorem that proves the ε of a training run.

    Attributes:
        id: its name in statements, errors, ledgers and documents.
        statement: the premise as a full sentence.
        declaration: statement for which the caller may vouch in place of an observation. The premise was then not
            observed, or is contradicted. Empty if the caller's word is not enough.
    """

    id: str
    statement: str
    declaration: str = ""


FRESH_DRAW: Final = Premise(
    id="fresh-draw",
    statement="Each step used a batch of its own, drawn by the recorded sampling.",
    declaration="each batch was drawn by the recorded sampling, independently of all others",
)
ROWS: Final = Premise(
    id="one-row-per-record",
    statement="Each record of a batch gave one gradient, and each gradient entered the sum once.",
)
CLIPPING: Final = Premise(
    id="clipping",
    statement="Each gradient was clipped to the norm that the noise is scaled to.",
)
NOISE: Final = Premise(
    id="noise",
    statement="Each step added fresh Gaussian noise at the recorded multiplier.",
)
DIVISOR: Final = Premise(
    id="divisor",
    statement="The noisy sum was divided by a number that was fixed before the run.",
)
SAME_PARTS: Final = Premise(
    id="same-parts",
    statement="Optimizer, sampler and accountant stayed the same objects; none was replaced, rewound or cleared.",
    declaration="no result of the steps that are missing from the record was used or released",
)
PARAMETERS: Final = Premise(
    id="parameters",
    statement="Only recorded steps changed the parameters.",
    declaration="other changes of the parameters were computed from released models and public data only",
)
COHORT: Final = Premise(
    id="fresh-cohort",
    statement="The clients of each round were drawn by the recorded sampling, independently of all other rounds.",
    declaration="the clients of each round were drawn by the recorded sampling, independently of all other rounds",
)
UPDATES: Final = Premise(
    id="one-update-per-client",
    statement="Each client of a round gave at most one update, and each update entered the sum with the same weight.",
)
ROUNDS: Final = Premise(
    id="rounds",
    statement="Each round that released a model was recorded, once and in order.",
    declaration="no model of a round that is missing from the record was released",
)
RELEASES: Final = Premise(
    id="releases",
    statement="Only noisy aggregates were released.",
    declaration="metrics that clients reported were computed from public data or stayed with the server",
)
EVENT: Final = Premise(
    id="event",
    statement="The recorded event describes the mechanism that ran.",
    declaration="the recorded event describes the mechanism that ran",
)
CORRELATION: Final = Premise(
    id="noise-correlation",
    statement="The noise had the correlation of the recorded strategy matrix.",
)

PREMISES: Final = {
    premise.id: premise
    for premise in (
        FRESH_DRAW,
        ROWS,
        CLIPPING,
        NOISE,
        DIVISOR,
        SAME_PARTS,
        PARAMETERS,
        COHORT,
        UPDATES,
        ROUNDS,
        RELEASES,
        EVENT,
        CORRELATION,
    )
}
"""Every premise by its id."""

OUTSIDE_RECORDS: Final = (
    "Each record was preprocessed without reading other private records.",
    "The loss and the gradient of each record were computed from that record and released models only.",
    "Step sizes, noise and clipping norms were chosen from released models and public data only.",
    "The starting weights do not depend on these records, or the account of an earlier run covers them.",
    "Other runs on these records, and the choice of hyperparameters by such runs, are accounted for elsewhere.",
    "No metric, loss or statistic of these records was released next to the model.",
    "Each protected person contributes one record.",
    "The seeds and states of the random generators are secret, and were used for this run only.",
    "The number of records may be public: the sampling rate and the divisor depend on it.",
)
"""Sentences next to every ε of a run on records, because no observation of a run shows them."""
OUTSIDE_CLIENTS: Final = (
    "Each client represents one protected person.",
    "The starting weights do not depend on the clients' data, or the account of an earlier run covers them.",
    "Other runs with these clients, and the choice of hyperparameters by such runs, are accounted for elsewhere.",
    "The seeds and states of the random generators are secret, and were used for this run only.",
    "Step sizes, noise and clipping norms were chosen from released models and public data only.",
    "The server does not release single updates, metrics of clients, or the list of participants.",
    "The number of clients may be public: the sampling rate and the divisor depend on it.",
)
"""Sentences next to every ε of a federated run, because no observation of a run shows them."""
