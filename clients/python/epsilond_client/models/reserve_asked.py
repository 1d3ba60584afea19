from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.relation import Relation
from ..models.slot_kind import SlotKind
from ..models.unit import Unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.spec import Spec
    from ..models.windowed_unit import WindowedUnit


T = TypeVar("T", bound="ReserveAsked")


@_attrs_define
class ReserveAsked:
    """Runs to be held, until they are committed, cancelled, or expire.

    Attributes:
        spec (Spec | Unset): `approximate`: A mechanism of which only an (ε, δ) guarantee is known, in the relation of
            the request.

            δ = 0 is allowed: a pure guarantee. ε = 0 is allowed: outputs on neighbours differ by at most δ in total
            variation.

            Admits: every mechanism with this guarantee. Under replace-one and zero-out-one its output may reveal the number
            of
            records. Its output for a zeroed record may differ from that for an absent record.

            `composed`: Mechanisms that run one after another. Each may depend on the outputs of earlier ones.

            Admits: runs with parameters fixed in advance, each of which fits its mechanism for all outputs of earlier runs.
            All
            outputs are seen.

            `discrete_gaussian`: Adds noise with P(y) ∝ e^(−y²/(2 scale²)) on the integers to each of `dimension` integers.

            `l2_sensitivity` bounds the ℓ2 distance of the integer vectors, in grid steps, on any two neighbours in the
            request's relation. Nothing is doubled for replace-one.

            Admits: integers that depend on the data arbitrarily within that distance, as `discrete_laplace` does. The noise
            of
            one party is meant. A sum of several parties' discrete Gaussian noises has another distribution.

            `discrete_laplace`: Adds two-sided geometric noise, P(y) ∝ e^(−decay_rate·|y|) on the integers, to each
            coordinate of integers.

            `sensitivity` is the ℓ1 distance of the integers on any two data sets that are neighbours in the request's
            relation.

            Admits: integers that depend on the data arbitrarily within that distance. They need not be a sum. A zeroed
            record
            may count where an absent one does not. An example is 1000 |S| + Σ x for a set S of records x, each 0 or 1,
            which
            has distance 1 under zero-out-one. Poisson sampling with rate q therefore keeps ε under zero-out-one, and only
            gives
            δ' = q δ.

            `exponential`: Chooses one candidate with probability ∝ e^(ε score/2), or ∝ e^(ε score) if the scores are
            monotonic.

            ε is `epsilon`, the pure privacy parameter of the mechanism. Between neighbours in the request's relation each
            score
            changes by at most 1. Monotonic scores all change in the same direction, for example counts of records under
            add-or-remove-one. Only the chosen candidate is released.

            Admits: any number of candidates, any score within that sensitivity, and any fixed weight of each candidate. The
            candidates and their weights are the same for all data. A zeroed record may change scores that an absent one
            does
            not.

            `gaussian`: Adds N(0, σ²) per coordinate to a sum of contributions of ℓ2 norm at most C, with σ =
            noise_multiplier · C.

            Admits: a sum to which each record adds one vector that does not depend on the other records. A record that is
            absent, not drawn or zeroed adds exactly zero, and the noise stays the same. Only the noisy sum is seen.

            Not covered: dividing by the actual batch size, or adding noise per record.

            `gaussian_mixture`: Adds N(0, σ²) per coordinate to a sum of contributions of random size, with σ =
            noise_multiplier · C.

            A record's contribution has ℓ2 norm at most `sensitivities[i]` · C with probability `probabilities[i]`. The
            largest
            probability is read as 1 minus the others.

            Admits: a sum to which each record adds one random vector. In every release an index i is drawn afresh for each
            record, independently of the data and of other records. The vector may depend on the data and on i. A record
            that is
            absent, not drawn or zeroed adds exactly zero, and the noise stays the same. Only the noisy sum is seen.

            Not covered: indices that are seen, or that several records share.

            `laplace`: Adds Laplace noise of scale b per coordinate to a sum of contributions of ℓ1 norm at most C.

            b = scale_multiplier · C. The relation gives the sensitivity: 2C for replace-one, C for the others.

            Admits: the sums that `Gaussian` admits, with Laplace noise.

            `permute_and_flip`: Visits the candidates in random order and accepts one with probability e^(ε (score − largest
            score)/2).

            The first accepted candidate is released. ε is `epsilon`, the pure privacy parameter of the mechanism. Between
            neighbours in the request's relation each score changes by at most 1.

            Admits: any number of candidates, and any score within that sensitivity. The candidates are the same for all
            data.
            A zeroed record may change scores that an absent one does not.

            `poisson_binomial`: Releases sums over clients of Binomial(trials, 1/2 + theta·x/C) for each coordinate x of a
            client's vector.

            C bounds the absolute value of every coordinate (ℓ∞). All binomial variables are independent and drawn afresh.
            Only
            the sum over at least `clients` clients is seen for each of `dimension` coordinates, as by secure aggregation.
            One
            client's message by itself is that of `clients` = 1, which is needed if the observer is a server.

            Admits: values of the other clients that the adversary knows or chooses before the draw, within C. Replace-one
            exchanges one client's vector for another one within C. An ℓ2 bound C also bounds every coordinate. An absent
            client
            changes the number of trials, so other relations have no bound here.

            `profile`: A mechanism of which only upper bounds on its privacy profile are known, in the relation of the
            request.

            On any two neighbours, δ at each listed ε is at most the listed δ. Between points the bound is the line in e^ε.
            After the last point it is constant.

            Admits: every mechanism with these bounds, as `approximate` does.

            `projected_sgd`: Noisy projected gradient descent that releases one model. Only this model is seen.

            W_t = Π(W_{t−1} − η_t (1/m) Σ_{j ∈ B_t} (∇ℓ(W_{t−1}, x_j) + σ_t Z_{t,j})), where Z_{t,j} ~ N(0, I).
            Π is the projection onto the ball of radius ρ. W_0 is in the ball and independent of the data. Each of the n
            clients
            holds one record. Each of the m clients of a batch adds its own noise, so the noise of the mean is σ_t/√m.
            Gradients
            are not clipped.

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

            `random_allocation`: Runs `mechanism` on `steps` batches in each of `epochs` epochs. A unit is in `times_chosen`
            batches of each.

            The batches of a unit are a uniformly random set of that many batches. If `kept` is false, the set is drawn
            again in
            every epoch. If `kept` is true, the set of the first epoch serves in all epochs. The unit is the protected one.

            Admits: a set for each unit that is independent of the data and of the sets of all other units. The size of a
            batch
            is then random. A batch may depend on outputs of earlier batches. The sets stay secret. Under replace-one and
            zero-out-one a mechanism that is no noisy sum may act differently on a batch without the unit. The bound then
            also
            holds if the sets are public.

            Several releases from one batch are a `composed` or `repeated` mechanism.

            Not covered: batches of a fixed size, such as those of a shuffled list, where the sets depend on each other.

            `randomized_response`: Each record reports its own category with probability e^ε/(e^ε + k − 1), any other one
            with 1/(e^ε + k − 1).

            Here ε is `epsilon` and k is `categories`. `epsilon` is the guarantee for replacing a record's category by
            another,
            in every relation.

            Admits: reports that are seen with the names of their records. They show who is in a batch, so a random draw
            with
            inclusion probability q keeps ε, and only gives δ' = q δ. For reports without names or order use `shuffled`. A
            zeroed record still sends a report, as if of some category, fixed or random. An absent record sends nothing, so
            add-or-remove-one has no bound.

            `rdp`: A mechanism of which only bounds on its Rényi divergences are known, in the relation of the request.

            On any two neighbours, in both directions, the divergence of order `orders[i]` is at most `epsilons[i]`.

            Admits: every mechanism with these divergences, as `approximate` does.

            `repeated`: `times` independent runs of `mechanism`. Each may depend on the outputs of earlier runs.

            Admits: runs with parameters fixed in advance, each of which fits `mechanism` for all outputs of earlier runs.
            All
            outputs are seen.

            `report_noisy_max`: Adds independent noise of scale 2/ε to each score and releases the candidate with the
            largest sum.

            ε is `epsilon`, the pure privacy parameter of the mechanism. Between neighbours in the request's relation each
            score
            changes by at most 1. The noisy score itself is not released.

            Admits: any number of candidates, and any score within that sensitivity. The candidates are the same for all
            data.
            A zeroed record may change scores that an absent one does not.

            `select_best`: Runs `mechanism` a random number of times, and releases only the best output, as in hyper-
            parameter tuning.

            Admits: any total order of outputs that is fixed in advance, with ties broken by independent random numbers. The
            number of runs is drawn independently of the data and of the outputs. Runs may have different settings, such as
            learning rates, that are drawn anew for each run in the same way. Neither the other outputs nor the number of
            runs
            are seen.

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

            `skellam`: Adds the difference of two independent Poisson variables of mean variance/2 to each of `dimension`
            integers.

            The sensitivities bound the ℓ1 and ℓ2 distance of the integer vectors, in grid steps, on any two neighbours in
            the
            request's relation. Nothing is doubled for replace-one. A sum of independent Skellam noises is Skellam noise,
            and
            the variances add. With dropouts, `variance` is that of the noise that remains.

            Admits: integers that depend on the data arbitrarily within those distances, as `discrete_laplace` does.

            `sparse_vector`: Answers for each of many queries whether it is above a noisy threshold, and stops after c such
            answers.

            ε is `epsilon`, s is `threshold_share` and c is `largest_answers`. The threshold has Laplace noise of scale 1/(s
            ε),
            drawn once. Each query has fresh Laplace noise of scale 2c/((1 − s) ε), or c/((1 − s) ε) if the queries are
            monotonic. Between neighbours in the request's relation each query changes by at most 1. Monotonic queries all
            change in the same direction. Only the answers are released, and no values of queries.

            Admits: any number of queries of that sensitivity, each chosen after the earlier answers. The thresholds do not
            depend on the data. A zeroed record may change queries that an absent one does not.

            `subsampled`: Runs `mechanism` on a fresh random batch. Give `rate`, or `batch_size` and `population`.

            `poisson`: every record independently with probability `rate`. `without-replacement`: a uniform subset of
            `batch_size` records. `with-replacement`: `batch_size` independent uniform draws; a record counts as often as it
            is
            drawn. `full`: every record, no amplification. `shuffled-epochs`: each of `epochs` epochs permutes the records
            and
            cuts them into batches of `batch_size`, and `mechanism` is run on every batch. A remainder is a smaller last
            batch,
            or is left out.

            `largest_batch` truncates Poisson batches: of more drawn records, a uniform subset of this size is kept. The
            other
            drawn records do not enter this batch. Then `population` is the number of records. Under add-or-remove-one it is
            that of the larger data set.

            `records_of_one_client` bounds the number of records of one client, where `level` is `records` and clients are
            protected. Records are drawn from those of all clients together, and `noise_multiplier` refers to the norm bound
            of
            one record. Without this field it refers to the whole contribution of a client, and the draw of records does not
            protect the client.

            Admits: fresh draws that do not depend on the data. The amplified ε has two conditions. The members of a batch
            stay
            secret, and the mechanism receives a batch of fixed size as a set (no order, place or name). An answer that uses
            them declares them. A mechanism for a fixed number of records or clients is not run on a batch of random size.

            `level` says whether records or clients are drawn. If it is absent, the protected unit is drawn, and some specs
            have
            two readings. If records are protected and `mechanism` draws again, it may draw from the batch, or each drawn
            client
            may draw among its own records. There is only one reading if an outer draw is of records. If clients are
            protected,
            a draw below a draw of clients may be among the records of a client. A draw of records that is not below a draw
            of
            clients may be among the records of one client, or of all clients. The answer covers both readings. If no bound
            covers both, the spec is rejected: set `records` or `clients` (docs/decisions/0004-two-level-sampling.md).

            `truncated_discrete_laplace`: Adds noise with P(y) ∝ e^(−decay_rate·|y|) on {−noise_levels, …, noise_levels} to
            each of `dimension` integers.

            The sensitivities bound the distance of the integers, in grid steps, on any two neighbours in the request's
            relation; a real bound means its floor. Outputs that are possible for only one of two neighbours have infinite
            loss.

            Admits: integers that depend on the data arbitrarily within those distances, as `discrete_laplace` does.

            `zcdp`: A mechanism of which only ρ-zero-concentrated privacy is known, in the relation of the request.

            With a `delta` it is δ-approximately ρ-zCDP (Bun and Steinke 2016, Definition 8.1). On any two neighbours there
            are
            events of probability 1 − δ. Given these, the outputs have Rényi divergences of at most ρa at every order a > 1.

            Admits: every mechanism with this guarantee, as `approximate` does.
        item (str | Unset): name of the item of the plan that pays for the runs
        slot (SlotKind | Unset):
        count (int | Unset): number of runs
        eta (float | str | Unset): a number, or a text
        delta (float | str | Unset): a number, or a text
        relation (Relation | Unset): replace-one: One unit's data is replaced by any other data, and the number of units
            is the same. add-or-remove-one: One unit is in one of the data sets and absent from the other. zero-out-one: One
            unit's contribution counts as zero in one of the data sets.
        unit (Unit | Unset | WindowedUnit): value that the caller assumes the ledger to have. Another value than the
            ledger's is rejected
        expires_in (float | Unset): time in seconds until the reservation expires; absent: one day
        ledgers (list[str] | Unset): ids of the ledgers, one for each block that the runs read
    """

    spec: Spec | Unset = UNSET
    item: str | Unset = UNSET
    slot: SlotKind | Unset = UNSET
    count: int | Unset = UNSET
    eta: float | str | Unset = UNSET
    delta: float | str | Unset = UNSET
    relation: Relation | Unset = UNSET
    unit: Unit | Unset | WindowedUnit = UNSET
    expires_in: float | Unset = UNSET
    ledgers: list[str] | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        spec: dict[str, Any] | Unset = UNSET
        if not isinstance(self.spec, Unset):
            spec = self.spec.to_dict()

        item = self.item

        slot: str | Unset = UNSET
        if not isinstance(self.slot, Unset):
            slot = self.slot.value

        count = self.count

        eta: float | str | Unset
        if isinstance(self.eta, Unset):
            eta = UNSET
        else:
            eta = self.eta

        delta: float | str | Unset
        if isinstance(self.delta, Unset):
            delta = UNSET
        else:
            delta = self.delta

        relation: str | Unset = UNSET
        if not isinstance(self.relation, Unset):
            relation = self.relation.value

        unit: dict[str, Any] | str | Unset
        if isinstance(self.unit, Unset):
            unit = UNSET
        elif isinstance(self.unit, Unit):
            unit = self.unit.value
        else:
            unit = self.unit.to_dict()

        expires_in = self.expires_in

        ledgers: list[str] | Unset = UNSET
        if not isinstance(self.ledgers, Unset):
            ledgers = self.ledgers

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if spec is not UNSET:
            field_dict["spec"] = spec
        if item is not UNSET:
            field_dict["item"] = item
        if slot is not UNSET:
            field_dict["slot"] = slot
        if count is not UNSET:
            field_dict["count"] = count
        if eta is not UNSET:
            field_dict["eta"] = eta
        if delta is not UNSET:
            field_dict["delta"] = delta
        if relation is not UNSET:
            field_dict["relation"] = relation
        if unit is not UNSET:
            field_dict["unit"] = unit
        if expires_in is not UNSET:
            field_dict["expires_in"] = expires_in
        if ledgers is not UNSET:
            field_dict["ledgers"] = ledgers

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.spec import Spec
        from ..models.windowed_unit import WindowedUnit

        d = dict(src_dict)
        _spec = d.pop("spec", UNSET)
        spec: Spec | Unset
        if isinstance(_spec, Unset):
            spec = UNSET
        else:
            spec = Spec.from_dict(_spec)

        item = d.pop("item", UNSET)

        _slot = d.pop("slot", UNSET)
        slot: SlotKind | Unset
        if isinstance(_slot, Unset):
            slot = UNSET
        else:
            slot = SlotKind(_slot)

        count = d.pop("count", UNSET)

        def _parse_eta(data: object) -> float | str | Unset:
            if isinstance(data, Unset):
                return data
            return cast(float | str | Unset, data)

        eta = _parse_eta(d.pop("eta", UNSET))

        def _parse_delta(data: object) -> float | str | Unset:
            if isinstance(data, Unset):
                return data
            return cast(float | str | Unset, data)

        delta = _parse_delta(d.pop("delta", UNSET))

        _relation = d.pop("relation", UNSET)
        relation: Relation | Unset
        if isinstance(_relation, Unset):
            relation = UNSET
        else:
            relation = Relation(_relation)

        def _parse_unit(data: object) -> Unit | Unset | WindowedUnit:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                unit_type_0 = Unit(data)

                return unit_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            unit_type_1 = WindowedUnit.from_dict(data)

            return unit_type_1

        unit = _parse_unit(d.pop("unit", UNSET))

        expires_in = d.pop("expires_in", UNSET)

        ledgers = cast(list[str], d.pop("ledgers", UNSET))

        reserve_asked = cls(
            spec=spec,
            item=item,
            slot=slot,
            count=count,
            eta=eta,
            delta=delta,
            relation=relation,
            unit=unit,
            expires_in=expires_in,
            ledgers=ledgers,
        )

        return reserve_asked
