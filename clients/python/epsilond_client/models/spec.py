from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.batches import Batches
from ..models.release import Release
from ..models.sampling import Sampling
from ..models.spec_kind import SpecKind
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.schedule import Schedule


T = TypeVar("T", bound="Spec")


@_attrs_define
class Spec:
    """`approximate`: A mechanism of which only an (ε, δ) guarantee is known, in the relation of the request.

    δ = 0 is allowed: a pure guarantee.

    Admits: every mechanism with this guarantee. Under replace-one and zero-out-one its output may reveal the number of
    records. Its output for a zeroed record may differ from that for an absent record.

    `composed`: Mechanisms that run one after another. Each may depend on the outputs of earlier ones.

    Admits: runs with parameters fixed in advance, each of which fits its mechanism for all outputs of earlier runs. All
    outputs are seen.

    `discrete_laplace`: Adds two-sided geometric noise, P(y) ∝ e^(−decay_rate·|y|) on the integers, to each coordinate
    of integers.

    `sensitivity` is the ℓ1 distance of the integers on any two data sets that are neighbours in the request's relation.

    Admits: integers that depend on the data arbitrarily within that distance. They need not be a sum. A zeroed record
    may count where an absent one does not: 1000 |S| + Σ x has distance 1 under zero-out-one if every x is 0 or 1. So a
    Poisson batch of them is thinned under zero-out-one (δ' = q δ at the same ε) and not amplified.

    `gaussian`: Adds N(0, σ²) per coordinate to a sum of contributions of ℓ2 norm at most C, with σ = noise_multiplier ·
    C.

    Admits: a sum to which each record adds one vector that does not depend on the other records. A record that is
    absent, not drawn or zeroed adds exactly zero, and the noise stays the same. Only the noisy sum is seen.

    Not covered: dividing by the actual batch size, or adding noise per record.

    `laplace`: Adds Laplace noise of scale b per coordinate to a sum of contributions of ℓ1 norm at most C.

    b = scale_multiplier · C. The relation gives the sensitivity: 2C for replace-one, C for the others.

    Admits: the sums that `Gaussian` admits, with Laplace noise.

    `projected_sgd`: Noisy projected gradient descent that releases one model. Only this model is seen.

    W_t = Π(W_{t−1} − η_t (1/m) Σ_{j ∈ B_t} (∇ℓ(W_{t−1}, x_j) + σ_t Z_{t,j})), where Z_{t,j} ~ N(0, I), and Π is the
    projection onto the ball of radius ρ. W_0 is in the ball and independent of the data. Each of the n clients holds
    one record. Each of the m clients of a batch adds its own noise, so the noise of the mean is σ_t/√m. Gradients are
    not clipped.

    `batches`: `shuffled` is a uniform partition into ⌊n/m⌋ batches of m. It is drawn once and kept secret. Its batches
    are used in order, repeatedly if there are more steps than batches. Clients in no batch never take part. `cyclic` is
    such a partition that is fixed in advance and may be public. `without-replacement` is a fresh uniform batch in each
    step.

    `rounds` is the number T of steps; if absent, one pass of ⌊n/m⌋. `release`: W_T (`last`), or W_τ with τ uniform on
    1, …, T (`random-stop`) or on ⌈αT⌉, …, T (`suffix`, α = `suffix_fraction`). Every record's loss is L-Lipschitz on
    the ball, and convex unless `convex` is false. It is β-smooth if `smoothness` is given, and λ-strongly convex with
    λ = `strong_convexity`. Under zero-out-one the record's gradient is zero, and its client still adds noise.

    Admits: exactly n clients in both data sets. It does not run on a batch of a different number of clients. In a
    `cyclic` order every client may have every place, so drawing the n clients from a larger population only thins.

    `randomized_response`: Each record reports its own category with probability e^ε/(e^ε + k − 1), any other one with
    1/(e^ε + k − 1).

    `epsilon` is the guarantee for replacing a record's category by another, in every relation.

    Admits: reports that are seen with the names of their records. A batch then shows its members, and a draw only
    thins: δ' = q δ at the same ε. For reports without names or order use `shuffled`. A zeroed record is answered as
    some category would be, fixed or random. An absent record sends nothing, so add-or-remove-one has no bound.

    `repeated`: `times` independent runs of `mechanism`. Each may depend on the outputs of earlier runs.

    Admits: runs with parameters fixed in advance, each of which fits `mechanism` for all outputs of earlier runs. All
    outputs are seen.

    `shuffled`: Each of `clients` clients runs `mechanism` on its own single contribution, and a shuffler permutes the
    reports.

    A trusted shuffler forwards only the reports of a round, in a uniformly random order. Neighbours differ by replacing
    one client's contribution. The guarantee of `mechanism` for its own report is a replace-one guarantee. Bounds that
    depend on the number of coordinates of a report need `dimension`; the others hold for any.

    Admits: one `mechanism` that is the same for every client. Its report depends only on its client's contribution, so
    it names no sender. The number of reports is public. The draws of `mechanism` are draws of records of its client.

    `subsampled`: Runs `mechanism` on a fresh random batch. Give `rate`, or `batch_size` and `population`.

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

    `truncated_discrete_laplace`: Adds noise with P(y) ∝ e^(−decay_rate·|y|) on {−noise_levels, …, noise_levels} to each
    of `dimension` integers.

    The sensitivities bound the distance of the integers, in grid steps, on any two neighbours in the request's
    relation; a real bound means its floor. Outputs that are possible for only one of two neighbours have infinite loss.

    Admits: integers that depend on the data arbitrarily within those distances, as `discrete_laplace` does.

        Attributes:
            kind (SpecKind):
            epsilon (float | Unset): privacy loss bound ε of (ε, δ), natural logs
            delta (float | Unset): failure probability δ of (ε, δ), 0 for a pure guarantee
            mechanisms (list[Spec] | Unset): the mechanisms in their order; each may depend on the outputs of earlier ones
            decay_rate (float | Unset): decay of integer noise: its probability at y is proportional to e^(−α|y|)
            sensitivity (int | Unset): ℓ1 distance of the integers on neighbouring data, at its largest
            noise_multiplier (float | Unset): σ over the bound on the ℓ2 norm of one contribution to the noisy quantity,
                never over the sensitivity
            scale_multiplier (float | Unset): Laplace scale over the bound on the ℓ1 norm of one contribution (never over
                the sensitivity)
            clients (int | Unset): clients in the federation
            participants (int | Unset): clients that report in one round
            rounds (int | Unset): communication rounds
            batches (Batches | Unset):
            lipschitz (float | Unset): bound on the ℓ2 norm of one record's gradient
            radius (float | Unset): radius of the domain
            smoothness (float | Unset): Lipschitz constant of the gradient
            strong_convexity (float | Unset): strong convexity, 0 if only convex
            convex (bool | Unset): whether every record's loss is convex
            step_schedule (Schedule | Unset): `constant`: The same value at every step.

                `explicit`: Listed values, one for each step.

                `inverse-time`: `scale`/t at step t: η_t = 1/(λt) has scale 1/λ.
            noise_schedule (Schedule | Unset): `constant`: The same value at every step.

                `explicit`: Listed values, one for each step.

                `inverse-time`: `scale`/t at step t: η_t = 1/(λt) has scale 1/λ.
            release (Release | Unset):
            suffix_fraction (float | Unset): the released step is uniform on ⌈αT⌉, …, T (release `suffix` only)
            categories (int | Unset): categories a report is one of
            times (int | Unset): how often the mechanism is run
            mechanism (Spec | Unset): `approximate`: A mechanism of which only an (ε, δ) guarantee is known, in the relation
                of the request.

                δ = 0 is allowed: a pure guarantee.

                Admits: every mechanism with this guarantee. Under replace-one and zero-out-one its output may reveal the number
                of
                records. Its output for a zeroed record may differ from that for an absent record.

                `composed`: Mechanisms that run one after another. Each may depend on the outputs of earlier ones.

                Admits: runs with parameters fixed in advance, each of which fits its mechanism for all outputs of earlier runs.
                All
                outputs are seen.

                `discrete_laplace`: Adds two-sided geometric noise, P(y) ∝ e^(−decay_rate·|y|) on the integers, to each
                coordinate of integers.

                `sensitivity` is the ℓ1 distance of the integers on any two data sets that are neighbours in the request's
                relation.

                Admits: integers that depend on the data arbitrarily within that distance. They need not be a sum. A zeroed
                record
                may count where an absent one does not: 1000 |S| + Σ x has distance 1 under zero-out-one if every x is 0 or 1.
                So a
                Poisson batch of them is thinned under zero-out-one (δ' = q δ at the same ε) and not amplified.

                `gaussian`: Adds N(0, σ²) per coordinate to a sum of contributions of ℓ2 norm at most C, with σ =
                noise_multiplier · C.

                Admits: a sum to which each record adds one vector that does not depend on the other records. A record that is
                absent, not drawn or zeroed adds exactly zero, and the noise stays the same. Only the noisy sum is seen.

                Not covered: dividing by the actual batch size, or adding noise per record.

                `laplace`: Adds Laplace noise of scale b per coordinate to a sum of contributions of ℓ1 norm at most C.

                b = scale_multiplier · C. The relation gives the sensitivity: 2C for replace-one, C for the others.

                Admits: the sums that `Gaussian` admits, with Laplace noise.

                `projected_sgd`: Noisy projected gradient descent that releases one model. Only this model is seen.

                W_t = Π(W_{t−1} − η_t (1/m) Σ_{j ∈ B_t} (∇ℓ(W_{t−1}, x_j) + σ_t Z_{t,j})), where Z_{t,j} ~ N(0, I), and Π is the
                projection onto the ball of radius ρ. W_0 is in the ball and independent of the data. Each of the n clients
                holds
                one record. Each of the m clients of a batch adds its own noise, so the noise of the mean is σ_t/√m. Gradients
                are
                not clipped.

                `batches`: `shuffled` is a uniform partition into ⌊n/m⌋ batches of m. It is drawn once and kept secret. Its
                batches
                are used in order, repeatedly if there are more steps than batches. Clients in no batch never take part.
                `cyclic` is
                such a partition that is fixed in advance and may be public. `without-replacement` is a fresh uniform batch in
                each
                step.

                `rounds` is the number T of steps; if absent, one pass of ⌊n/m⌋. `release`: W_T (`last`), or W_τ with τ uniform
                on
                1, …, T (`random-stop`) or on ⌈αT⌉, …, T (`suffix`, α = `suffix_fraction`). Every record's loss is L-Lipschitz
                on
                the ball, and convex unless `convex` is false. It is β-smooth if `smoothness` is given, and λ-strongly convex
                with
                λ = `strong_convexity`. Under zero-out-one the record's gradient is zero, and its client still adds noise.

                Admits: exactly n clients in both data sets. It does not run on a batch of a different number of clients. In a
                `cyclic` order every client may have every place, so drawing the n clients from a larger population only thins.

                `randomized_response`: Each record reports its own category with probability e^ε/(e^ε + k − 1), any other one
                with 1/(e^ε + k − 1).

                `epsilon` is the guarantee for replacing a record's category by another, in every relation.

                Admits: reports that are seen with the names of their records. A batch then shows its members, and a draw only
                thins: δ' = q δ at the same ε. For reports without names or order use `shuffled`. A zeroed record is answered as
                some category would be, fixed or random. An absent record sends nothing, so add-or-remove-one has no bound.

                `repeated`: `times` independent runs of `mechanism`. Each may depend on the outputs of earlier runs.

                Admits: runs with parameters fixed in advance, each of which fits `mechanism` for all outputs of earlier runs.
                All
                outputs are seen.

                `shuffled`: Each of `clients` clients runs `mechanism` on its own single contribution, and a shuffler permutes
                the reports.

                A trusted shuffler forwards only the reports of a round, in a uniformly random order. Neighbours differ by
                replacing
                one client's contribution. The guarantee of `mechanism` for its own report is a replace-one guarantee. Bounds
                that
                depend on the number of coordinates of a report need `dimension`; the others hold for any.

                Admits: one `mechanism` that is the same for every client. Its report depends only on its client's contribution,
                so
                it names no sender. The number of reports is public. The draws of `mechanism` are draws of records of its
                client.

                `subsampled`: Runs `mechanism` on a fresh random batch. Give `rate`, or `batch_size` and `population`.

                `poisson`: every record independently with probability `rate`. `without-replacement`: a uniform subset of
                `batch_size` records. `with-replacement`: `batch_size` independent uniform draws; a record counts as often as it
                is
                drawn. `full`: every record, no amplification.

                Admits: fresh draws that do not depend on the data. The amplified ε has two conditions. The members of a batch
                stay
                secret, and the mechanism receives a batch of fixed size as a set (no order, place or name). An answer that uses
                them declares them. A mechanism for a fixed number of records or clients is not run on a batch of random size.

                `level` is the drawn unit. If absent, it is the protected unit. For a record the level is open if `mechanism`
                draws
                again, unless records are drawn above. The answer then covers both readings: a batch of a batch, and clients
                that
                draw among their own records. For a client the level is open below a draw of clients, where the draw may be
                among
                the client's records. For a client, records that are not below a draw of clients may be its own, or may be drawn
                from the records of all clients together. If no bound covers both readings, the spec is rejected: set `records`
                or
                `clients` (docs/decisions/0004-two-level-sampling.md).

                `truncated_discrete_laplace`: Adds noise with P(y) ∝ e^(−decay_rate·|y|) on {−noise_levels, …, noise_levels} to
                each of `dimension` integers.

                The sensitivities bound the distance of the integers, in grid steps, on any two neighbours in the request's
                relation; a real bound means its floor. Outputs that are possible for only one of two neighbours have infinite
                loss.

                Admits: integers that depend on the data arbitrarily within those distances, as `discrete_laplace` does.
            dimension (int | Unset): coordinates of one client's message; absent: any number; or coordinates of the model
            sampling (Sampling | Unset):
            rate (float | Unset): probability that a given record, or client if clients are drawn, is in a batch
            batch_size (int | Unset): records in a batch, or clients if clients are drawn
            population (int | Unset): records that a batch is drawn from, or clients if clients are drawn
            level (str | Unset): the drawn unit. Absent: the protected unit, or, if the mechanism draws again, the safe one
                of both readings. Rejected if neither reading bounds the other
            noise_levels (int | Unset): largest absolute value of truncated integer noise
            l1_sensitivity (float | Unset): ℓ1 distance of the values on neighbouring data
            linf_sensitivity (float | Unset): most that one coordinate differs between them
            l2_sensitivity (float | Unset): ℓ2 distance of the values on neighbouring data
    """

    kind: SpecKind
    epsilon: float | Unset = UNSET
    delta: float | Unset = UNSET
    mechanisms: list[Spec] | Unset = UNSET
    decay_rate: float | Unset = UNSET
    sensitivity: int | Unset = UNSET
    noise_multiplier: float | Unset = UNSET
    scale_multiplier: float | Unset = UNSET
    clients: int | Unset = UNSET
    participants: int | Unset = UNSET
    rounds: int | Unset = UNSET
    batches: Batches | Unset = UNSET
    lipschitz: float | Unset = UNSET
    radius: float | Unset = UNSET
    smoothness: float | Unset = UNSET
    strong_convexity: float | Unset = UNSET
    convex: bool | Unset = UNSET
    step_schedule: Schedule | Unset = UNSET
    noise_schedule: Schedule | Unset = UNSET
    release: Release | Unset = UNSET
    suffix_fraction: float | Unset = UNSET
    categories: int | Unset = UNSET
    times: int | Unset = UNSET
    mechanism: Spec | Unset = UNSET
    dimension: int | Unset = UNSET
    sampling: Sampling | Unset = UNSET
    rate: float | Unset = UNSET
    batch_size: int | Unset = UNSET
    population: int | Unset = UNSET
    level: str | Unset = UNSET
    noise_levels: int | Unset = UNSET
    l1_sensitivity: float | Unset = UNSET
    linf_sensitivity: float | Unset = UNSET
    l2_sensitivity: float | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind.value

        epsilon = self.epsilon

        delta = self.delta

        mechanisms: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.mechanisms, Unset):
            mechanisms = []
            for mechanisms_item_data in self.mechanisms:
                mechanisms_item = mechanisms_item_data.to_dict()
                mechanisms.append(mechanisms_item)

        decay_rate = self.decay_rate

        sensitivity = self.sensitivity

        noise_multiplier = self.noise_multiplier

        scale_multiplier = self.scale_multiplier

        clients = self.clients

        participants = self.participants

        rounds = self.rounds

        batches: str | Unset = UNSET
        if not isinstance(self.batches, Unset):
            batches = self.batches.value

        lipschitz = self.lipschitz

        radius = self.radius

        smoothness = self.smoothness

        strong_convexity = self.strong_convexity

        convex = self.convex

        step_schedule: dict[str, Any] | Unset = UNSET
        if not isinstance(self.step_schedule, Unset):
            step_schedule = self.step_schedule.to_dict()

        noise_schedule: dict[str, Any] | Unset = UNSET
        if not isinstance(self.noise_schedule, Unset):
            noise_schedule = self.noise_schedule.to_dict()

        release: str | Unset = UNSET
        if not isinstance(self.release, Unset):
            release = self.release.value

        suffix_fraction = self.suffix_fraction

        categories = self.categories

        times = self.times

        mechanism: dict[str, Any] | Unset = UNSET
        if not isinstance(self.mechanism, Unset):
            mechanism = self.mechanism.to_dict()

        dimension = self.dimension

        sampling: str | Unset = UNSET
        if not isinstance(self.sampling, Unset):
            sampling = self.sampling.value

        rate = self.rate

        batch_size = self.batch_size

        population = self.population

        level = self.level

        noise_levels = self.noise_levels

        l1_sensitivity = self.l1_sensitivity

        linf_sensitivity = self.linf_sensitivity

        l2_sensitivity = self.l2_sensitivity

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
            }
        )
        if epsilon is not UNSET:
            field_dict["epsilon"] = epsilon
        if delta is not UNSET:
            field_dict["delta"] = delta
        if mechanisms is not UNSET:
            field_dict["mechanisms"] = mechanisms
        if decay_rate is not UNSET:
            field_dict["decay_rate"] = decay_rate
        if sensitivity is not UNSET:
            field_dict["sensitivity"] = sensitivity
        if noise_multiplier is not UNSET:
            field_dict["noise_multiplier"] = noise_multiplier
        if scale_multiplier is not UNSET:
            field_dict["scale_multiplier"] = scale_multiplier
        if clients is not UNSET:
            field_dict["clients"] = clients
        if participants is not UNSET:
            field_dict["participants"] = participants
        if rounds is not UNSET:
            field_dict["rounds"] = rounds
        if batches is not UNSET:
            field_dict["batches"] = batches
        if lipschitz is not UNSET:
            field_dict["lipschitz"] = lipschitz
        if radius is not UNSET:
            field_dict["radius"] = radius
        if smoothness is not UNSET:
            field_dict["smoothness"] = smoothness
        if strong_convexity is not UNSET:
            field_dict["strong_convexity"] = strong_convexity
        if convex is not UNSET:
            field_dict["convex"] = convex
        if step_schedule is not UNSET:
            field_dict["step_schedule"] = step_schedule
        if noise_schedule is not UNSET:
            field_dict["noise_schedule"] = noise_schedule
        if release is not UNSET:
            field_dict["release"] = release
        if suffix_fraction is not UNSET:
            field_dict["suffix_fraction"] = suffix_fraction
        if categories is not UNSET:
            field_dict["categories"] = categories
        if times is not UNSET:
            field_dict["times"] = times
        if mechanism is not UNSET:
            field_dict["mechanism"] = mechanism
        if dimension is not UNSET:
            field_dict["dimension"] = dimension
        if sampling is not UNSET:
            field_dict["sampling"] = sampling
        if rate is not UNSET:
            field_dict["rate"] = rate
        if batch_size is not UNSET:
            field_dict["batch_size"] = batch_size
        if population is not UNSET:
            field_dict["population"] = population
        if level is not UNSET:
            field_dict["level"] = level
        if noise_levels is not UNSET:
            field_dict["noise_levels"] = noise_levels
        if l1_sensitivity is not UNSET:
            field_dict["l1_sensitivity"] = l1_sensitivity
        if linf_sensitivity is not UNSET:
            field_dict["linf_sensitivity"] = linf_sensitivity
        if l2_sensitivity is not UNSET:
            field_dict["l2_sensitivity"] = l2_sensitivity

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.schedule import Schedule

        d = dict(src_dict)
        kind = SpecKind(d.pop("kind"))

        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        _mechanisms = d.pop("mechanisms", UNSET)
        mechanisms: list[Spec] | Unset = UNSET
        if _mechanisms is not UNSET:
            mechanisms = []
            for mechanisms_item_data in _mechanisms:
                mechanisms_item = Spec.from_dict(mechanisms_item_data)

                mechanisms.append(mechanisms_item)

        decay_rate = d.pop("decay_rate", UNSET)

        sensitivity = d.pop("sensitivity", UNSET)

        noise_multiplier = d.pop("noise_multiplier", UNSET)

        scale_multiplier = d.pop("scale_multiplier", UNSET)

        clients = d.pop("clients", UNSET)

        participants = d.pop("participants", UNSET)

        rounds = d.pop("rounds", UNSET)

        _batches = d.pop("batches", UNSET)
        batches: Batches | Unset
        if isinstance(_batches, Unset):
            batches = UNSET
        else:
            batches = Batches(_batches)

        lipschitz = d.pop("lipschitz", UNSET)

        radius = d.pop("radius", UNSET)

        smoothness = d.pop("smoothness", UNSET)

        strong_convexity = d.pop("strong_convexity", UNSET)

        convex = d.pop("convex", UNSET)

        _step_schedule = d.pop("step_schedule", UNSET)
        step_schedule: Schedule | Unset
        if isinstance(_step_schedule, Unset):
            step_schedule = UNSET
        else:
            step_schedule = Schedule.from_dict(_step_schedule)

        _noise_schedule = d.pop("noise_schedule", UNSET)
        noise_schedule: Schedule | Unset
        if isinstance(_noise_schedule, Unset):
            noise_schedule = UNSET
        else:
            noise_schedule = Schedule.from_dict(_noise_schedule)

        _release = d.pop("release", UNSET)
        release: Release | Unset
        if isinstance(_release, Unset):
            release = UNSET
        else:
            release = Release(_release)

        suffix_fraction = d.pop("suffix_fraction", UNSET)

        categories = d.pop("categories", UNSET)

        times = d.pop("times", UNSET)

        _mechanism = d.pop("mechanism", UNSET)
        mechanism: Spec | Unset
        if isinstance(_mechanism, Unset):
            mechanism = UNSET
        else:
            mechanism = Spec.from_dict(_mechanism)

        dimension = d.pop("dimension", UNSET)

        _sampling = d.pop("sampling", UNSET)
        sampling: Sampling | Unset
        if isinstance(_sampling, Unset):
            sampling = UNSET
        else:
            sampling = Sampling(_sampling)

        rate = d.pop("rate", UNSET)

        batch_size = d.pop("batch_size", UNSET)

        population = d.pop("population", UNSET)

        level = d.pop("level", UNSET)

        noise_levels = d.pop("noise_levels", UNSET)

        l1_sensitivity = d.pop("l1_sensitivity", UNSET)

        linf_sensitivity = d.pop("linf_sensitivity", UNSET)

        l2_sensitivity = d.pop("l2_sensitivity", UNSET)

        spec = cls(
            kind=kind,
            epsilon=epsilon,
            delta=delta,
            mechanisms=mechanisms,
            decay_rate=decay_rate,
            sensitivity=sensitivity,
            noise_multiplier=noise_multiplier,
            scale_multiplier=scale_multiplier,
            clients=clients,
            participants=participants,
            rounds=rounds,
            batches=batches,
            lipschitz=lipschitz,
            radius=radius,
            smoothness=smoothness,
            strong_convexity=strong_convexity,
            convex=convex,
            step_schedule=step_schedule,
            noise_schedule=noise_schedule,
            release=release,
            suffix_fraction=suffix_fraction,
            categories=categories,
            times=times,
            mechanism=mechanism,
            dimension=dimension,
            sampling=sampling,
            rate=rate,
            batch_size=batch_size,
            population=population,
            level=level,
            noise_levels=noise_levels,
            l1_sensitivity=l1_sensitivity,
            linf_sensitivity=linf_sensitivity,
            l2_sensitivity=l2_sensitivity,
        )

        return spec
