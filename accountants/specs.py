"""The Spec language: frozen data that says what was run. Its meaning never changes.

`noise_multiplier` is σ over the bound C on the ℓ2 norm of one contribution, whatever the relation; the relation then
fixes the sensitivity (C for add-or-remove-one and zero-out-one, 2C for replace-one). The same holds of
`scale_multiplier` and the ℓ1 norm. Kinds that carry a sensitivity or a guarantee of their own mean it for the relation
of the request, and nothing is doubled. A `Spec` is told apart by its `kind`; what can be proved of it is the theorems'
business.

Each kind says which mechanisms it admits. A certified number holds for all of them, so what a kind leaves open costs
privacy: name the narrowest kind that is so. Where a request protects clients, read *client* for *record*: one client
makes one contribution, or sends one report, of everything it has. What a kind demands of the data or of the program is
repeated in every answer as a declared condition.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from typing_extensions import TypeAliasType

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import (
    BATCHES,
    CONVEX,
    DRAWN,
    L1_SENSITIVITY,
    L2_SENSITIVITY,
    LEVEL,
    LINF_SENSITIVITY,
    NOISE_SCHEDULE,
    POPULATION,
    RATE,
    RATIOS,
    RELEASE,
    REPORT_DIMENSION,
    ROUNDS,
    SAMPLING,
    SMOOTHNESS,
    STEP_SCHEDULE,
    SUFFIX_FRACTION,
    Batches,
    Categories,
    Clients,
    DecayRate,
    Dimension,
    Epsilon,
    IntegerSensitivity,
    Level,
    Lipschitz,
    NoiseLevels,
    NoiseMultiplier,
    Participants,
    PureDelta,
    Quantity,
    Radius,
    Release,
    Sampling,
    ScaleMultiplier,
    StrongConvexity,
    Tagged,
    Times,
    request,
)
from epsilond.accountants.schedules import Schedule as Schedule  # noqa: PLC0414  simulators read it from here
from epsilond.accountants.schedules import demand_length

KIND = Quantity(description="which mechanism this is")
MECHANISMS = Quantity(description="the mechanisms, run one after another, each free to depend on what came before")
MECHANISM = Quantity(description="the mechanism this one is made of")
MOST_COMPOSED = 10_000
DEEPEST = 12


@request
class Gaussian:
    """Adds N(0, σ²) per coordinate to a sum of contributions of ℓ2 norm at most C, with σ = noise_multiplier · C.

    Admits: a sum to which each record adds one vector, whatever the other records are. A record that is absent, not
    drawn or zeroed adds exactly zero, and the noise stays the same: neither a mean over the records present nor noise
    that each record brings along is one. Only the noisy sum is seen.
    """

    kind: Annotated[Literal["gaussian"], KIND] = "gaussian"
    noise_multiplier: NoiseMultiplier


@request
class Laplace:
    """Adds Laplace noise of scale b per coordinate to a sum of contributions of ℓ1 norm at most C.

    b = scale_multiplier · C. The relation gives the sensitivity: 2C for replace-one, C for the others.

    Admits: what `Gaussian` admits, with Laplace noise.
    """

    kind: Annotated[Literal["laplace"], KIND] = "laplace"
    scale_multiplier: ScaleMultiplier


@request
class DiscreteLaplace:
    """Adds two-sided geometric noise, P(y) ∝ e^(−decay_rate·|y|) on the integers, to each coordinate of integers.

    `sensitivity` is the ℓ1 distance of the integers on any two data sets that are neighbours in the request's relation.

    Admits: integers that depend on the data in any way within that distance. They need not be a sum, and a zeroed
    record may count where an absent one does not: 1000 |S| + Σ x has distance 1 under zero-out-one if every x is 0 or
    1. So a Poisson batch of them is thinned under zero-out-one (δ' = q δ at the same ε) and not amplified.
    """

    kind: Annotated[Literal["discrete_laplace"], KIND] = "discrete_laplace"
    decay_rate: DecayRate
    sensitivity: IntegerSensitivity


@request
class TruncatedDiscreteLaplace:
    """Adds noise with P(y) ∝ e^(−decay_rate·|y|) on {−noise_levels, …, noise_levels} to each of `dimension` integers.

    The sensitivities bound the distance of the integers, in grid steps, on any two neighbours in the request's
    relation; a real bound means its floor. Outputs that only one of two neighbours can give are infinite losses.

    Admits: integers that depend on the data in any way within those distances, as `DiscreteLaplace` does.
    """

    kind: Annotated[Literal["truncated_discrete_laplace"], KIND] = "truncated_discrete_laplace"
    noise_levels: NoiseLevels
    decay_rate: DecayRate
    dimension: Dimension
    l1_sensitivity: Annotated[float, L1_SENSITIVITY]
    linf_sensitivity: Annotated[float, LINF_SENSITIVITY]
    l2_sensitivity: Annotated[float | None, L2_SENSITIVITY] = None


@request
class RandomizedResponse:
    """Each record reports its own category with probability e^ε/(e^ε + k − 1), any other one with 1/(e^ε + k − 1).

    `epsilon` is meant for replacing a record's category by another, whatever the request's relation.

    Admits: reports that are seen with the names of their records, so that a batch shows who is in it and a draw only
    thins (δ' = q δ at the same ε). For reports without names or order say `shuffled`. A zeroed record is answered as
    some category would be, fixed or random; an absent one sends nothing, so nothing bounds add-or-remove-one.
    """

    kind: Annotated[Literal["randomized_response"], KIND] = "randomized_response"
    epsilon: Epsilon
    categories: Categories


@request
class Approximate:
    """Some mechanism of which nothing is known but that it is (ε, δ)-differentially private in the request's relation.

    δ = 0 is allowed: a pure guarantee.

    Admits: whatever keeps that guarantee. Under replace-one and zero-out-one it may tell how many records there are,
    and what it makes of a zeroed record need not be what it makes of an absent one.
    """

    kind: Annotated[Literal["approximate"], KIND] = "approximate"
    epsilon: Epsilon
    delta: PureDelta


@request
class Subsampled:
    """Runs `mechanism` on a fresh random batch. Give `rate`, or `batch_size` and `population`.

    `poisson`: every record independently with probability `rate`. `without-replacement`: a uniform subset of
    `batch_size` records. `with-replacement`: `batch_size` independent uniform draws, a record counts as often as it
    is drawn. `full`: every record, no amplification.

    Admits: fresh draws, whatever the data are. That nobody sees who is in a batch, and that the mechanism is told a
    batch of fixed size as a set (no order, place or name), are conditions of the amplified ε; an answer that needs them
    declares them. A mechanism that needs a fixed number of records or clients is not run on a batch of random size.

    `level` says what is drawn. Absent, it is the unit that is protected. For a record it stays open where `mechanism`
    draws again, unless records are drawn above it: the answer then covers both readings, a batch of a batch, and
    clients who then draw among their own records. For a client it stays open below a draw of clients, where it may be
    one of the client's records. For a client, records that no draw of clients stands above may be its own or drawn from
    all clients' together. Where no bound covers both readings the spec is refused: say `records` or `clients`
    (docs/decisions/0004-two-level-sampling.md).
    """

    kind: Annotated[Literal["subsampled"], KIND] = "subsampled"
    sampling: Annotated[Sampling, SAMPLING]
    rate: Annotated[float | None, RATE] = None
    batch_size: Annotated[int | None, DRAWN] = None
    population: Annotated[int | None, POPULATION] = None
    level: Annotated[Level | None, LEVEL] = None
    mechanism: Annotated[Spec, MECHANISM]

    def check(self) -> None:
        """Either `rate` alone, or `batch_size` of `population`; drawing with replacement needs the counts."""
        self._check_levels()
        self._check_shuffled()
        given = (self.rate is not None, self.batch_size is not None, self.population is not None)
        if self.sampling == "full":
            return
        if given not in {(True, False, False), (False, True, True)}:
            raise InvalidInput.at("/rate", "give either rate, or batch_size and population")
        if self.sampling == "with-replacement":
            if self.rate is not None:
                raise InvalidInput.at("/rate", "sampling with replacement needs batch_size and population")
        elif (self.batch_size or 0) > (self.population or 0):
            raise InvalidInput.at("/batch_size", "a batch cannot exceed its population", allowed=f"≤ {self.population}")

    def _check_levels(self) -> None:
        """A batch of records holds no clients to draw, and a batch of it is drawn from as many records as it has."""
        if self.level == "records" and (fault := self._fault_of_records()):
            raise InvalidInput(fault)

    @property
    def may_be_of_records(self) -> bool:
        """Whether what is drawn from its batch can be drawn from a batch of records."""
        return self._fault_of_records() is None

    def _fault_of_records(self) -> Fault | None:
        """What below it contradicts a batch of records. A full batch of a batch is that batch."""
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
        """Before shuffling, clients are drawn, and as many as report."""
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
        """The probability that a given record is in the batch at least once."""
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

    A trusted shuffler passes on the reports of a round in a uniformly random order and nothing else. Neighbours differ
    by replacing one client's contribution; what `mechanism` is for its own report is a replace-one guarantee. Bounds
    that depend on the number of coordinates of a report need `dimension`; the others hold for any.

    Admits: one `mechanism` that is the same for every client and whose report depends on its client's contribution
    alone, so that it names no sender. The number of reports is known to all. What `mechanism` draws are records of its
    client.
    """

    kind: Annotated[Literal["shuffled"], KIND] = "shuffled"
    clients: Clients
    dimension: Annotated[int | None, REPORT_DIMENSION] = None
    mechanism: Annotated[Spec, MECHANISM]

    def check(self) -> None:
        """What a client runs is neither shuffled itself nor an algorithm of many clients."""
        if any(isinstance(part, Shuffled | ProjectedSgd) for part in _parts(self.mechanism)):
            raise InvalidInput.at("/mechanism/kind", "is not something that one client runs")
        if any(isinstance(part, Subsampled) and part.level == "clients" for part in _parts(self.mechanism)):
            raise InvalidInput.at("/mechanism/level", "one client draws among its own records", allowed="records")


def _parts(spec: Spec) -> Iterator[Spec]:
    """The spec and everything inside it."""
    yield spec
    nested = spec.mechanisms if isinstance(spec, Composed) else (getattr(spec, "mechanism", None),)
    for mechanism in nested:
        if mechanism is not None:
            yield from _parts(mechanism)


@request
class Repeated:
    """`times` independent runs of `mechanism`, each free to depend on what came before.

    Admits: runs that each fit the words of `mechanism` whatever came before, with parameters fixed in advance. All
    outputs are seen.
    """

    stepped: ClassVar[bool] = True
    """A product of equal runs: it may be stopped between two, and a ledger keeps what was not run."""
    kind: Annotated[Literal["repeated"], KIND] = "repeated"
    times: Times
    mechanism: Annotated[Spec, MECHANISM]


@request
class Composed:
    """The mechanisms one after another, each free to depend on what came before; their parameters fixed in advance.

    Admits: runs that each fit the words of their mechanism whatever came before. All outputs are seen.
    """

    kind: Annotated[Literal["composed"], KIND] = "composed"
    mechanisms: Annotated[tuple[Spec, ...], MECHANISMS]

    def check(self) -> None:
        """Between one and ten thousand mechanisms."""
        if not 1 <= len(self.mechanisms) <= MOST_COMPOSED:
            raise InvalidInput.at("/mechanisms", "has too few or too many entries", allowed=f"1 to {MOST_COMPOSED}")


def first_step_of_suffix(fraction: float | None, steps: int) -> int:
    """⌈αT⌉, α the decimal it is written as; 1 without a fraction."""
    return 1 if fraction is None else math.ceil(Fraction(repr(fraction)) * steps)


@request
class ProjectedSgd:
    """Noisy projected gradient descent of which one model is released and nothing else is seen.

    W_t = Π(W_{t−1} − η_t (1/m) Σ_{j ∈ B_t} (∇ℓ(W_{t−1}, x_j) + σ_t Z_{t,j})), Z_{t,j} ~ N(0, I), Π the projection onto
    the ball of radius ρ, W_0 in it and independent of the data. Each of the n clients holds one record; each of the m
    clients of a batch adds its own noise, so that the mean carries σ_t/√m. Gradients are used as they are: no clipping.

    `batches`: `shuffled`, a uniform partition into ⌊n/m⌋ batches of m, drawn once, kept secret, and gone through in
    its order, over and over if there are more steps than batches (clients left over never take part); `cyclic`, such
    a partition fixed in advance, which anyone may know; `without-replacement`, a fresh uniform batch in each step.
    `rounds` is the number T of steps; absent, one pass of ⌊n/m⌋. `release`: W_T (`last`), or W_τ with τ uniform on
    1, …, T (`random-stop`) or on ⌈αT⌉, …, T (`suffix`, α = `suffix_fraction`). Every record's loss is L-Lipschitz on
    the ball, and convex unless `convex` is false; β-smooth if `smoothness` is given, λ-strongly convex with λ =
    `strong_convexity`. zero-out-one: the record's gradient is zero, its client still adds noise.

    Admits: exactly n clients in both worlds. A batch of another number cannot be run on, and in a `cyclic` order a
    place may be anyone's, so that drawing the n clients from a larger population only thins.
    """

    scale: ClassVar = RATIOS

    kind: Annotated[Literal["projected_sgd"], KIND] = "projected_sgd"
    clients: Clients
    participants: Participants
    rounds: Annotated[int | None, ROUNDS] = None
    batches: Annotated[Batches, BATCHES] = "shuffled"
    lipschitz: Lipschitz
    radius: Radius
    smoothness: Annotated[float | None, SMOOTHNESS] = None
    strong_convexity: StrongConvexity = 0.0
    convex: Annotated[bool, CONVEX] = True
    step_schedule: Annotated[Schedule, STEP_SCHEDULE]
    noise_schedule: Annotated[Schedule, NOISE_SCHEDULE]
    release: Annotated[Release, RELEASE] = "last"
    suffix_fraction: Annotated[float | None, SUFFIX_FRACTION] = None

    def check(self) -> None:
        """m ≤ n, λ ≤ β, λ = 0 unless convex, a suffix has its fraction, lists are as long as the run."""
        if self.participants > self.clients:
            raise InvalidInput.at("/participants", "exceeds the number of clients", allowed=f"≤ {self.clients}")
        if self.smoothness is not None and self.strong_convexity > self.smoothness:
            raise InvalidInput.at("/strong_convexity", "exceeds the smoothness", allowed=f"≤ {self.smoothness:g}")
        if self.strong_convexity > 0 and not self.convex:
            raise InvalidInput.at("/strong_convexity", "a strongly convex loss is convex", allowed="0")
        if (self.release == "suffix") != (self.suffix_fraction is not None):
            raise InvalidInput.at("/suffix_fraction", "belongs to the release suffix, and is needed there")
        demand_length(self.step_schedule, self.steps, at="/step_schedule")
        demand_length(self.noise_schedule, self.steps, at="/noise_schedule")

    @property
    def period(self) -> int:
        """Batches in one pass over the clients."""
        return self.clients // self.participants

    @property
    def steps(self) -> int:
        """How many steps are run."""
        return self.period if self.rounds is None else self.rounds

    @property
    def first_stop(self) -> int:
        """The first step whose model may be the released one."""
        return self.steps if self.release == "last" else first_step_of_suffix(self.suffix_fraction, self.steps)


Spec = TypeAliasType(
    "Spec",
    Annotated[
        Gaussian
        | Laplace
        | DiscreteLaplace
        | TruncatedDiscreteLaplace
        | RandomizedResponse
        | Approximate
        | Subsampled
        | Shuffled
        | Repeated
        | Composed
        | ProjectedSgd,
        Tagged("kind"),
    ],
)
