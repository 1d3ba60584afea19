from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.observer import Observer
from ..models.relation import Relation
from ..models.unit import Unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.query import Query
    from ..models.spec import Spec
    from ..models.target import Target


T = TypeVar("T", bound="AccountProblem")


@_attrs_define
class AccountProblem:
    """What was run, what the guarantee is about, and at which point to read the curve.

    Attributes:
        relation (Relation): replace-one: One unit's data is replaced by any other data, and the number of units is the
            same. add-or-remove-one: One unit is in one of the data sets and absent from the other. zero-out-one: One unit's
            contribution counts as zero in one of the data sets.
        unit (Unit): record: One record is protected. client: Everything that one client holds is protected.
        observer (Observer): server: The server itself is the adversary and sees every message by name; each client must
            add its own noise. shuffled-server: The server is the adversary and sees every message, but a trusted shuffler
            hides who sent it. released-models: The adversary sees the model after every round; a trusted curator trains it,
            as in central DP-SGD. final-model: The adversary sees only the last model. other-clients: All other clients
            together are the adversary and see every model that a trusted server sends them.
        spec (Spec): `approximate`: A mechanism of which only an (ε, δ) guarantee is known, in the relation of the
            request.

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
        query (Query): Exactly one of these: at which ε or δ to read the curve.
        claim (Target | Unset): An ε that was claimed at the audit's δ.
    """

    relation: Relation
    unit: Unit
    observer: Observer
    spec: Spec
    query: Query
    claim: Target | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        relation = self.relation.value

        unit = self.unit.value

        observer = self.observer.value

        spec = self.spec.to_dict()

        query = self.query.to_dict()

        claim: dict[str, Any] | Unset = UNSET
        if not isinstance(self.claim, Unset):
            claim = self.claim.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "relation": relation,
                "unit": unit,
                "observer": observer,
                "spec": spec,
                "query": query,
            }
        )
        if claim is not UNSET:
            field_dict["claim"] = claim

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.query import Query
        from ..models.spec import Spec
        from ..models.target import Target

        d = dict(src_dict)
        relation = Relation(d.pop("relation"))

        unit = Unit(d.pop("unit"))

        observer = Observer(d.pop("observer"))

        spec = Spec.from_dict(d.pop("spec"))

        query = Query.from_dict(d.pop("query"))

        _claim = d.pop("claim", UNSET)
        claim: Target | Unset
        if isinstance(_claim, Unset):
            claim = UNSET
        else:
            claim = Target.from_dict(_claim)

        account_problem = cls(
            relation=relation,
            unit=unit,
            observer=observer,
            spec=spec,
            query=query,
            claim=claim,
        )

        return account_problem
