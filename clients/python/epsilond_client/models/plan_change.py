from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.spec import Spec


T = TypeVar("T", bound="PlanChange")


@_attrs_define
class PlanChange:
    """An item of the plan that falls to fewer runs.

    Attributes:
        name (str): how people call it, at most 200 characters
        planned (int | Unset): runs that stay planned, at least those taken
        spec (Spec | Unset): `approximate`: Some mechanism of which nothing is known but that it is (ε,
            δ)-differentially private in the request's relation.

            δ = 0 is allowed: a pure guarantee.

            Admits: whatever keeps that guarantee. Under replace-one and zero-out-one it may tell how many records there
            are,
            and what it makes of a zeroed record need not be what it makes of an absent one.

            `composed`: The mechanisms one after another, each free to depend on what came before; their parameters fixed in
            advance.

            Admits: runs that each fit the words of their mechanism whatever came before. All outputs are seen.

            `discrete_laplace`: Adds two-sided geometric noise, P(y) ∝ e^(−decay_rate·|y|) on the integers, to each
            coordinate of integers.

            `sensitivity` is the ℓ1 distance of the integers on any two data sets that are neighbours in the request's
            relation.

            Admits: integers that depend on the data in any way within that distance. They need not be a sum, and a zeroed
            record may count where an absent one does not: 1000 |S| + Σ x has distance 1 under zero-out-one if every x is 0
            or
            1. So a Poisson batch of them is thinned under zero-out-one (δ' = q δ at the same ε) and not amplified.

            `gaussian`: Adds N(0, σ²) per coordinate to a sum of contributions of ℓ2 norm at most C, with σ =
            noise_multiplier · C.

            Admits: a sum to which each record adds one vector, whatever the other records are. A record that is absent, not
            drawn or zeroed adds exactly zero, and the noise stays the same. Only the noisy sum is seen.

            Not covered: dividing by the actual batch size, or adding noise per record.

            `laplace`: Adds Laplace noise of scale b per coordinate to a sum of contributions of ℓ1 norm at most C.

            b = scale_multiplier · C. The relation gives the sensitivity: 2C for replace-one, C for the others.

            Admits: what `Gaussian` admits, with Laplace noise.

            `projected_sgd`: Noisy projected gradient descent of which one model is released and nothing else is seen.

            W_t = Π(W_{t−1} − η_t (1/m) Σ_{j ∈ B_t} (∇ℓ(W_{t−1}, x_j) + σ_t Z_{t,j})), Z_{t,j} ~ N(0, I), Π the projection
            onto
            the ball of radius ρ, W_0 in it and independent of the data. Each of the n clients holds one record; each of the
            m
            clients of a batch adds its own noise, so that the mean carries σ_t/√m. Gradients are used as they are: no
            clipping.

            `batches`: `shuffled`, a uniform partition into ⌊n/m⌋ batches of m, drawn once, kept secret, and gone through in
            its order, over and over if there are more steps than batches (clients left over never take part); `cyclic`,
            such
            a partition fixed in advance, which anyone may know; `without-replacement`, a fresh uniform batch in each step.
            `rounds` is the number T of steps; absent, one pass of ⌊n/m⌋. `release`: W_T (`last`), or W_τ with τ uniform on
            1, …, T (`random-stop`) or on ⌈αT⌉, …, T (`suffix`, α = `suffix_fraction`). Every record's loss is L-Lipschitz
            on
            the ball, and convex unless `convex` is false; β-smooth if `smoothness` is given, λ-strongly convex with λ =
            `strong_convexity`. zero-out-one: the record's gradient is zero, its client still adds noise.

            Admits: exactly n clients in both worlds. A batch of another number cannot be run on, and in a `cyclic` order a
            place may be anyone's, so that drawing the n clients from a larger population only thins.

            `randomized_response`: Each record reports its own category with probability e^ε/(e^ε + k − 1), any other one
            with 1/(e^ε + k − 1).

            `epsilon` is meant for replacing a record's category by another, whatever the request's relation.

            Admits: reports that are seen with the names of their records, so that a batch shows who is in it and a draw
            only
            thins (δ' = q δ at the same ε). For reports without names or order say `shuffled`. A zeroed record is answered
            as
            some category would be, fixed or random; an absent one sends nothing, so nothing bounds add-or-remove-one.

            `repeated`: `times` independent runs of `mechanism`, each free to depend on what came before.

            Admits: runs that each fit the words of `mechanism` whatever came before, with parameters fixed in advance. All
            outputs are seen.

            `shuffled`: Each of `clients` clients runs `mechanism` on its own single contribution, and a shuffler permutes
            the reports.

            A trusted shuffler passes on the reports of a round in a uniformly random order and nothing else. Neighbours
            differ
            by replacing one client's contribution; what `mechanism` is for its own report is a replace-one guarantee.
            Bounds
            that depend on the number of coordinates of a report need `dimension`; the others hold for any.

            Admits: one `mechanism` that is the same for every client and whose report depends on its client's contribution
            alone, so that it names no sender. The number of reports is known to all. What `mechanism` draws are records of
            its
            client.

            `subsampled`: Runs `mechanism` on a fresh random batch. Give `rate`, or `batch_size` and `population`.

            `poisson`: every record independently with probability `rate`. `without-replacement`: a uniform subset of
            `batch_size` records. `with-replacement`: `batch_size` independent uniform draws, a record counts as often as it
            is drawn. `full`: every record, no amplification.

            Admits: fresh draws, whatever the data are. That nobody sees who is in a batch, and that the mechanism is told a
            batch of fixed size as a set (no order, place or name), are conditions of the amplified ε; an answer that needs
            them
            declares them. A mechanism that needs a fixed number of records or clients is not run on a batch of random size.

            `level` says what is drawn. Absent, it is the unit that is protected. For a record it stays open where
            `mechanism`
            draws again, unless records are drawn above it: the answer then covers both readings, a batch of a batch, and
            clients who then draw among their own records. For a client it stays open below a draw of clients, where it may
            be
            one of the client's records. For a client, records that no draw of clients stands above may be its own or drawn
            from
            all clients' together. Where no bound covers both readings the spec is refused: say `records` or `clients`
            (docs/decisions/0004-two-level-sampling.md).

            `truncated_discrete_laplace`: Adds noise with P(y) ∝ e^(−decay_rate·|y|) on {−noise_levels, …, noise_levels} to
            each of `dimension` integers.

            The sensitivities bound the distance of the integers, in grid steps, on any two neighbours in the request's
            relation; a real bound means its floor. Outputs that only one of two neighbours can give are infinite losses.

            Admits: integers that depend on the data in any way within those distances, as `discrete_laplace` does.
    """

    name: str
    planned: int | Unset = UNSET
    spec: Spec | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        planned = self.planned

        spec: dict[str, Any] | Unset = UNSET
        if not isinstance(self.spec, Unset):
            spec = self.spec.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
            }
        )
        if planned is not UNSET:
            field_dict["planned"] = planned
        if spec is not UNSET:
            field_dict["spec"] = spec

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.spec import Spec

        d = dict(src_dict)
        name = d.pop("name")

        planned = d.pop("planned", UNSET)

        _spec = d.pop("spec", UNSET)
        spec: Spec | Unset
        if isinstance(_spec, Unset):
            spec = UNSET
        else:
            spec = Spec.from_dict(_spec)

        plan_change = cls(
            name=name,
            planned=planned,
            spec=spec,
        )

        return plan_change
