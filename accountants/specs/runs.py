"""The specs that contain other mechanisms, and `Spec`, the union of all specs."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal

from typing_extensions import TypeAliasType

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import (
    DRAWN,
    POPULATION,
    RATE,
    SAMPLING,
    Clients,
    Level,
    Quantity,
    SpecSampling,
    Tagged,
    Times,
    request,
)
from epsilond.accountants.quantities.mechanisms import (
    ALLOCATED_STEPS,
    EPOCHS,
    KEPT,
    LARGEST_BATCH,
    LEVEL,
    RECORDS_OF_ONE_CLIENT,
    REPORT_DIMENSION,
    TIMES_CHOSEN,
)
from epsilond.accountants.specs.gaussian import Gaussian
from epsilond.accountants.specs.mechanisms import Mechanism
from epsilond.accountants.specs.nested import most_summed_clients, parts_of, reject_enclosed_draws, reject_selection
from epsilond.accountants.specs.primitives import KIND, Primitive
from epsilond.accountants.specs.projected_sgd import ProjectedSgd
from epsilond.accountants.specs.selection.repetitions import Repetitions

MECHANISMS = Quantity(
    description="mechanisms that are run one after another, in this order. Each may depend on the outputs of "
    "earlier ones"
)
MECHANISM = Quantity(description="inner mechanism, to which the other fields of this object apply")
BATCH_MECHANISM = Quantity(description="mechanism that is run on every batch")
RUN = Quantity(description="description of what was run: one mechanism, or several that are composed")
REPETITIONS = Quantity(description="distribution of the number of runs of which the best is released")
MOST_COMPOSED = 10_000
"""Largest number of mechanisms in a list; a longer run of equal mechanisms is `Repeated`."""


@request
class Subsampled:
    """Runs `mechanism` on a fresh random batch. Give `rate`, or `batch_size` and `population`.

    `poisson`: every record independently with probability `rate`. `without-replacement`: a uniform subset of
    `batch_size` records. `with-replacement`: `batch_size` independent uniform draws; a record counts as often as it is
    drawn. `full`: every record, no amplification. `shuffled-epochs`: each of `epochs` epochs permutes the records and
    cuts them into batches of `batch_size`, and `mechanism` is run on every batch. A remainder is a smaller last batch,
    or is left out.

    `largest_batch` truncates Poisson batches: of more drawn records, a uniform subset of this size is kept. The other
    drawn records do not enter this batch. Then `population` is the number of records. Under add-or-remove-one it is
    that of the larger data set.

    `records_of_one_client` bounds the number of records of one client, where `level` is `records` and clients are
    protected. Records are drawn from those of all clients together, and `noise_multiplier` refers to the norm bound of
    one record. Without this field it refers to the whole contribution of a client, and the draw of records does not
    protect the client.

    Admits: fresh draws that do not depend on the data. The amplified ε has two conditions. The members of a batch stay
    secret, and the mechanism receives a batch of fixed size as a set (no order, place or name). An answer that uses
    them declares them. A mechanism for a fixed number of records or clients is not run on a batch of random size.

    `level` says whether records or clients are drawn. If it is absent, the protected unit is drawn, and some specs have
    two readings. If records are protected and `mechanism` draws again, it may draw from the batch, or each drawn client
    may draw among its own records. There is only one reading if an outer draw is of records. If clients are protected,
    a draw below a draw of clients may be among the records of a client. A draw of records that is not below a draw of
    clients may be among the records of one client, or of all clients. The answer covers both readings. If no bound
    covers both, the spec is rejected: set `records` or `clients` (docs/decisions/0004-two-level-sampling.md).
    """

    primitive: ClassVar[Primitive | None] = None
    kind: Annotated[Literal["subsampled"], KIND] = "subsampled"
    sampling: Annotated[SpecSampling, SAMPLING]
    rate: Annotated[float | None, RATE] = None
    batch_size: Annotated[int | None, DRAWN] = None
    population: Annotated[int | None, POPULATION] = None
    largest_batch: Annotated[int | None, LARGEST_BATCH] = None
    records_of_one_client: Annotated[int | None, RECORDS_OF_ONE_CLIENT] = None
    epochs: Annotated[int | None, EPOCHS] = None
    level: Annotated[Level | None, LEVEL] = None
    mechanism: Annotated[Spec, MECHANISM]

    def check(self) -> None:
        """Require the fields that this way of sampling needs, and a mechanism that can be run on such a batch.

        Raises:
            InvalidInput: a field is missing, superfluous or contradicts another one, or the mechanism does not fit.
        """
        has_parts = not isinstance(self.mechanism, Gaussian)
        if has_parts:
            self._check_inner_allocations()
        self._check_levels()
        if has_parts:
            self._check_shuffled()
            self._check_summed_clients()
            reject_selection(self.mechanism)
            self._check_draws_inside()
        self._check_records_of_one_client()
        if self.sampling != "poisson" and self.largest_batch is not None:
            raise InvalidInput.at("/largest_batch", "only Poisson batches have a largest size", allowed="poisson")
        if self.sampling == "shuffled-epochs":
            self._check_epochs()
            return
        if self.epochs is not None:
            raise InvalidInput.at("/epochs", "is a field of shuffled epochs", allowed="sampling shuffled-epochs")
        if self.largest_batch is not None or self.sampling != "full":
            self._check_counts()

    def _check_counts(self) -> None:
        """Require the fields that determine how many records or clients are in a batch, without contradictions."""
        has_rate, has_size = self.rate is not None, self.batch_size is not None
        has_population = self.population is not None
        if self.largest_batch is not None:
            if has_size or not (has_rate and has_population):
                raise InvalidInput.at("/population", "a largest batch needs rate and population, and no batch_size")
            return
        if has_size != has_population or has_rate == has_size:
            raise InvalidInput.at("/rate", "give either rate, or batch_size and population")
        if self.sampling != "with-replacement":
            self._check_batch_fits()
        elif has_rate:
            raise InvalidInput.at("/rate", "sampling with replacement needs batch_size and population")

    def _check_batch_fits(self) -> None:
        """Reject a batch that is larger than its population. Either both numbers are given, or neither is."""
        if (self.batch_size or 0) > (self.population or 0):
            raise InvalidInput.at("/batch_size", "a batch cannot exceed its population", allowed=f"≤ {self.population}")

    def _check_inner_allocations(self) -> None:
        """Reject shuffled epochs and random allocations inside a batch, because they divide all units among batches."""
        for part in parts_of(self.mechanism):
            is_shuffled_epochs = isinstance(part, Subsampled) and part.sampling == "shuffled-epochs"
            if is_shuffled_epochs or isinstance(part, RandomAllocation):
                raise InvalidInput.at("/mechanism/kind", "divides all units among batches, and is not run on a batch")

    def _check_epochs(self) -> None:
        """Require the counts of shuffled epochs, and a mechanism that takes a batch as it is."""
        if None in (self.batch_size, self.population, self.epochs) or self.rate is not None:
            raise InvalidInput.at("/sampling", "shuffled epochs need batch_size, population and epochs, and no rate")
        self._check_batch_fits()
        if any(isinstance(part, Subsampled | Shuffled | ProjectedSgd) for part in parts_of(self.mechanism)):
            message = "a batch of a shuffled epoch is not drawn from again"
            raise InvalidInput.at("/mechanism/kind", message, allowed="a mechanism without random draws")

    def _check_levels(self) -> None:
        """Require that draws inside a batch of records are of its records, and from as many as the batch has."""
        fault = self._fault_of_records() if self.level == "records" else None
        if fault is not None:
            raise InvalidInput(fault)

    @property
    def may_be_of_records(self) -> bool:
        """True if this can be a draw of records, that is, if every draw inside it can be made from its batch."""
        return self._fault_of_records() is None

    def _fault_of_records(self) -> Fault | None:
        """Return the fault of the first inner draw that cannot be made from a batch of records; None if all can.

        An inner draw must be of records, and its population must be the outer batch. If it draws all of them, the next
        inner draw is made from the same batch, and is checked too.
        """
        inner, pointer = self.mechanism, "/mechanism"
        while isinstance(inner, Subsampled):
            if inner.level == "clients":
                return Fault(f"{pointer}/level", "clients are drawn before their records", allowed="records")
            has_both_sizes = self.batch_size is not None and inner.population is not None
            if has_both_sizes and inner.population != self.batch_size:
                message = "a batch of a batch is drawn from as many records as that has"
                return Fault(f"{pointer}/population", message, allowed=f"{self.batch_size}")
            if inner.sampling != "full":
                return None
            inner, pointer = inner.mechanism, f"{pointer}/mechanism"
        return None

    def _check_draws_inside(self) -> None:
        """Reject draws inside this batch that can only be made from the whole data set."""
        if self.sampling != "full":
            reject_enclosed_draws(self.mechanism)

    def _check_records_of_one_client(self) -> None:
        """Require a sampling to which a bound on the number of records of one client applies, if there is one.

        Raises:
            InvalidInput: the level is not `records`, records may be drawn twice, or the bound exceeds their number.
        """
        if self.records_of_one_client is None:
            return
        pointer = "/records_of_one_client"
        if self.level != "records":
            raise InvalidInput.at("/level", "is needed where the records of one client are counted", allowed="records")
        if self.sampling in ("with-replacement", "shuffled-epochs") or self.largest_batch is not None:
            message = "is for records that are drawn at most once, in batches that are not truncated"
            raise InvalidInput.at(pointer, message, allowed="poisson, without-replacement, full")
        if self.records_of_one_client > (self.population or self.records_of_one_client):
            raise InvalidInput.at(pointer, "exceeds the number of all records", allowed=f"≤ {self.population}")

    def _check_shuffled(self) -> None:
        """Require that a draw before shuffling is of a fixed number of clients, the number of reports.

        Raises:
            InvalidInput: the batch has no fixed size, its size is not the number of reports, or no clients are drawn.
        """
        for part in parts_of(self.mechanism):
            if not isinstance(part, Shuffled) or self.sampling == "full":
                continue
            if self.sampling != "without-replacement" or self.batch_size is None:
                message = "a shuffled round has a fixed number of reports: give batch_size and population"
                raise InvalidInput.at("/sampling", message, allowed="without-replacement, full")
            if self.batch_size != part.clients:
                message = "every client of the batch sends one report"
                raise InvalidInput.at("/batch_size", message, allowed=f"{part.clients}")
            if self.level != "clients":
                raise InvalidInput.at("/level", "before shuffling, clients are drawn", allowed="clients")

    def _check_summed_clients(self) -> None:
        """Require that a batch of clients always has as many clients as a sum that is run on it needs.

        Raises:
            InvalidInput: the number of clients in a batch is random or too small.
        """
        needed = most_summed_clients(self.mechanism)
        if self.level == "records" or self.sampling == "full" or needed == 1:
            return
        if self.sampling != "without-replacement":
            message = "a sum over a given number of clients is not run on a batch with a random number of them"
            raise InvalidInput.at("/sampling", message, allowed="without-replacement, full, or any at level records")
        if self.batch_size is None or self.batch_size < needed:
            message = "the sum that is run on a batch is over more clients"
            raise InvalidInput.at("/batch_size", message, allowed=f"≥ {needed}, or any at level records")

    @property
    def inclusion_probability(self) -> float:
        """Probability that a given record is drawn at least once. A truncated batch may then still leave it out."""
        if self.sampling in ("full", "shuffled-epochs"):
            return 1.0
        if self.rate is not None:
            return self.rate
        batch_size, population = self.batch_size or 1, self.population or 1
        if self.sampling != "with-replacement":
            return batch_size / population
        if population == 1:
            return 1.0
        log_never_drawn = batch_size * math.log1p(-1.0 / population)
        return -math.expm1(log_never_drawn)


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
        """Require a mechanism that a single client can run on its own data.

        Raises:
            InvalidInput: the mechanism, or one inside it, shuffles, involves many clients or selects the best run.
        """
        for part in parts_of(self.mechanism):
            if isinstance(part, Shuffled | ProjectedSgd | RandomAllocation):
                raise InvalidInput.at("/mechanism/kind", "is not something that one client runs")
        draws = [part for part in parts_of(self.mechanism) if isinstance(part, Subsampled)]
        if any(draw.sampling == "shuffled-epochs" for draw in draws):
            raise InvalidInput.at("/mechanism/sampling", "is not something that one client runs")
        if any(draw.level == "clients" for draw in draws):
            raise InvalidInput.at("/mechanism/level", "one client draws among its own records", allowed="records")
        if most_summed_clients(self.mechanism) > 1:
            raise InvalidInput.at("/mechanism/clients", "one client's report is no sum over clients", allowed="1")
        reject_enclosed_draws(self.mechanism)
        reject_selection(self.mechanism)


@request
class RandomAllocation:
    """Runs `mechanism` on `steps` batches in each of `epochs` epochs. A unit is in `times_chosen` batches of each.

    The batches of a unit are a uniformly random set of that many batches. If `kept` is false, the set is drawn again in
    every epoch. If `kept` is true, the set of the first epoch serves in all epochs. The unit is the protected one.

    Admits: a set for each unit that is independent of the data and of the sets of all other units. The size of a batch
    is then random. A batch may depend on outputs of earlier batches. The sets stay secret. Under replace-one and
    zero-out-one a mechanism that is no noisy sum may act differently on a batch without the unit. The bound then also
    holds if the sets are public.

    Several releases from one batch are a `composed` or `repeated` mechanism.

    Not covered: batches of a fixed size, such as those of a shuffled list, where the sets depend on each other.
    """

    primitive: ClassVar[Primitive | None] = None
    kind: Annotated[Literal["random_allocation"], KIND] = "random_allocation"
    steps: Annotated[int, ALLOCATED_STEPS]
    times_chosen: Annotated[int, TIMES_CHOSEN]
    kept: Annotated[bool, KEPT]
    epochs: Annotated[int, EPOCHS]
    mechanism: Annotated[Spec, BATCH_MECHANISM]

    def check(self) -> None:
        """Require that an epoch has enough batches, and a mechanism that takes a batch as it is.

        Raises:
            InvalidInput: `times_chosen` exceeds `steps`, or the mechanism draws, shuffles or selects.
        """
        if self.times_chosen > self.steps:
            message = "more batches are chosen than an epoch has"
            raise InvalidInput.at("/times_chosen", message, allowed=f"≤ {self.steps}")
        reject_selection(self.mechanism)
        for part in parts_of(self.mechanism):
            if isinstance(part, Subsampled | Shuffled | ProjectedSgd | RandomAllocation):
                message = f"{part.kind} is not run on a batch of an allocation"
                raise InvalidInput.at(
                    "/mechanism/kind", message, allowed="a mechanism, or several composed or repeated"
                )


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


@request
class SelectBest:
    """Runs `mechanism` a random number of times, and releases only the best output, as in hyper-parameter tuning.

    Admits: any total order of outputs that is fixed in advance, with ties broken by independent random numbers. The
    number of runs is drawn independently of the data and of the outputs. Runs may have different settings, such as
    learning rates, that are drawn anew for each run in the same way. Neither the other outputs nor the number of runs
    are seen.
    """

    primitive: ClassVar[Primitive | None] = None
    kind: Annotated[Literal["select_best"], KIND] = "select_best"
    mechanism: Annotated[Spec, MECHANISM]
    repetitions: Annotated[Repetitions, REPETITIONS]


Spec = TypeAliasType(
    "Spec",
    Annotated[
        Mechanism | Subsampled | Shuffled | Repeated | Composed | ProjectedSgd | RandomAllocation | SelectBest,
        Tagged("kind"),
    ],
)
