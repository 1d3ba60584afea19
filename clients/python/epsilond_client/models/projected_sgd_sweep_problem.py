from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.observer import Observer, check_observer
from ..models.projected_sgd_sweep_problem_readings_item import (
    ProjectedSgdSweepProblemReadingsItem,
    check_projected_sgd_sweep_problem_readings_item,
)
from ..models.projected_sgd_sweep_problem_release import (
    ProjectedSgdSweepProblemRelease,
    check_projected_sgd_sweep_problem_release,
)
from ..models.projected_sgd_sweep_problem_solve_for import (
    ProjectedSgdSweepProblemSolveFor,
    check_projected_sgd_sweep_problem_solve_for,
)
from ..models.relation import Relation, check_relation
from ..models.unit import Unit, check_unit
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.constant import Constant
    from ..models.explicit import Explicit
    from ..models.inverse_time import InverseTime
    from ..models.projected_sgd_sweep_values import ProjectedSgdSweepValues


T = TypeVar("T", bound="ProjectedSgdSweepProblem")


@_attrs_define
class ProjectedSgdSweepProblem:
    """The fields of projected-sgd, but for the one that is swept."""

    sweep: ProjectedSgdSweepValues
    """ A field of projected-sgd and its values. """
    epsilon: float | Unset = UNSET
    """ privacy loss bound ε of (ε, δ), natural logs """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """
    solve_for: ProjectedSgdSweepProblemSolveFor | Unset = UNSET
    clients: int | Unset = UNSET
    """ clients in the federation """
    participants: int | Unset = UNSET
    """ clients that report in one round """
    dimension: int | Unset = UNSET
    """ coordinates of the model """
    lipschitz: float | Unset = UNSET
    """ bound on the ℓ2 norm of one record's gradient """
    radius: float | Unset = UNSET
    """ radius of the domain """
    smoothness: float | Unset = UNSET
    """ Lipschitz constant of the gradient """
    strong_convexity: float | Unset = UNSET
    """ strong convexity, 0 if only convex """
    convex: bool | Unset = UNSET
    """ whether every record's loss is convex """
    step_schedule: Constant | Explicit | InverseTime | Unset = UNSET
    noise_schedule: Constant | Explicit | InverseTime | Unset = UNSET
    release: ProjectedSgdSweepProblemRelease | Unset = UNSET
    suffix_fraction: float | Unset = UNSET
    """ the released step is uniform on ⌈αT⌉, …, T (release `suffix` only) """
    gradient_bound: float | Unset = UNSET
    """ bound on the mean gradient's norm """
    gradient_std: float | Unset = UNSET
    """ root mean square distance of a record's gradient from its client's expected one, at its largest """
    shamir_constant: float | Unset = UNSET
    """ the constant of Shamir 2016, Theorem 3, which no paper gives """
    relation: Relation | Unset = UNSET
    unit: Unit | Unset = UNSET
    observer: Observer | Unset = UNSET
    readings: list[ProjectedSgdSweepProblemReadingsItem] | Unset = UNSET
    """ which readings of the printed bounds to return """

    def to_dict(self) -> dict[str, Any]:
        from ..models.constant import Constant
        from ..models.inverse_time import InverseTime

        sweep = self.sweep.to_dict()

        epsilon = self.epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        solve_for: str | Unset = UNSET
        if not isinstance(self.solve_for, Unset):
            solve_for = self.solve_for

        clients = self.clients

        participants = self.participants

        dimension = self.dimension

        lipschitz = self.lipschitz

        radius = self.radius

        smoothness = self.smoothness

        strong_convexity = self.strong_convexity

        convex = self.convex

        step_schedule: dict[str, Any] | Unset
        if isinstance(self.step_schedule, Unset):
            step_schedule = UNSET
        elif isinstance(self.step_schedule, Constant) or isinstance(self.step_schedule, InverseTime):
            step_schedule = self.step_schedule.to_dict()
        else:
            step_schedule = self.step_schedule.to_dict()

        noise_schedule: dict[str, Any] | Unset
        if isinstance(self.noise_schedule, Unset):
            noise_schedule = UNSET
        elif isinstance(self.noise_schedule, Constant) or isinstance(self.noise_schedule, InverseTime):
            noise_schedule = self.noise_schedule.to_dict()
        else:
            noise_schedule = self.noise_schedule.to_dict()

        release: str | Unset = UNSET
        if not isinstance(self.release, Unset):
            release = self.release

        suffix_fraction = self.suffix_fraction

        gradient_bound = self.gradient_bound

        gradient_std = self.gradient_std

        shamir_constant = self.shamir_constant

        relation: str | Unset = UNSET
        if not isinstance(self.relation, Unset):
            relation = self.relation

        unit: str | Unset = UNSET
        if not isinstance(self.unit, Unset):
            unit = self.unit

        observer: str | Unset = UNSET
        if not isinstance(self.observer, Unset):
            observer = self.observer

        readings: list[str] | Unset = UNSET
        if not isinstance(self.readings, Unset):
            readings = []
            for readings_item_data in self.readings:
                readings_item: str = readings_item_data
                readings.append(readings_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "sweep": sweep,
            }
        )
        if epsilon is not UNSET:
            field_dict["epsilon"] = epsilon
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if solve_for is not UNSET:
            field_dict["solve_for"] = solve_for
        if clients is not UNSET:
            field_dict["clients"] = clients
        if participants is not UNSET:
            field_dict["participants"] = participants
        if dimension is not UNSET:
            field_dict["dimension"] = dimension
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
        if gradient_bound is not UNSET:
            field_dict["gradient_bound"] = gradient_bound
        if gradient_std is not UNSET:
            field_dict["gradient_std"] = gradient_std
        if shamir_constant is not UNSET:
            field_dict["shamir_constant"] = shamir_constant
        if relation is not UNSET:
            field_dict["relation"] = relation
        if unit is not UNSET:
            field_dict["unit"] = unit
        if observer is not UNSET:
            field_dict["observer"] = observer
        if readings is not UNSET:
            field_dict["readings"] = readings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.constant import Constant
        from ..models.explicit import Explicit
        from ..models.inverse_time import InverseTime
        from ..models.projected_sgd_sweep_values import ProjectedSgdSweepValues

        d = dict(src_dict)
        sweep = ProjectedSgdSweepValues.from_dict(d.pop("sweep"))

        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        _solve_for = d.pop("solve_for", UNSET)
        solve_for: ProjectedSgdSweepProblemSolveFor | Unset
        if isinstance(_solve_for, Unset):
            solve_for = UNSET
        else:
            solve_for = check_projected_sgd_sweep_problem_solve_for(_solve_for)

        clients = d.pop("clients", UNSET)

        participants = d.pop("participants", UNSET)

        dimension = d.pop("dimension", UNSET)

        lipschitz = d.pop("lipschitz", UNSET)

        radius = d.pop("radius", UNSET)

        smoothness = d.pop("smoothness", UNSET)

        strong_convexity = d.pop("strong_convexity", UNSET)

        convex = d.pop("convex", UNSET)

        def _parse_step_schedule(data: object) -> Constant | Explicit | InverseTime | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_schedule_type_0 = Constant.from_dict(data)

                return componentsschemas_schedule_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_schedule_type_1 = InverseTime.from_dict(data)

                return componentsschemas_schedule_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            componentsschemas_schedule_type_2 = Explicit.from_dict(data)

            return componentsschemas_schedule_type_2

        step_schedule = _parse_step_schedule(d.pop("step_schedule", UNSET))

        def _parse_noise_schedule(data: object) -> Constant | Explicit | InverseTime | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_schedule_type_0 = Constant.from_dict(data)

                return componentsschemas_schedule_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_schedule_type_1 = InverseTime.from_dict(data)

                return componentsschemas_schedule_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            componentsschemas_schedule_type_2 = Explicit.from_dict(data)

            return componentsschemas_schedule_type_2

        noise_schedule = _parse_noise_schedule(d.pop("noise_schedule", UNSET))

        _release = d.pop("release", UNSET)
        release: ProjectedSgdSweepProblemRelease | Unset
        if isinstance(_release, Unset):
            release = UNSET
        else:
            release = check_projected_sgd_sweep_problem_release(_release)

        suffix_fraction = d.pop("suffix_fraction", UNSET)

        gradient_bound = d.pop("gradient_bound", UNSET)

        gradient_std = d.pop("gradient_std", UNSET)

        shamir_constant = d.pop("shamir_constant", UNSET)

        _relation = d.pop("relation", UNSET)
        relation: Relation | Unset
        if isinstance(_relation, Unset):
            relation = UNSET
        else:
            relation = check_relation(_relation)

        _unit = d.pop("unit", UNSET)
        unit: Unit | Unset
        if isinstance(_unit, Unset):
            unit = UNSET
        else:
            unit = check_unit(_unit)

        _observer = d.pop("observer", UNSET)
        observer: Observer | Unset
        if isinstance(_observer, Unset):
            observer = UNSET
        else:
            observer = check_observer(_observer)

        _readings = d.pop("readings", UNSET)
        readings: list[ProjectedSgdSweepProblemReadingsItem] | Unset = UNSET
        if _readings is not UNSET:
            readings = []
            for readings_item_data in _readings:
                readings_item = check_projected_sgd_sweep_problem_readings_item(readings_item_data)

                readings.append(readings_item)

        projected_sgd_sweep_problem = cls(
            sweep=sweep,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            solve_for=solve_for,
            clients=clients,
            participants=participants,
            dimension=dimension,
            lipschitz=lipschitz,
            radius=radius,
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
            relation=relation,
            unit=unit,
            observer=observer,
            readings=readings,
        )

        return projected_sgd_sweep_problem
