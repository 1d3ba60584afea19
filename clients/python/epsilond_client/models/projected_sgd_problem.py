from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.observer import Observer
from ..models.reading import Reading
from ..models.relation import Relation
from ..models.release import Release
from ..models.solve_for import SolveFor
from ..models.unit import Unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.schedule import Schedule
    from ..models.windowed_unit import WindowedUnit


T = TypeVar("T", bound="ProjectedSgdProblem")


@_attrs_define
class ProjectedSgdProblem:
    """The target, the pass over the clients, and the number that is computed (`solve_for`).

    One pass uses n clients with one record each, in ⌊n/m⌋ secret batches of m = `participants`. One model is released,
    and no other model is seen. The noise is the one that each client adds to its own gradient.

    `noise_std`: the smallest noise is computed. `noise_schedule` is then a shape that is scaled as a whole; if it is
    absent, the noise is constant. `step_size`: the smallest step size is computed, and `step_schedule` is a shape in
    the same way. `participants`: the smallest batch size that meets the target is computed. Larger ones may miss it.
    `participants` is then absent, and no schedule lists its values.

        Attributes:
            relation (Relation): replace-one: One unit's data is replaced by any other data, and the number of units is the
                same. add-or-remove-one: One unit is in one of the data sets and absent from the other. zero-out-one: One unit's
                contribution counts as zero in one of the data sets.
            unit (Unit | WindowedUnit): protected unit, in which neighbours differ
            observer (Observer): server: The server itself is the adversary and sees every message by name; each client must
                add its own noise. shuffled-server: The server is the adversary and sees every message, but a trusted shuffler
                hides who sent it. released-models: The adversary sees the model after every round; a trusted curator trains it,
                as in central DP-SGD. final-model: The adversary sees only the last model. other-clients: All other clients
                together are the adversary and see every model that a trusted server sends them.
            clients (int): number of clients in the federation
            dimension (int): number of coordinates of the model
            lipschitz (float): bound on the ℓ2 norm of one record's gradient
            radius (float): radius of the domain, the ball to which the model is restricted
            advantage (float | Unset): in place of epsilon: largest true minus false positive rate of an attacker
            true_positive_rate (float | Unset): in place of epsilon: largest true positive rate of an attacker at
                false_positive_rate
            false_positive_rate (float | Unset): false positive rate at which true_positive_rate is bounded
            epsilon (float | Unset): ε of the (ε, δ) guarantee
            delta (float | Unset): δ of the (ε, δ) guarantee
            log10_delta (float | Unset): log₁₀ δ in place of delta; δ may be below every double
            solve_for (SolveFor | Unset):
            participants (int | Unset): number of clients in one round
            smoothness (float | Unset): smoothness constant: Lipschitz constant of the gradient of the loss
            strong_convexity (float | Unset): strong convexity constant of the loss; 0 if the loss is only convex
            convex (bool | Unset): whether every record's loss is convex
            step_schedule (Schedule | Unset): `constant`: The same value at every step.

                `explicit`: Listed values, one for each step.

                `inverse-time`: The value `scale`/t at step t. For example, step sizes 1/(λt) have `scale` 1/λ.
            noise_schedule (Schedule | Unset): `constant`: The same value at every step.

                `explicit`: Listed values, one for each step.

                `inverse-time`: The value `scale`/t at step t. For example, step sizes 1/(λt) have `scale` 1/λ.
            release (Release | Unset):
            suffix_fraction (float | Unset): for release `suffix`: fraction α. The released model is that after a step drawn
                uniformly from ⌈αT⌉, …, T, where T is the number of steps
            gradient_bound (float | Unset): bound on the mean gradient's norm. Absent: assumed to be the value of lipschitz
            gradient_std (float | Unset): root mean square distance of a record's gradient from the expected gradient of its
                client, at the model where it is largest. Absent: assumed to be the value of lipschitz
            shamir_constant (float | Unset): constant factor in the bound of Shamir 2016, Theorem 3, which no paper
                specifies
            readings (list[Reading] | Unset): interpretations (readings) of the printed bounds to return; all if absent
    """

    relation: Relation
    unit: Unit | WindowedUnit
    observer: Observer
    clients: int
    dimension: int
    lipschitz: float
    radius: float
    advantage: float | Unset = UNSET
    true_positive_rate: float | Unset = UNSET
    false_positive_rate: float | Unset = UNSET
    epsilon: float | Unset = UNSET
    delta: float | Unset = UNSET
    log10_delta: float | Unset = UNSET
    solve_for: SolveFor | Unset = UNSET
    participants: int | Unset = UNSET
    smoothness: float | Unset = UNSET
    strong_convexity: float | Unset = UNSET
    convex: bool | Unset = UNSET
    step_schedule: Schedule | Unset = UNSET
    noise_schedule: Schedule | Unset = UNSET
    release: Release | Unset = UNSET
    suffix_fraction: float | Unset = UNSET
    gradient_bound: float | Unset = UNSET
    gradient_std: float | Unset = UNSET
    shamir_constant: float | Unset = UNSET
    readings: list[Reading] | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        relation = self.relation.value

        unit: dict[str, Any] | str
        if isinstance(self.unit, Unit):
            unit = self.unit.value
        else:
            unit = self.unit.to_dict()

        observer = self.observer.value

        clients = self.clients

        dimension = self.dimension

        lipschitz = self.lipschitz

        radius = self.radius

        advantage = self.advantage

        true_positive_rate = self.true_positive_rate

        false_positive_rate = self.false_positive_rate

        epsilon = self.epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        solve_for: str | Unset = UNSET
        if not isinstance(self.solve_for, Unset):
            solve_for = self.solve_for.value

        participants = self.participants

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

        gradient_bound = self.gradient_bound

        gradient_std = self.gradient_std

        shamir_constant = self.shamir_constant

        readings: list[str] | Unset = UNSET
        if not isinstance(self.readings, Unset):
            readings = []
            for readings_item_data in self.readings:
                readings_item = readings_item_data.value
                readings.append(readings_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "relation": relation,
                "unit": unit,
                "observer": observer,
                "clients": clients,
                "dimension": dimension,
                "lipschitz": lipschitz,
                "radius": radius,
            }
        )
        if advantage is not UNSET:
            field_dict["advantage"] = advantage
        if true_positive_rate is not UNSET:
            field_dict["true_positive_rate"] = true_positive_rate
        if false_positive_rate is not UNSET:
            field_dict["false_positive_rate"] = false_positive_rate
        if epsilon is not UNSET:
            field_dict["epsilon"] = epsilon
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if solve_for is not UNSET:
            field_dict["solve_for"] = solve_for
        if participants is not UNSET:
            field_dict["participants"] = participants
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
        if gradient_bound is not UNSET:
            field_dict["gradient_bound"] = gradient_bound
        if gradient_std is not UNSET:
            field_dict["gradient_std"] = gradient_std
        if shamir_constant is not UNSET:
            field_dict["shamir_constant"] = shamir_constant
        if readings is not UNSET:
            field_dict["readings"] = readings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.schedule import Schedule
        from ..models.windowed_unit import WindowedUnit

        d = dict(src_dict)
        relation = Relation(d.pop("relation"))

        def _parse_unit(data: object) -> Unit | WindowedUnit:
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

        unit = _parse_unit(d.pop("unit"))

        observer = Observer(d.pop("observer"))

        clients = d.pop("clients")

        dimension = d.pop("dimension")

        lipschitz = d.pop("lipschitz")

        radius = d.pop("radius")

        advantage = d.pop("advantage", UNSET)

        true_positive_rate = d.pop("true_positive_rate", UNSET)

        false_positive_rate = d.pop("false_positive_rate", UNSET)

        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        _solve_for = d.pop("solve_for", UNSET)
        solve_for: SolveFor | Unset
        if isinstance(_solve_for, Unset):
            solve_for = UNSET
        else:
            solve_for = SolveFor(_solve_for)

        participants = d.pop("participants", UNSET)

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

        gradient_bound = d.pop("gradient_bound", UNSET)

        gradient_std = d.pop("gradient_std", UNSET)

        shamir_constant = d.pop("shamir_constant", UNSET)

        _readings = d.pop("readings", UNSET)
        readings: list[Reading] | Unset = UNSET
        if _readings is not UNSET:
            readings = []
            for readings_item_data in _readings:
                readings_item = Reading(readings_item_data)

                readings.append(readings_item)

        projected_sgd_problem = cls(
            relation=relation,
            unit=unit,
            observer=observer,
            clients=clients,
            dimension=dimension,
            lipschitz=lipschitz,
            radius=radius,
            advantage=advantage,
            true_positive_rate=true_positive_rate,
            false_positive_rate=false_positive_rate,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            solve_for=solve_for,
            participants=participants,
            smoothness=smoothness,
            strong_convexity=strong_convexity,
            convex=convex,
            step_schedule=step_schedule,
            noise_schedule=noise_schedule,
            release=release,
            suffix_fraction=suffix_fraction,
            gradient_bound=gradient_bound,
            gradient_std=gradient_std,
            shamir_constant=shamir_constant,
            readings=readings,
        )

        return projected_sgd_problem
