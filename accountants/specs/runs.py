"""The specs that contain other mechanisms, and `Spec`, the union of all specs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from typing_extensions import TypeAliasType

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import (
    DRAWN,
    LEVEL,
    POPULATION,
    RATE,
    REPORT_DIMENSION,
    SAMPLING,
    Clients,
    Level,
    Quantity,
    Sampling,
    Tagged,
    Times,
    request,
)
from epsilond.accountants.specs.mechanisms import Mechanism
from epsilond.accountants.specs.primitives import KIND, Primitive
from epsilond.accountants.specs.projected_sgd import ProjectedSgd

MECHANISMS = Quantity(description="the mechanisms in their order; each may depend on the outputs of earlier ones")
MECHANISM = Quantity(description="the inner mechanism")
MOST_COMPOSED = 10_000
"""Largest number of mechanisms in a list; a longer run of equal mechanisms is `Repeated`."""


@request
class Subsampled:
    """Runs `mechanism` on a fresh random batch. Give `rate`, or `batch_size` and `population`.

    `poisson`: every record independently with probability `rate`. `without-replacement`: a uniform subset of
    `batch_size` records. `with-replacement`: `batch_size` independent uniform draws; a record counts as often as it is
    drawn. `full`: every record, no amplification.

    Admits: fresh draws that do not depend on the data. The amplified ε has two conditions. The members of a batch stay
    secret, and the mechanism receives a batch of fixed size as a set (no order, place or name). An answer that uses
    them declares them. A mechanism for a fixed number of records or clients is not run on a batch of random size.

    `level` is the drawn unit. If absent, it is the protected unit. For a record the level is open if `mechanism` draws
    again, unless records are drawn above. The answer then covers both readings: a batch of a batch, and clients that
    draw among their own records. For a client the level is open below a draw of clients, where the draw may be among
    the client's records. For a client, records that are not below a draw of clients may be its own, or may be drawn
    from the records of all clients together. If no bound covers both readings, the spec is rejected: set `records` or
    `clients` (docs/decisions/0004-two-level-sampling.md).
    """

    primitive: ClassVar[Primitive | None] = None
    kind: Annotated[Literal["subsampled"], KIND] = "subsampled"
    sampling: Annotated[Sampling, SAMPLING]
    rate: Annotated[float | None, RATE] = None
    batch_size: Annotated[int | None, DRAWN] = None
    population: Annotated[int | None, POPULATION] = None
    level: Annotated[Level | None, LEVEL] = None
    mechanism: Annotated[Spec, MECHANISM]

    def check(self) -> None:
        """Require `rate`, or `batch_size` and `population`; sampling with replacement requires the two counts."""
        self._check_levels()
        self._check_shuffled()
        present = (self.rate is not None, self.batch_size is not None, self.population is not None)
        if self.sampling == "full":
            return
        if present not in {(True, False, False), (False, True, True)}:
            raise InvalidInput.at("/rate", "give either rate, or batch_size and population")
        if self.sampling == "with-replacement":
            if self.rate is not None:
                raise InvalidInput.at("/rate", "sampling with replacement needs batch_size and population")
        elif (self.batch_size or 0) > (self.population or 0):
            raise InvalidInput.at("/batch_size", "a batch cannot exceed its population", allowed=f"≤ {self.population}")

    def _check_levels(self) -> None:
        """Reject a draw of clients from a batch of records, and an inner draw with a wrong population."""
        if self.level == "records" and (fault := self._fault_of_records()):
            raise InvalidInput(fault)

    @property
    def may_be_of_records(self) -> bool:
        """True if the inner draws can be draws from a batch of records."""
        return self._fault_of_records() is None

    def _fault_of_records(self) -> Fault | None:
        """Return the first inner field that contradicts a batch of records. A full batch of a batch is that batch."""
        inner, pointer = self.mechanism, "/mechanism"
        while isinstance(inner, Subsampled):
            if inner.level == "clients":
                return Fault(f"{pointer}/level", "clients are drawn before their records", allowed="records")
            if None not in (self.batch_size, inner.population) and inner.population != self.batch_size:
                message = "a batch of a batch is drawn from as many records as that has"
                return Fault(f"{pointer}/population", message, allowed=f"{self.batch_size}")
            if inner.sampling != "full":
                return None
            inner, pointer = inner.mechanism, f"{pointer}/mechanism"
        return None

    def _check_shuffled(self) -> None:
        """Require that the draw before shuffling is of clients, as many as report."""
        for part in _parts(self.mechanism):
            if not isinstance(part, Shuffled) or self.sampling == "full":
                continue
            if self.sampling != "without-replacement" or self.batch_size is None:
                message = "a shuffled round has a fixed number of reports: give batch_size and population"
                raise InvalidInput.at("/sampling", message, allowed="without-replacement, full")
            if self.batch_size != part.clients:
                message = "every client of the batch sends one report"
                raise InvalidInput.at("/batch_size", message, allowed=f"{part.clients}")
            if self.level != "clients":
                raise InvalidInput.at("/level", "what is drawn before shuffling are clients", allowed="clients")

    @property
    def inclusion_probability(self) -> float:
        """Probability that a given record is in the batch at least once."""
        if self.sampling == "full":
            return 1.0
        if self.rate is not None:
            return self.rate
        batch_size, population = self.batch_size or 1, self.population or 1
        if self.sampling == "with-replacement":
            return 1.0 if population == 1 else -math.expm1(batch_size * math.log1p(-1.0 / population))
        return batch_size / population


@request
class Shuffled:
    """Each of `clients` clients runs `mechanism` on its own single contribution, and a shuffler permutes the reports.

    A trusted shuffler forwards only the reports of a round, in a uniformly random order. Neighbours differ by replacing
    one client's contribution. The guarantee of `mechanism` for its own report is a replace-one guarantee. Bounds that
    depend on the number of coordinates of a report need `dimension`; the others hold for any.

    Admits: one `mechanism` that is the same for every client. Its report depends only on its client's contribution, so
    it names no sender. The number of reports is public. The draws of `mechanism` are draws of records of its client.
    """

    primitive: ClassVar[Primitive | None] = None
    kind: Annotated[Literal["shuffled"], KIND] = "shuffled"
    clients: Clients
    dimension: Annotated[int | None, REPORT_DIMENSION] = None
    mechanism: Annotated[Spec, MECHANISM]

    def check(self) -> None:
        """Reject a mechanism that is shuffled itself or is an algorithm of many clients."""
        if any(isinstance(part, Shuffled | ProjectedSgd) for part in _parts(self.mechanism)):
            raise InvalidInput.at("/mechanism/kind", "is not something that one client runs")
        if any(isinstance(part, Subsampled) and part.level == "clients" for part in _parts(self.mechanism)):
            raise InvalidInput.at("/mechanism/level", "one client draws among its own records", allowed="records")


def _parts(spec: Spec) -> Iterator[Spec]:
    """Yield the spec and every spec inside it."""
    yield spec
    nested = spec.mechanisms if isinstance(spec, Composed) else (getattr(spec, "mechanism", None),)
    for mechanism in nested:
        if mechanism is not None:
            yield from _parts(mechanism)


@request
class Repeated:
    """`times` independent runs of `mechanism`. Each may depend on the outputs of earlier runs.

    Admits: runs with parameters fixed in advance, each of which fits `mechanism` for all outputs of earlier runs. All
    outputs are seen.
    """

    primitive: ClassVar[Primitive | None] = None
    stepped: ClassVar[bool] = True
    """True: a product of equal runs may be stopped between two runs, and a ledger then keeps the rest of the budget."""
    kind: Annotated[Literal["repeated"], KIND] = "repeated"
    times: Times
    mechanism: Annotated[Spec, MECHANISM]


@request
class Composed:
    """Mechanisms that run one after another. Each may depend on the outputs of earlier ones.

    Admits: runs with parameters fixed in advance, each of which fits its mechanism for all outputs of earlier runs. All
    outputs are seen.
    """

    primitive: ClassVar[Primitive | None] = None
    kind: Annotated[Literal["composed"], KIND] = "composed"
    mechanisms: Annotated[tuple[Spec, ...], MECHANISMS]

    def check(self) -> None:
        """Require between one and ten thousand mechanisms."""
        if not 1 <= len(self.mechanisms) <= MOST_COMPOSED:
            raise InvalidInput.at("/mechanisms", "has too few or too many entries", allowed=f"1 to {MOST_COMPOSED}")


Spec = TypeAliasType(
    "Spec",
    Annotated[Mechanism | Subsampled | Shuffled | Repeated | Composed | ProjectedSgd, Tagged("kind")],
)
